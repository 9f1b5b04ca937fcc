import { bech32 } from '@scure/base';
import { createHash } from 'node:crypto';
import { pointFromScalar, signRecoverable } from 'tiny-secp256k1';

/** Writes invoices of Lightning, right ones and such as no node would write. */

const letters = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
/** A field by its letter: bytes, a number, or words of five bits as they are. */
type Value = Uint8Array | number | readonly number[];
export type Field = readonly [letter: string, value: Value];

const key = Buffer.from('e126f68f7eafcc8b74f54d269fe206be715000f94dac067d1c04a8ca3b2db734', 'hex');
export const ownKey: Uint8Array = pointFromScalar(key, true)!;

const numberWords = (value: number, least = 0): number[] => {
  const words: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 32)) words.unshift(rest % 32);
  return [...Array<number>(Math.max(0, least - words.length)).fill(0), ...words];
};
const wordsOf = (value: Value): number[] =>
  typeof value === 'number' ? numberWords(value) : value instanceof Uint8Array ? bech32.toWords(value) : [...value];

/** What is signed: the words as bytes, filled up with zeros. */
function signedBytes(words: readonly number[]): Buffer {
  const bits = words.map((word) => word.toString(2).padStart(5, '0')).join('');
  const whole = bits.padEnd(Math.ceil(bits.length / 8) * 8, '0');
  return Buffer.from(whole.match(/.{8}/g)!.map((byte) => parseInt(byte, 2)));
}

export const bytes = (fill: number, length = 32): Uint8Array => new Uint8Array(length).fill(fill);
/** What every invoice needs. */
export const usual: readonly Field[] = [
  ['p', bytes(7)],
  ['s', bytes(9)],
  ['d', Buffer.from('tea')],
];

export function written(
  fields: readonly Field[] = usual,
  {
    prefix = 'lnbcrt10u',
    createdAt = 1_700_000_000,
    recoveryId,
    signedBy = key,
    change = (words) => words,
  }: Readonly<{
    prefix?: string;
    createdAt?: number;
    recoveryId?: number;
    signedBy?: Uint8Array;
    /** Of the words before they are signed. */
    change?: (words: number[]) => number[];
  }> = {},
): string {
  const tagged = fields.flatMap(([letter, value]) => {
    const words = wordsOf(value);
    return [letters.indexOf(letter), ...numberWords(words.length, 2), ...words];
  });
  const words = change([...numberWords(createdAt, 7), ...tagged]);
  const digest = createHash('sha256').update(prefix).update(signedBytes(words)).digest();
  const { signature, recoveryId: own } = signRecoverable(digest, signedBy);
  return bech32.encode(prefix, [...words, ...bech32.toWords(Buffer.from([...signature, recoveryId ?? own]))], false);
}
