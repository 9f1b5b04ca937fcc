import type { EntityManager } from 'typeorm';
import { releaseLimitUse, restoreLimitUse } from '../limits/outbound-check';
import { isLive } from '../../db/instance';
import { countLines, lockBatch } from '../../db/payouts/payouts';
import { changedRows } from '../../db/query';
import { emitEvents } from '../../db/webhooks/events';
import {
  type BatchRow,
  type LineCounts,
  type PayoutEventType,
  type BatchStatus,
  viewBatch,
  batchStatusOf,
} from '../../domain/payouts/payout';

export const emitBatchEvent = async (
  tx: EntityManager,
  row: BatchRow,
  counts: LineCounts,
  type: PayoutEventType,
  before?: BatchStatus,
): Promise<void> =>
  emitEvents(tx, [
    {
      merchantId: row.merchant_id,
      type,
      entityId: row.id,
      stateVersion: row.state_version,
      data: JSON.stringify(viewBatch(row, counts, await isLive(tx))),
      previous: before === undefined || before === row.status ? {} : { status: before },
    },
  ]);
const isLost = (status: BatchStatus): boolean => status === 'failed' || status === 'cancelled';
const events: Partial<Record<BatchStatus, PayoutEventType>> = {
  processing: 'mass_payout.processing',
  completed: 'mass_payout.completed',
  partially_completed: 'mass_payout.completed',
  failed: 'mass_payout.failed',
  cancelled: 'mass_payout.cancelled',
};
/** Did a transaction of it go out? What was sent in vain goes on counting. */
const hasSent = async (tx: EntityManager, batchId: string): Promise<boolean> =>
  (await tx.query<unknown[]>('SELECT FROM payout_leg WHERE batch_id = $1 AND tx_id IS NOT NULL LIMIT 1', [batchId]))
    .length > 0;

/** Makes a batch say what its lines say, with an event for what is new. Where nothing of it will leave any more, it no
 *  longer counts against the day's limits. Call last in the transaction. */
export async function refreshBatch(
  tx: EntityManager,
  batch: BatchRow,
  { isCancelled = false }: { isCancelled?: boolean } = {},
): Promise<BatchRow> {
  const counts = await countLines(tx, batch.id);
  const byLines = batchStatusOf(counts);
  const status = byLines === 'queued' && !batch.approved_at ? 'awaiting_approval' : byLines;
  const isEnd = !['awaiting_approval', 'queued', 'processing'].includes(status);
  const isSent = counts.pending + counts.processing === 0 && counts.broadcast > 0;
  if (status === batch.status && !isCancelled && (!isSent || batch.sent_at)) return batch;
  const emitted: PayoutEventType[] = [];
  if (status !== batch.status && status !== 'cancelled' && events[status]) emitted.push(events[status]);
  if (isCancelled || (status === 'cancelled' && batch.status !== 'cancelled')) emitted.push('mass_payout.cancelled');
  const [row] = await changedRows<BatchRow>(
    tx,
    `UPDATE payout_batch SET status = $2, state_version = state_version + 1, updated_at = clock_timestamp(),
            completed_at = CASE WHEN $3 THEN coalesce(completed_at, clock_timestamp()) END,
            sent_at = CASE WHEN $4 THEN coalesce(sent_at, clock_timestamp()) ELSE sent_at END,
            cancelled_at = CASE WHEN $5 THEN clock_timestamp() ELSE cancelled_at END
      WHERE id = $1 AND state_version = $6 RETURNING *`,
    [batch.id, status, isEnd, isSent, isCancelled, batch.state_version],
  );
  if (!row) throw new Error(`Payout ${batch.id} is no longer at version ${batch.state_version}`);
  if (isLost(status) && !(await hasSent(tx, batch.id))) await releaseLimitUse(tx, 'mass_payout', batch.id);
  else if (isLost(batch.status)) await restoreLimitUse(tx, 'mass_payout', batch.id);
  if (isSent && batch.sent_at === null) emitted.push('mass_payout.broadcast');
  for (const type of emitted) await emitBatchEvent(tx, row, counts, type, batch.status);
  return row;
}

/** A node has these attempts: notes it in their rows, and in those of the lines that they pay. */
export async function noteSent(tx: EntityManager, batchId: string, attemptIds: readonly string[]): Promise<void> {
  const [row] = await tx.query<Array<{ changes: boolean }>>('SELECT note_payout_sent($1, $2) AS changes', [
    batchId,
    attemptIds,
  ]);
  const batch = row!.changes ? await lockBatch(tx, batchId) : null;
  if (batch) await refreshBatch(tx, batch);
}
