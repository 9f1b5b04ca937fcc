import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  climb,
  liabilityParts,
  liabilityTree,
  rootOf,
  treeFormat,
  type LiabilityLeaf,
} from '../../domain/ledger/merkle';
import { add } from '../../domain/money';

/** Proof of liabilities: docs/liabilities.md. */

const amount = fc
  .bigInt({ min: 0n, max: 10n ** 30n })
  .map((n) => `${n / 10n ** 18n}.${String(n % 10n ** 18n).padStart(18, '0')}`);
const leaves = (currency = 'BTC') =>
  fc.uniqueArray(
    fc.record<LiabilityLeaf>({
      merchantId: fc.stringMatching(/^[0-9a-f]{24}$/),
      currency: fc.constant(currency),
      salt: fc.stringMatching(/^[0-9a-f]{32}$/),
      ...(Object.fromEntries(liabilityParts.map((part) => [part, amount])) as Record<
        (typeof liabilityParts)[number],
        typeof amount
      >),
    }),
    { minLength: 1, maxLength: 40, selector: ({ merchantId }) => merchantId },
  );

it('leads from every leaf to the root and to the sum of all', () => {
  fc.assert(
    fc.property(leaves(), (all) => {
      const { root, total, paths } = liabilityTree(all);
      expect(total).toBe(add('0', ...all.flatMap((leaf) => liabilityParts.map((part) => leaf[part]))));
      all.forEach((leaf, i) => expect(climb(leaf, paths[i]!)).toEqual({ root, total }));
      expect(Math.max(...paths.map(({ length }) => length))).toBeLessThanOrEqual(Math.ceil(Math.log2(all.length)));
      expect(liabilityTree([...all].reverse())).toMatchObject({ root, total });
    }),
    { numRuns: 50 },
  );
});

it('breaks the proof of whoever has one balance altered, and of everybody else', () => {
  fc.assert(
    fc.property(leaves(), fc.nat(), fc.constantFrom(...liabilityParts), (all, at, part) => {
      const { root, paths } = liabilityTree(all);
      const which = at % all.length;
      const altered = all.map((leaf, i) =>
        i === which ? { ...leaf, [part]: add(leaf[part], '0.000000000000000001') } : leaf,
      );
      expect(climb(altered[which]!, paths[which]!).root).not.toBe(root);
      const other = liabilityTree(altered);
      expect(other.root).not.toBe(root);
      all.forEach((leaf, i) => expect(climb(leaf, paths[i]!).root).not.toBe(other.root));
    }),
    { numRuns: 50 },
  );
});

const sampleOf = (n: number, currency: string): LiabilityLeaf[] =>
  Array.from({ length: n }, (_, i) => ({
    ...{ merchantId: String(i).padStart(24, '0'), currency, salt: String(i).padStart(32, 'a') },
    ...{ available: `${i}.5`, reserved: '0', unsettled: '0.000000000000000001', unallocated: '0', transit: '0' },
  }));

it('moves no amount between its places, and takes none below zero', () => {
  const all = sampleOf(5, 'BTC');
  const { root, paths } = liabilityTree(all);
  expect(climb({ ...all[3]!, available: '0', reserved: '3.5' }, paths[3]!).root).not.toBe(root);
  expect(climb({ ...all[3]!, currency: 'ETH' }, paths[3]!).root).not.toBe(root);
  expect(() => liabilityTree([{ ...all[0]!, available: '-1' }])).toThrow(RangeError);
  expect(() => climb(all[3]!, [{ ...paths[3]![0]!, sum: '-1' }])).toThrow(RangeError);
  expect(liabilityTree([])).toMatchObject({ total: '0', paths: [] });
});

describe('the program that checks a proof', () => {
  const folder = mkdtempSync(join(tmpdir(), 'proof-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const trees = ['BTC', 'ETH'].map((currency) => {
    const all = sampleOf(7, currency);
    return { currency, all, tree: liabilityTree(all) };
  });
  const assets = trees.map(({ currency, tree }) => ({ currency, root: tree.root, total: tree.total }));
  const root = rootOf(assets);
  const proof = {
    format: treeFormat,
    root,
    createdAt: '2026-01-01T00:00:00.000Z',
    assets,
    leaves: trees.map(({ all, tree }) => ({ leaf: all[2]!, path: tree.paths[2]! })),
  };
  const check = (what: unknown, given = root) => {
    const file = join(folder, 'proof.json');
    writeFileSync(file, JSON.stringify(what));
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(__dirname, '../../docs/verify-liability.mjs'), file, given],
      { encoding: 'utf8' },
    );
    return { status, text: stdout + stderr };
  };

  it('takes a true one', () => {
    expect(check(proof)).toMatchObject({ status: 0, text: expect.stringContaining('available 2.5') as string });
  });

  it('refuses a false one', () => {
    const [first, second] = proof.leaves;
    const withLeaf = (leaf: object) => ({
      ...proof,
      leaves: [{ ...first!, leaf: { ...first!.leaf, ...leaf } }, second],
    });
    const step = first!.path[0]!;
    for (const wrong of [
      withLeaf({ available: '2.500000000000000001' }),
      withLeaf({ available: '0', reserved: '2.5' }),
      withLeaf({ currency: 'ETH' }),
      withLeaf({ salt: 'b' }),
      withLeaf({ available: '-2.5' }),
      { ...proof, leaves: [{ ...first, path: [{ ...step, sum: '0' }, ...first!.path.slice(1)] }] },
      { ...proof, leaves: [{ ...first, path: first!.path.slice(1) }] },
      { ...proof, assets: assets.map((asset) => ({ ...asset, total: '1' })) },
      { ...proof, assets: assets.slice(1) },
      { ...proof, assets: [...assets, assets[0]] },
      { ...proof, format: 'other' },
      { ...proof, leaves: [first, first] },
      { ...proof, leaves: [first, { leaf: trees[1]!.all[3]!, path: trees[1]!.tree.paths[3]! }] },
    ])
      expect(check(wrong)).toMatchObject({ status: 1, text: expect.stringContaining('NOT PROVEN') as string });
    expect(check(proof, 'f'.repeat(64)).status).toBe(1);
  });
});
