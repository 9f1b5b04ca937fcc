import type { EntityManager } from 'typeorm';
import type { Currency } from '../../domain/chains/assets';
import { unexplainedJournal } from '../../domain/ledger/unexplained';
import type { Queryable } from '../query';
import { post } from './ledger';

/** Books a difference between a chain and the ledger to `Q:unexplained`. `amount`: signed, what the chain holds beyond
 *  the ledger. `key`: one booking for ever; a repeat with another amount throws JOURNAL_CONFLICT. `reverse` on
 *  `unexplained/<key>` takes it back. */
export const bookUnexplained = (
  tx: EntityManager,
  difference: Readonly<{
    key: string;
    currency: Currency;
    amount: string;
    details?: Readonly<Record<string, unknown>>;
  }>,
): Promise<string> => post(tx, unexplainedJournal(difference));

export type Difference = Readonly<{ unexplained: string; height: string; bookedThrough: string | null }>;

/** The newest comparison of an asset, locked; null where there was none. `bookedThrough`: the height up to which the
 *  last booking by operators has answered comparisons. */
export async function lockDifference(tx: Queryable, currency: string): Promise<Difference | null> {
  const [row] = await tx.query<Difference[]>(
    `SELECT trim_scale(r.unexplained)::text AS unexplained, r.height::text AS height,
            (SELECT max((j.details->>'height')::bigint)::text FROM journal j
              WHERE starts_with(j.key, 'unexplained/operator/') AND j.details->>'currency' = r.currency)
              AS "bookedThrough"
       FROM reconciliation r WHERE r.currency = $1 FOR UPDATE OF r`,
    [currency],
  );
  return row ?? null;
}

/** The stored comparison follows a booking of its whole difference, so that the difference is booked once. */
export const clearDifference = (tx: Queryable, currency: string): Promise<unknown> =>
  tx.query('UPDATE reconciliation SET ledger = ledger + unexplained, unexplained = 0 WHERE currency = $1', [currency]);

/** The block that a network was followed to. */
export async function followedHeight(tx: Queryable, network: string): Promise<string> {
  const [row] = await tx.query<Array<{ height: string }>>(
    'SELECT height::text AS height FROM chain_cursor WHERE network = $1',
    [network],
  );
  return row?.height ?? '0';
}
