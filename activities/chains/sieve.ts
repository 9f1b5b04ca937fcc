import { randomInt } from 'node:crypto';

/** Bits for each text that it is made for, and how many of them a text sets: when it is full, about one in a hundred
 *  thousand texts that were never put in passes. */
const bitsEach = 24;
const bitsSet = 12;

/** A set of texts that may say yes to one that was never put in, and never says no to one that was (a Bloom filter).
 *  Three bytes a text, where a set of strings takes a hundred. Its seeds are drawn by each process, so that nobody can
 *  make texts that pass. */
export class Sieve {
  private readonly words: Uint32Array;
  private readonly bits: number;
  private readonly seeds: readonly [number, number] = [randomInt(2 ** 32 - 1), randomInt(2 ** 32 - 1)];
  /** How many were put in that it did not seem to have. */
  size = 0;

  /** Made for so many texts. */
  constructor(readonly capacity: number) {
    this.bits = Math.ceil((capacity * bitsEach) / 32) * 32;
    this.words = new Uint32Array(this.bits / 32);
  }

  put(text: string): void {
    if (this.mayHave(text)) return;
    this.size += 1;
    const { first, step } = this.hash(text);
    for (let n = 0; n < bitsSet; n += 1) {
      const bit = (first + n * step) % this.bits;
      this.words[bit >>> 5]! |= 1 << (bit & 31);
    }
  }

  mayHave(text: string): boolean {
    const { first, step } = this.hash(text);
    for (let n = 0; n < bitsSet; n += 1) {
      const bit = (first + n * step) % this.bits;
      if ((this.words[bit >>> 5]! & (1 << (bit & 31))) === 0) return false;
    }
    return true;
  }

  private hash(text: string): { first: number; step: number } {
    let [a, b] = this.seeds;
    for (let index = 0; index < text.length; index += 1) {
      const unit = text.charCodeAt(index);
      a = Math.imul(a ^ unit, 0x9e3779b1);
      b = Math.imul(b ^ unit, 0x5f356495);
      a ^= b >>> 15;
      b ^= a >>> 13;
    }
    const first = Math.imul(a ^ (a >>> 16), 0x85ebca6b) >>> 0;
    return { first, step: (Math.imul(b ^ (b >>> 16), 0xc2b2ae35) | 1) >>> 0 };
  }
}
