import type { EntityManager } from 'typeorm';
import { captureOrRelease, returnGas } from '../../db/ledger/ledger';
import { releaseLimitUse } from '../limits/outbound-check';
import { byClock } from '../../db/records';
import { dropIntents } from '../../db/txmanager/intents';
import { holdOf, moveWithdrawal, emitWithdrawalEvent } from '../../db/withdrawals/withdrawals';
import { releaseJournal } from '../../domain/ledger/ledger';
import type { WithdrawalRow } from '../../domain/withdrawals/withdrawal';

async function release(tx: EntityManager, row: WithdrawalRow): Promise<void> {
  await captureOrRelease(tx, releaseJournal(holdOf(row)));
  await returnGas(tx, [holdOf(row)]);
}

/** J7, and it no longer counts against the day's limit. */
export async function releaseWithdrawal(tx: EntityManager, row: WithdrawalRow): Promise<void> {
  await release(tx, row);
  await releaseLimitUse(tx, 'withdrawal', row.id);
}

/** Ends it without having sent anything, or with a transaction that moved nothing (`txId`): the money is back. What was
 *  sent in vain goes on counting against the limits. */
export async function failWithdrawal(
  tx: EntityManager,
  row: WithdrawalRow,
  message: string,
  txId: string | null = null,
): Promise<void> {
  const failed = await moveWithdrawal(tx, row, 'failed', {
    merchant_message: message,
    completed_at: byClock,
    ...(txId === null ? {} : { tx_id: txId }),
  });
  await dropIntents(tx, { kind: 'withdrawal', id: row.id });
  if (txId === null) await releaseWithdrawal(tx, row);
  else await release(tx, row);
  await emitWithdrawalEvent(tx, failed, 'withdrawal.failed', row.status);
}
