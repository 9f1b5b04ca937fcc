import type { EntityManager } from 'typeorm';
import type { Currency, NetworkId } from '../../domain/chains/assets';
import type { Queryable } from '../query';

/** Which holdings are looked at, and at which block. */

/** One coin at one address of ours. */
export type Holder = Readonly<{ network: NetworkId; address: string; currency: Currency }>;

/** `through`: the moment that the look says something of; null: that of its block. */
export type HoldingToLookAt = Readonly<{ address: string; height: number; hash: string; through: Date | null }>;

/** Addresses of open invoices of a network whose blocks are not all traced: of those whose time is over the balance at
 *  the last block of their time, of the others the newest one, every few blocks. */
export const openInvoicesToLookAt = (
  db: Queryable,
  network: NetworkId,
  everyBlocks: number,
  limit: number,
): Promise<HoldingToLookAt[]> =>
  db.query<HoldingToLookAt[]>(
    `SELECT a.address, b.height::int AS height, b.hash,
            CASE WHEN e.over THEN p.expires_at + interval '1 millisecond' END AS through
       FROM chain_cursor c
       JOIN payment p ON p.status NOT IN ('SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED')
       JOIN address a ON a.payment_id = p.id AND a.network = c.network AND a.role = 'deposit'
        AND a.tag = ''
       CROSS JOIN LATERAL (SELECT coalesce(a.balance_through <= p.expires_at, true) AND p.expires_at < greatest(
             c.scanned_through, (SELECT block_time FROM chain_block WHERE network = c.network AND height = c.height)
           ) AS over) e
       JOIN LATERAL (SELECT height, hash FROM chain_block
                      WHERE network = c.network AND height <= c.height AND (NOT e.over OR block_time <= p.expires_at
                            OR height = (SELECT min(height) FROM chain_block WHERE network = c.network))
                      ORDER BY height DESC LIMIT 1) b ON true
      WHERE c.network = $1 AND (e.over OR coalesce(a.balance_height <= c.height - $2, true))
      ORDER BY e.over DESC, a.balance_height NULLS FIRST LIMIT $3`,
    [network, everyBlocks, limit],
  );

/** Addresses were looked at, at these blocks. */
export const noteLooked = (
  tx: EntityManager,
  network: NetworkId,
  looks: readonly HoldingToLookAt[],
): Promise<unknown> =>
  tx.query(
    `UPDATE address a SET balance_height = greatest(a.balance_height, l.height),
            balance_through = greatest(a.balance_through, coalesce(l.through, b.block_time))
       FROM unnest($2::text[], $3::bigint[], $4::timestamptz[]) AS l (address, height, through)
       LEFT JOIN chain_block b ON b.network = $1 AND b.height = l.height
      WHERE a.network = $1 AND a.address = l.address AND a.tag = ''`,
    [
      network,
      looks.map(({ address }) => address),
      looks.map(({ height }) => height),
      looks.map(({ through }) => through),
    ],
  );

/** Has a holding looked at with each block from now on, for so many blocks: money is, or was, on it that no transfer
 *  tells of. */
export const lookAtBalance = (
  tx: Queryable,
  { network, address, currency }: Holder,
  reason: string,
  blocks: number,
): Promise<unknown> =>
  tx.query(
    `INSERT INTO balance_due AS b (network, address, currency, reason, until_height)
     SELECT network, $2, $3, $4, height + $5 FROM chain_cursor WHERE network = $1
     ON CONFLICT (network, address, currency) DO UPDATE
       SET until_height = greatest(b.until_height, EXCLUDED.until_height), reason = EXCLUDED.reason`,
    [network, address, currency, reason, blocks],
  );

export type DueHolding = Readonly<{ address: string; currency: string }>;
export const dueHoldings = (db: Queryable, network: NetworkId, height: number, limit: number): Promise<DueHolding[]> =>
  db.query<DueHolding[]>(
    `SELECT address, currency FROM balance_due
      WHERE network = $1 AND coalesce(looked_height < $2, true) ORDER BY looked_height NULLS FIRST LIMIT $3`,
    [network, height, limit],
  );

/** These were looked at; whose time is over is not looked at again. */
export async function noteDueLooked(
  tx: EntityManager,
  network: NetworkId,
  height: number,
  looked: readonly DueHolding[],
): Promise<void> {
  const of = [network, looked.map(({ address }) => address), looked.map(({ currency }) => currency), height];
  await tx.query(
    `UPDATE balance_due d SET looked_height = $4 FROM unnest($2::text[], $3::text[]) AS l (address, currency)
      WHERE d.network = $1 AND d.address = l.address AND d.currency = l.currency`,
    of,
  );
  await tx.query('DELETE FROM balance_due WHERE network = $1 AND looked_height >= until_height', [network]);
}
