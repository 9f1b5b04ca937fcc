import type { EntityManager } from 'typeorm';
import { networks, type NetworkId } from '../../domain/chains/assets';
import type { ChainCodec, KeyRole } from '../../domain/chains/chain';
import { sharesAccount } from '../../domain/chains/tags';

/** Indexes are drawn in order and used out of order: so many below the highest known one may have been used unseen. */
const margin = 1000;

/** Puts the next `count` addresses of a branch that is left on the list of those to be watched, for every role. Index 0
 *  of the treasury and of gas is no payer's: that of the first branch is our hot wallet, and nobody draws another.
 *  Where payments share an account, no deposit has an address of its own. */
export const watchFrom = (tx: EntityManager, branch: number, count: number): Promise<unknown> =>
  tx.query(
    `INSERT INTO key_watch (network, role, branch, next_index, until_index)
     SELECT k.network, k.role, $1, greatest(known.first, known.next - $2), known.next + $3
       FROM extended_key k CROSS JOIN LATERAL (
         SELECT f.first, coalesce(max(a.key_index) + 1, f.first) AS next
           FROM (SELECT CASE k.role WHEN 'deposit' THEN 0 ELSE 1 END AS first) f
           LEFT JOIN address a ON a.network = k.network AND a.role = k.role AND a.branch = $1
          GROUP BY f.first) known
      WHERE k.role <> 'deposit' OR k.network <> ALL ($4)
     ON CONFLICT (network, role, branch) DO UPDATE
       SET until_index = greatest(key_watch.until_index, EXCLUDED.until_index)`,
    [branch, margin, count, (Object.keys(networks) as NetworkId[]).filter(sharesAccount)],
  );

type Part = {
  network: NetworkId;
  role: KeyRole;
  branch: number;
  next_index: number;
  until_index: number;
  xpub: string;
};

/** Derives the next `size` addresses of the list, and watches them. False where none is left, or another process has
 *  the rest. Safe to repeat. */
export async function watchSome(
  tx: EntityManager,
  codecs: Readonly<Record<string, Pick<ChainCodec, 'derive'>>>,
  size: number,
): Promise<boolean> {
  const [part] = await tx.query<Part[]>(
    `SELECT w.*, branch_key(w.network, w.role, w.branch) AS xpub FROM key_watch w
      WHERE w.next_index < w.until_index AND w.network = ANY($1)
      ORDER BY w.network, w.role, w.branch LIMIT 1 FOR UPDATE OF w SKIP LOCKED`,
    [Object.keys(codecs)],
  );
  if (!part) return false;
  const end = Math.min(part.next_index + size, part.until_index);
  const indexes = Array.from({ length: end - part.next_index }, (_, n) => part.next_index + n);
  const codec = codecs[part.network]!;
  await tx.query(
    `INSERT INTO address (network, address, role, branch, key_index)
     SELECT $1, one.address, $2, $3, one.index FROM unnest($4::text[], $5::integer[]) AS one (address, index)
     ON CONFLICT DO NOTHING`,
    [part.network, part.role, part.branch, indexes.map((n) => codec.derive(part.xpub, n, part.branch)), indexes],
  );
  await tx.query('UPDATE key_watch SET next_index = $4 WHERE network = $1 AND role = $2 AND branch = $3', [
    part.network,
    part.role,
    part.branch,
    end,
  ]);
  return true;
}
