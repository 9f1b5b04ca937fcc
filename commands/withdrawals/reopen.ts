import type { EntityManager } from 'typeorm';
import { reopenHold } from '../../db/ledger/ledger';
import { restoreLimitUse } from '../limits/outbound-check';
import { lockWithdrawal, holdOf, moveWithdrawal, emitWithdrawalEvent } from '../../db/withdrawals/withdrawals';

/** A reorganisation takes the blocks above `height`: withdrawals whose transactions had ended there, completed or
 *  reverted, are on their way again, and their ends in the ledger are reversed. A withdrawal whose money came back and
 *  is spent stays failed. Call before the transactions themselves are put back. Invariants: 5, step 6. */
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
