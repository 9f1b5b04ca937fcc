import type { DataSource, EntityManager } from 'typeorm';
import { baseUnits } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import { egressJournal } from '../../domain/ledger/ledger';
import type { WithdrawalRow } from '../../domain/withdrawals/withdrawal';
import { useAdmission } from '../../db/limits/egress';
import { intentsOwnedBy, type AttemptRow } from '../../db/txmanager/intents';
import { ensureEnd, ensureMined, minedOf } from '../../db/ledger/ledger';
import { byClock } from '../../db/records';
import {
  announceWithdrawal,
  failWithdrawal,
  holdOf,
  isStillListed,
  lockWithdrawal,
  moveWithdrawal,
  withdrawalWorkflow,
} from '../../db/withdrawals/withdrawals';
import type { Purpose, ServedIntent } from '../../txmanager/kinds/purposes';
import type { NextIntent } from '../sweeps/sweeps';
import { firstOpen, isOpen, lookAgainInMs, planEgress } from '../treasury/treasury';

const unlisted = 'Its address was taken off the whitelist before it was sent';
/** Plans what sends a withdrawal to its address. */
export const withdrawalActivities = ({ db }: Readonly<{ db: DataSource }>) => ({
  /** The first intent of a withdrawal whose end is not booked, planned where there is none yet; null when there is nothing left to do.
   *  One whose address is no longer listed ends here. */
  nextWithdrawalIntent: (id: string): Promise<NextIntent> =>
    db.transaction(async (tx) => {
      const row = await lockWithdrawal(tx, id);
      if (!row) throw new Error(`No withdrawal ${id}`);
      const owner = withdrawalWorkflow(id);
      if (row.status === 'pending') {
        if (!(await isStillListed(tx, row))) {
          await failWithdrawal(tx, row, unlisted);
          return firstOpen(tx, owner, 'Withdrawal');
        }
        if (!(await intentsOwnedBy(tx, owner)).some(isOpen)) {
          const { planned, reason } = await planEgress(tx, {
            kind: 'withdrawal',
            ref: id,
            currency: row.currency,
            outputs: [{ ref: id, address: row.address, units: baseUnits(row.currency, row.net_amount) }],
            merchantId: row.merchant_id,
            ownerWorkflow: owner,
          });
          if (!planned.length) return { lookAgainInMs, reason: reason ?? 'nothing can pay it now' };
        }
      }
      return firstOpen(tx, owner, 'Withdrawal');
    }),
});

/** A withdrawal as the signer sees it: what its row says, let go by whom it must be, to an address that is still listed. */
export async function withdrawalPurpose(tx: EntityManager, intent: ServedIntent): Promise<Purpose | null> {
  if (intent.owner_workflow !== withdrawalWorkflow(intent.ref)) return null;
  const row = await lockWithdrawal(tx, intent.ref);
  if (!row) return null;
  return {
    currency: row.currency,
    outputs: [{ address: row.address, units: baseUnits(row.currency, row.net_amount).toString() }],
    held: null,
    async mayBeSigned() {
      if (row.status !== 'pending' || !row.approved_at || (row.needs_approval && row.approved_by === row.requested_by))
        throw new DomainError('INTENT_MISMATCH', `Withdrawal ${row.id} is ${row.status}`);
      if (!(await isStillListed(tx, row))) {
        await failWithdrawal(tx, row, unlisted);
        return { state: 'dropped', reason: unlisted };
      }
      const reason = await useAdmission(tx, 'withdrawal', row.id);
      return reason ? { state: 'waiting', reason } : { state: 'go' };
    },
    isUnderWay: row.status === 'processing' || row.status === 'broadcast',
    async stored() {
      const moved = await moveWithdrawal(tx, row, 'processing');
      await announceWithdrawal(tx, moved, 'withdrawal.processing', row.status);
    },
    async sent(txId) {
      if (row.status === 'processing') await noteSent(tx, row, txId);
    },
    ended: (attempt) => book(tx, row, attempt),
  };
}

async function noteSent(tx: EntityManager, row: WithdrawalRow, txId: string): Promise<WithdrawalRow> {
  const moved = await moveWithdrawal(tx, row, 'broadcast', { tx_id: txId, broadcast_at: byClock });
  await announceWithdrawal(tx, moved, 'withdrawal.broadcast', row.status);
  return moved;
}

/** J6 and `completed`, or J7 and `failed`. */
async function book(tx: EntityManager, row: WithdrawalRow, mined: AttemptRow): Promise<void> {
  const isDone = row.status === 'completed' || row.status === 'failed';
  if (!mined.success) {
    if (!isDone)
      await failWithdrawal(
        tx,
        row,
        'The transaction was mined and reverted: the address does not take it',
        mined.tx_id,
      );
    return;
  }
  // Given back, and spent since: what has arrived besides is for operators.
  if (row.status === 'failed') return;
  const paid = minedOf(row.currency, 'A:treasury', mined);
  const end = { ...holdOf(row), net: row.net_amount, native: paid.native, txId: mined.tx_id };
  await ensureMined(tx, paid, (chainFee) => egressJournal({ ...end, chainFee, gasFrom: paid.from }), ensureEnd);
  if (isDone) return;
  // Where the sender died before it could say so.
  const sent = row.status === 'processing' ? await noteSent(tx, row, mined.tx_id) : row;
  const done = await moveWithdrawal(tx, sent, 'completed', {
    tx_id: mined.tx_id,
    completed_at: byClock,
  });
  await announceWithdrawal(tx, done, 'withdrawal.completed', sent.status);
}
