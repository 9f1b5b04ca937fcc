import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPrivate, readSeeds } from '../workers/seeds';

/** Whose files the signer reads its seeds from. */

const mnemonic = `${'abandon '.repeat(11)}about`;
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'crypto-payments-seeds-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fileOf = (mode: number, text = mnemonic): string => {
  const path = join(folder, `${mode.toString(8)}-${text.length}`);
  writeFileSync(path, text, { mode });
  return path;
};

it('reads a mnemonic that is ours alone', () => {
  const [seed] = readSeeds({ SIGNER_SEED_FILE: fileOf(0o600), SIGNER_EARLIER_SEED_FILES: '' });
  const start = '5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70';
  expect(Buffer.from(seed!.seed).toString('hex').startsWith(start)).toBe(true);
});

it.each([0o640, 0o604])('refuses a file of ours of mode %o', (mode) => {
  const files = { SIGNER_SEED_FILE: fileOf(mode), SIGNER_EARLIER_SEED_FILES: '' };
  expect(() => readSeeds(files)).toThrow('others may read');
});

it('refuses what is no mnemonic, and no file at all', () => {
  const files = { SIGNER_SEED_FILE: fileOf(0o600, 'abandon about'), SIGNER_EARLIER_SEED_FILES: '' };
  expect(() => readSeeds(files)).toThrow('holds no BIP-39 mnemonic');
  expect(() => readSeeds({ ...files, SIGNER_SEED_FILE: '' })).toThrow('SIGNER_SEED_FILE is missing');
});

it.each([
  ['0400 of root', 0o100400, true],
  ['0440 of root, as Kubernetes mounts it', 0o100440, true],
  ['0460 of root', 0o100460, false],
  ['0444 of root', 0o100444, false],
])('a file of mode %s', (_, mode, expected) => {
  expect(isPrivate({ mode, uid: 0 }, 1000)).toBe(expected);
});
