import { createHash } from 'node:crypto';
import { fromUnits, toUnits } from '../money';

/** Proof of liabilities: a Merkle sum tree per currency. A node is a hash and the sum of what is below it; its hash
 *  names the sums of both children, so nothing can be left out of the total that somebody has a proof of. Format:
 *  docs/liabilities.md. */

export const treeFormat = 'sha256-sum-tree-1';
/** Sums are counted in 10^-18 of a unit, whatever the currency. */
const decimals = 18;

/** What is owed to one merchant in one currency; decimal strings. */
export const liabilityParts = ['available', 'reserved', 'unsettled', 'unallocated', 'transit'] as const;
type LiabilityPart = (typeof liabilityParts)[number];
export type LiabilityLeaf = Readonly<
  { merchantId: string; currency: string; salt: string } & Record<LiabilityPart, string>
>;
export type PathStep = Readonly<{ side: 'left' | 'right'; hash: string; sum: string }>;
type Node = Readonly<{ hash: string; sum: bigint }>;

const sha256 = (...lines: ReadonlyArray<string | bigint>): string =>
  createHash('sha256').update(lines.join('\n')).digest('hex');
const units = (amount: string): bigint => {
  const value = toUnits(amount, decimals);
  if (value < 0n) throw new RangeError(`${amount} is negative`);
  return value;
};

function leafNode(leaf: LiabilityLeaf): Node {
  const parts = liabilityParts.map((part) => units(leaf[part]));
  return {
    hash: sha256('leaf', leaf.merchantId, leaf.currency, ...parts, leaf.salt),
    sum: parts.reduce((sum, part) => sum + part, 0n),
  };
}
const parent = (left: Node, right: Node): Node => ({
  hash: sha256('node', left.sum, left.hash, right.sum, right.hash),
  sum: left.sum + right.sum,
});

export type LiabilityTree = Readonly<{
  root: string;
  /** Decimal string. */
  total: string;
  /** In the order of the leaves that were given. */
  paths: ReadonlyArray<readonly PathStep[]>;
}>;

/** The tree over the leaves of one currency, ordered by their hashes, which the salts make random. The last of an odd
 *  row goes up as it is. */
export function liabilityTree(leaves: readonly LiabilityLeaf[]): LiabilityTree {
  const paths: PathStep[][] = leaves.map(() => []);
  let row: Array<Node & { below: readonly number[] }> = leaves
    .map((leaf, i) => ({ ...leafNode(leaf), below: [i] }))
    .sort((a, b) => (a.hash < b.hash ? -1 : 1));
  if (!row.length) return { root: sha256('empty'), total: '0', paths: [] };
  while (row.length > 1) {
    const next: typeof row = [];
    for (let i = 0; i < row.length; i += 2) {
      const [left, right] = [row[i]!, row[i + 1]];
      if (!right) {
        next.push(left);
        continue;
      }
      const step = (side: PathStep['side'], node: Node): PathStep => ({
        side,
        hash: node.hash,
        sum: fromUnits(node.sum, decimals),
      });
      for (const leaf of left.below) paths[leaf]!.push(step('right', right));
      for (const leaf of right.below) paths[leaf]!.push(step('left', left));
      next.push({ ...parent(left, right), below: [...left.below, ...right.below] });
    }
    row = next;
  }
  return { root: row[0]!.hash, total: fromUnits(row[0]!.sum, decimals), paths };
}

/** Root and total that a leaf and its path lead to. Throws where a sum on the way is negative. */
export function climb(leaf: LiabilityLeaf, path: readonly PathStep[]): { root: string; total: string } {
  const top = path.reduce<Node>((node, { side, hash, sum }) => {
    const other = { hash, sum: units(sum) };
    return side === 'left' ? parent(other, node) : parent(node, other);
  }, leafNode(leaf));
  return { root: top.hash, total: fromUnits(top.sum, decimals) };
}

export type AssetRoot = Readonly<{ currency: string; root: string; total: string }>;
/** One hash over the trees of all currencies, in the order of their tickers: what is published. */
export const rootOf = (assets: readonly AssetRoot[]): string =>
  sha256(
    treeFormat,
    ...[...assets]
      .sort((a, b) => (a.currency < b.currency ? -1 : 1))
      .flatMap(({ currency, root, total }) => [currency, units(total), root]),
  );
