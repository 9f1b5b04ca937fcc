import type { EntityManager } from 'typeorm';
import { lightningCurrency } from '../../domain/lightning/currency';

/** What the owner of our Lightning node may take out of it, by the books. Whole units. */

/** What the books have in the node beyond what merchants are owed; below zero where that is less. */
export async function freeInNode(tx: EntityManager): Promise<string> {
  const [row] = await tx.query<Array<{ free: string | null }>>('SELECT trim_scale(lightning_free())::text AS free');
  return row?.free ?? '0';
}

/** Until the transaction ends, nobody else books what the owner does. check_request_journal.sql takes the same lock. */
export const lockCapital = (tx: EntityManager): Promise<unknown> =>
  tx.query<unknown[]>(`SELECT pg_advisory_xact_lock(hashtext('lightning-capital'))`);

/** Whether the node had less than the books say when it was compared last. */
export async function lacksBooked(tx: EntityManager): Promise<boolean> {
  const rows = await tx.query<unknown[]>(
    `SELECT FROM incident WHERE kind = 'unreconciled' AND subject_kind = 'asset' AND subject_id = $1
        AND resolved_at IS NULL LIMIT 1`,
    [lightningCurrency],
  );
  return rows.length > 0;
}
