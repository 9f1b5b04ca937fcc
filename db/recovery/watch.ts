import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import type { ChainCodec, KeyRole } from '../../domain/chains/chain';

/** Indexes are drawn in order and used out of order: so many below the highest known one may have been used unseen. */
const margin = 1000;

/** Puts the next `count` addresses of a branch that is left on the list of those to be watched, for every role. */
export const watchFrom = (tx: EntityManager, branch: number, count: number): Promise<unknown> =>
  tx.query(
    `INSERT INTO key_watch (network, role, branch, next_index, until_index)
     SELECT k.network, k.role, $1, greatest(0, coalesce(known.highest, -1) + 1 - $2),
            coalesce(known.highest, -1) + 1 + $3
       FROM extended_key k LEFT JOIN LATERAL (
         SELECT max(a.key_index) AS highest FROM address a
          WHERE a.network = k.network AND a.role = k.role AND a.branch = $1) known ON true
     ON CONFLICT (network, role, branch) DO UPDATE
       SET until_index = greatest(key_watch.until_index, EXCLUDED.until_index)`,
    [branch, margin, count],
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
    `SELECT w.*, k.xpub FROM key_watch w JOIN extended_key k USING (network, role)
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
