import type { EntityManager } from 'typeorm';
import { releaseWithdrawal } from './fail';
import type { Queryable } from '../../db/query';
import { byClock } from '../../db/records';
import { mayBeForgotten } from '../../db/recovery/forgotten-call';
import { maybeSignedAndLost } from '../../db/recovery/lost';
import { endVoid } from '../../db/txmanager/expiry';
import { dropIntents } from '../../db/txmanager/intents';
import {
  type Changed,
  lockOwn,
  moveWithdrawal,
  emitWithdrawalEvent,
  readWithdrawal,
} from '../../db/withdrawals/withdrawals';
import { DomainError } from '../../domain/errors';
import { type WithdrawalStatus, cancellable } from '../../domain/withdrawals/withdrawal';

/** Cancels a withdrawal while nothing is signed, or where all that was signed has expired. Signing takes the same lock,
 *  so that one of the two wins. A withdrawal that was cancelled before is answered unchanged, as `replayed`. Throws
 *  WITHDRAWAL_NOT_FOUND, WITHDRAWAL_STATE. */
export async function cancelWithdrawal(
  tx: EntityManager,
  merchantId: string,
  id: string,
  from: readonly WithdrawalStatus[] = cancellable,
): Promise<Changed> {
  const row = await lockOwn(tx, merchantId, id);
  if (row.status === 'cancelled') return { row: { ...row, confirmations: 0 }, replayed: true };
  const isLost =
    (await maybeSignedAndLost(tx, { kind: 'withdrawal', id })) ||
    (await mayBeForgotten(tx, 'withdrawal', [row], row.created_at));
  const isOpen = !isLost && (from.includes(row.status) || (await endVoid(tx, 'withdrawal', [row])).length > 0);
  if (!isOpen) throw new DomainError('WITHDRAWAL_STATE');
  const cancelled = await moveWithdrawal(tx, row, 'cancelled', { completed_at: byClock });
  await dropIntents(tx, { kind: 'withdrawal', id });
  await releaseWithdrawal(tx, row);
  await emitWithdrawalEvent(tx, cancelled, 'withdrawal.cancelled', row.status);
  return { row: { ...cancelled, confirmations: 0 }, replayed: false };
}

/** What is cancelled already; null where there is something to cancel. */
export async function cancelledBefore(db: Queryable, merchantId: string, id: string): Promise<Changed | null> {
  const row = await readWithdrawal(db, merchantId, id);
  return row?.status === 'cancelled' ? { row, replayed: true } : null;
}
