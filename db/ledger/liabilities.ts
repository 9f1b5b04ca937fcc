import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import {
  liabilityParts,
  liabilityTree,
  rootOf,
  type AssetRoot,
  type LiabilityLeaf,
  type PathStep,
} from '../../domain/ledger/merkle';
import type { Queryable } from '../query';

/** A tree of what is owed to all merchants at one moment. */
export type StoredTree = Readonly<{ id: string; root: string; assets: readonly AssetRoot[]; createdAt: Date }>;
export type Proof = StoredTree &
  Readonly<{ leaves: ReadonlyArray<{ leaf: LiabilityLeaf; path: readonly PathStep[] }> }>;

const partColumns = liabilityParts
  .map((part) => `trim_scale(coalesce(sum(amount) FILTER (WHERE account LIKE 'L:${part}:%'), 0))::text AS ${part}`)
  .join(', ');

/** Takes every balance on one snapshot and stores the tree over them with a path for each. */
export const writeTree = (db: DataSource): Promise<StoredTree> =>
  db.transaction('REPEATABLE READ', async (tx) => {
    await tx.query('SET LOCAL statement_timeout = 60000');
    const owed = await tx.query<Array<Omit<LiabilityLeaf, 'salt'>>>(
      `SELECT split_part(account, ':', 3) AS "merchantId", asset AS currency, ${partColumns}
         FROM balance WHERE account LIKE 'L:%' GROUP BY 1, 2 HAVING sum(amount) > 0 ORDER BY 2, 1`,
    );
    const leaves = owed.map((leaf) => ({ ...leaf, salt: randomBytes(16).toString('hex') }));
    const trees = [...new Set(leaves.map(({ currency }) => currency))].map((currency) => {
      const own = leaves.filter((leaf) => leaf.currency === currency);
      return { currency, own, tree: liabilityTree(own) };
    });
    const assets = trees.map(({ currency, tree: { root, total } }) => ({ currency, root, total }));
    const root = rootOf(assets);
    const [row] = await tx.query<Array<{ id: string; created_at: Date }>>(
      'INSERT INTO liability_tree (root, assets) VALUES ($1, $2) RETURNING id::text, created_at',
      [root, JSON.stringify(assets)],
    );
    for (const { own, tree } of trees)
      for (let i = 0; i < own.length; i += 1000)
        await tx.query(
          `INSERT INTO liability_leaf (tree_id, merchant_id, currency, leaf, path)
           SELECT $1, x->'leaf'->>'merchantId', x->'leaf'->>'currency', x->'leaf', x->'path'
             FROM jsonb_array_elements($2::jsonb) x`,
          [row!.id, JSON.stringify(own.slice(i, i + 1000).map((leaf, n) => ({ leaf, path: tree.paths[i + n] })))],
        );
    return { id: row!.id, root, assets, createdAt: row!.created_at };
  });

/** A merchant's leaves of the latest tree with their paths; null where there is no tree yet. */
export async function proofOf(db: Queryable, merchantId: string): Promise<Proof | null> {
  const [tree] = await db.query<Array<{ id: string; root: string; assets: AssetRoot[]; created_at: Date }>>(
    'SELECT id::text, root, assets, created_at FROM liability_tree t ORDER BY t.id DESC LIMIT 1',
  );
  if (!tree) return null;
  const leaves = await db.query<Array<{ leaf: LiabilityLeaf; path: PathStep[] }>>(
    'SELECT leaf, path FROM liability_leaf WHERE tree_id = $1 AND merchant_id = $2 ORDER BY currency',
    [tree.id, merchantId],
  );
  return { id: tree.id, root: tree.root, assets: tree.assets, createdAt: tree.created_at, leaves };
}
