import type { EntityManager } from 'typeorm';
import { captureOrReleaseAll, returnGas } from '../../db/ledger/ledger';
import { byCurrency, holdOfLine, requestPayout } from '../../db/payouts/payouts';
import { releaseJournal } from '../../domain/ledger/ledger';
import type { BatchRow, PayoutLineRow } from '../../domain/payouts/payout';
import { changedRows } from '../../db/query';

/** J7 of lines that nothing will be sent for: what they held is back in the balance. */
export async function releaseLines(tx: EntityManager, lines: readonly PayoutLineRow[]): Promise<void> {
  const holds = byCurrency(lines).map(holdOfLine);
  await captureOrReleaseAll(tx, holds.map(releaseJournal));
  await returnGas(tx, holds);
}

/** Starts a batch that waits: from here on its lines may be signed. `by`: who approved it, where it takes a second
 *  person. */
export async function startBatch(
  tx: EntityManager,
  batch: BatchRow,
  by: Readonly<{ id: string; email: string }> | null,
): Promise<BatchRow> {
  const [row] = await changedRows<BatchRow>(
    tx,
    `UPDATE payout_batch SET status = 'queued', approved_by = $3, approved_by_id = $4::text,
            needs_second_person = $4::text IS NOT NULL, approved_at = clock_timestamp(), updated_at = clock_timestamp(),
            state_version = state_version + CASE WHEN $3::text IS NULL THEN 0 ELSE 1 END
      WHERE id = $1 AND status = 'awaiting_approval' AND state_version = $2 RETURNING *`,
    [batch.id, batch.state_version, by?.email ?? null, by?.id ?? null],
  );
  if (!row) throw new Error(`Payout ${batch.id} does not wait for an approval`);
  await requestPayout(tx, row);
  return row;
}
