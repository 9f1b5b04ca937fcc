import type { EntityManager } from 'typeorm';
import { failPoint } from '../../db/fail-point';
import { linesPaidBy, lockBatch } from '../../db/payouts/payouts';
import { refreshBatch } from '../../commands/payouts/refresh';
import { bookIntent } from '../book';
import { completeLines } from './payout-line-end';

/** Ends booked in one transaction. */
const perBooking = 64;

/** Whether there was something to book. First what has arrived, then, in another transaction, what was reverted: each
 *  locks the balances currency by currency. */
export async function bookEnded(tx: EntityManager, batchId: string): Promise<boolean> {
  const batch = await lockBatch(tx, batchId);
  if (!batch) throw new Error(`No payout ${batchId}`);
  const ended = await tx.query<Array<{ id: string; currency: string; is_paid: boolean }>>(
    `SELECT id, currency, kind = 'leg' AND status = 'final' AS is_paid FROM intent
      WHERE owner_kind = 'payout-batch' AND owner_id = $1 AND NOT booked AND status IN ('final', 'failed')
      ORDER BY id LIMIT $2 FOR UPDATE`,
    [batchId, perBooking],
  );
  const paid = ended.filter((intent) => intent.is_paid).map((intent) => intent.id);
  if (paid.length) await bookPaid(tx, batchId, paid);
  else
    for (const { id } of ended.toSorted((a, b) => (a.currency < b.currency ? -1 : a.currency > b.currency ? 1 : 0)))
      await bookIntent(tx, id);
  if (ended.length) await refreshBatch(tx, batch);
  if (ended.length) await failPoint('payout.beforeBooked');
  return ended.length > 0;
}

/** The ends of payments that have arrived, many at a time. */
async function bookPaid(tx: EntityManager, batchId: string, ids: readonly string[]): Promise<void> {
  const mined = await tx.query<Array<{ intent_id: string; tx_id: string; fee_units: string; block_hash: string }>>(
    `SELECT intent_id, tx_id, fee_units::text, block_hash FROM attempt
      WHERE intent_id = ANY($1::bigint[]) AND status = 'final' ORDER BY intent_id`,
    [ids],
  );
  const lines = await linesPaidBy(tx, [batchId], ids);
  await completeLines(
    tx,
    mined.map((one) => ({ mined: one, lines: lines.filter((line) => line.intent_id === one.intent_id) })),
  );
  await tx.query('UPDATE intent SET booked = true, updated_at = now() WHERE id = ANY($1::bigint[])', [ids]);
}
