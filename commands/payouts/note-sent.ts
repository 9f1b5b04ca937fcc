import type { EntityManager } from 'typeorm';
import { refreshBatch } from '../../commands/payouts/refresh';
import { lockBatch } from '../../db/payouts/payouts';

/** A node has these attempts: notes it in their rows, and in those of the lines that they pay. */
export async function noteSent(tx: EntityManager, batchId: string, attemptIds: readonly string[]): Promise<void> {
  const [row] = await tx.query<Array<{ changes: boolean }>>('SELECT note_payout_sent($1, $2) AS changes', [
    batchId,
    attemptIds,
  ]);
  const batch = row!.changes ? await lockBatch(tx, batchId) : null;
  if (batch) await refreshBatch(tx, batch);
}
