import type { EntityManager } from 'typeorm';
import { reopenHold } from '../../db/ledger/ledger';
import { restoreLimitUse } from '../limits/outbound-check';
import { lockWithdrawal, holdOf, moveWithdrawal, emitWithdrawalEvent } from '../../db/withdrawals/withdrawals';

/** What the blocks above `height` had brought to its end, completed or reverted, is on its way again: its end in the
 *  ledger is reversed. One whose money came back and is spent stays failed. Call before the transactions themselves are
 *  put back. Invariants: 5, step 6. */

export async function reopenWithdrawals(tx: EntityManager, network: string, height: number): Promise<void> {
  const gone = await tx.query<Array<{ ref: string; success: boolean }>>(
    `SELECT i.ref, a.success FROM attempt a JOIN intent i ON i.id = a.intent_id AND i.kind = 'withdrawal'
      WHERE a.network = $1 AND a.height > $2 AND a.status = 'final' ORDER BY i.ref`,
    [network, height],
  );
  for (const { ref, success } of gone) {
    const row = await lockWithdrawal(tx, ref);
    if (row?.status !== (success ? 'completed' : 'failed') || !(await reopenHold(tx, holdOf(row)))) continue;
    if (!success) await restoreLimitUse(tx, 'withdrawal', ref);
    const reopened = await moveWithdrawal(tx, row, 'broadcast', { completed_at: null, merchant_message: null });
    await emitWithdrawalEvent(tx, reopened, 'withdrawal.broadcast', row.status);
  }
}
