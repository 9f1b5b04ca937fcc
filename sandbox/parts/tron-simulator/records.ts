import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Act } from './world';

/** The chain in a file: what each block was made from. State and results follow from it. */

/** `time`: Unix milliseconds. `salt` tells blocks of one height apart. `raws`: signed transactions in hex. */
export type BlockRecord = Readonly<{ time: number; salt: number; raws: readonly string[]; acts: readonly Act[] }>;

/** An empty block takes a line of two numbers. */
type Line = readonly [time: number, salt: number, raws?: readonly string[], acts?: readonly Act[]];

const lineOf = ({ time, salt, raws, acts }: BlockRecord): Line =>
  raws.length || acts.length ? [time, salt, raws, acts] : [time, salt];
const replace = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);
const revive = (_key: string, value: unknown): unknown =>
  typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value;

export function openRecords(dataDir: string) {
  const file = join(dataDir, 'tron-chain.json');
  mkdirSync(dataDir, { recursive: true });
  return {
    /** From `genesis` on, which must be the one of the file. */
    read(genesis: BlockRecord): readonly BlockRecord[] {
      if (!existsSync(file)) return [genesis];
      const lines = JSON.parse(readFileSync(file, 'utf8'), revive) as Line[];
      const records = lines.map(([time, salt, raws = [], acts = []]) => ({ time, salt, raws, acts }));
      if (records[0]?.time !== genesis.time) throw new Error(`${file} is of a chain with another first block`);
      return records;
    },
    /** Whole or not at all: a reader never sees half of it. */
    write(records: readonly BlockRecord[]): void {
      const lines = records.map((record) => JSON.stringify(lineOf(record), replace));
      writeFileSync(`${file}.new`, `[\n${lines.join(',\n')}\n]\n`);
      renameSync(`${file}.new`, file);
    },
  };
}
