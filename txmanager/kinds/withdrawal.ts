import type { EntityManager } from 'typeorm';
import { releaseLimitUse } from '../../commands/limits/outbound-check';
import { failWithdrawal } from '../../commands/withdrawals/fail';
import { minedOf, ensureMined, captureOrRelease } from '../../db/ledger/ledger';
import { byClock } from '../../db/records';
import type { AttemptRow } from '../../db/txmanager/intents';
import {
  lockWithdrawal,
  lockWithdrawals,
  moveWithdrawal,
  emitWithdrawalEvent,
  holdOf,
} from '../../db/withdrawals/withdrawals';
import { baseUnits } from '../../domain/chains/assets';
import { destinationOf } from '../../domain/chains/tags';
import { captureJournal } from '../../domain/ledger/ledger';
import { addedFeesOf } from '../../domain/txmanager/added-fee';
import type { WithdrawalRow } from '../../domain/withdrawals/withdrawal';
import type { ServedIntent, Obligation } from '../obligation';
import { reopenWithdrawals } from '../../commands/withdrawals/reopen';
import { chargeRevert } from '../charge-revert';
import { expired, failureOf } from './failure';
import { openIntents, obligationsByRef, summaryAs, type OutgoingKind } from './kind';

export const withdrawal: OutgoingKind = {
  kind: 'withdrawal',
  summary: summaryAs('Withdrawal'),
  owner: 'withdrawal',
  obligation: withdrawalObligations,
  refused: async (tx, intent, message) => {
    const row = await lockWithdrawal(tx, intent.ref);
    if (row?.status === 'pending') await failWithdrawal(tx, row, message);
  },
  asked: async (tx, intent) => {
    const row = await lockWithdrawal(tx, intent.ref);
    if (row?.status !== 'pending') return null;
    return { hold: holdOf(row), row, bearer: row.fee_mode === 'deduct' ? 'receiver' : 'merchant' };
  },
  reopen: reopenWithdrawals,
  openRows: [
    {
      workflow: 'withdrawal',
      sql: `SELECT w.id, jsonb_build_object('MerchantId', w.merchant_id) AS attributes FROM withdrawal w
             WHERE w.updated_at < now() - interval '60 seconds' AND w.currency <> 'BTC_LN'
               AND (w.status IN ('pending', 'processing', 'broadcast')
                 OR EXISTS (${openIntents('withdrawal', 'w.id')}))`,
    },
  ],
  shortfallEnds: `EXISTS (SELECT FROM withdrawal w
    WHERE i.subject_kind = 'withdrawal' AND w.id = i.subject_id::bpchar AND w.status IN ('failed', 'cancelled'))`,
};

export const unlisted = 'Its address was taken off the whitelist before it was sent';

async function withdrawalObligations(
  tx: EntityManager,
  intents: readonly ServedIntent[],
): Promise<ReadonlyMap<string, Obligation>> {
  const rows = await lockWithdrawals(
    tx,
    intents.map((intent) => intent.ref),
  );
  return obligationsByRef(intents, rows, (row) => obligationOf(tx, row));
}

const obligationOf = (tx: EntityManager, row: WithdrawalRow): Obligation => ({
  currency: row.currency,
  merchantId: row.merchant_id,
  outputs: [{ ...destinationOf(row), units: baseUnits(row.currency, row.net_amount).toString() }],
  fromDeposits: null,
  row: {
    name: `Withdrawal ${row.id}`,
    state: row.status === 'pending' ? 'due' : 'other',
    says: `Withdrawal ${row.id} is ${row.status}`,
    approval: {
      isGiven: row.approved_at !== null,
      needsSecond: row.needs_approval,
      askedBy: row.requested_by,
      by: row.approved_by,
    },
    payees: [row],
    addedFees: addedFeesOf([row]),
    limitUse: { kind: 'withdrawal', ref: row.id },
  },
  isUnderWay: row.status === 'processing' || row.status === 'broadcast',
  unlisted: () => failWithdrawal(tx, row, unlisted),
  givenUp: () => failWithdrawal(tx, row, expired),
  async stored() {
    const moved = await moveWithdrawal(tx, row, 'processing');
    await emitWithdrawalEvent(tx, moved, 'withdrawal.processing', row.status);
  },
  async sent(txId) {
    if (row.status === 'processing') await noteSent(tx, row, txId);
  },
  ended: (attempt) => book(tx, row, attempt),
});

export async function noteSent(tx: EntityManager, row: WithdrawalRow, txId: string): Promise<WithdrawalRow> {
  const moved = await moveWithdrawal(tx, row, 'broadcast', { tx_id: txId, broadcast_at: byClock });
  await emitWithdrawalEvent(tx, moved, 'withdrawal.broadcast', row.status);
  return moved;
}

export async function noteCompleted(tx: EntityManager, sent: WithdrawalRow, txId: string): Promise<void> {
  const done = await moveWithdrawal(tx, sent, 'completed', { tx_id: txId, completed_at: byClock });
  await emitWithdrawalEvent(tx, done, 'withdrawal.completed', sent.status);
}

/** J6 and `completed`, or J7 and `failed`. */
async function book(tx: EntityManager, row: WithdrawalRow, mined: AttemptRow): Promise<void> {
  const isDone = row.status === 'completed' || row.status === 'failed';
  if (!mined.success) {
    if (isDone) return;
    await failWithdrawal(tx, row, failureOf(mined), mined.tx_id);
    await chargeRevert(tx, holdOf(row), mined, row.network_fee);
    if (mined.is_replacement) await releaseLimitUse(tx, 'withdrawal', row.id);
    return;
  }
  // Released, and spent since: what has arrived besides is for operators.
  if (row.status === 'failed') return;
  const paid = minedOf(row.currency, 'A:treasury', mined);
  const captured = { ...holdOf(row), net: row.net_amount, native: paid.native, txId: mined.tx_id };
  await ensureMined(
    tx,
    paid,
    (chainFee) => captureJournal({ ...captured, chainFee, gasFrom: paid.from }),
    captureOrRelease,
  );
  if (isDone) return;
  // Where the sender died before it could say so.
  const sent = row.status === 'processing' ? await noteSent(tx, row, mined.tx_id) : row;
  await noteCompleted(tx, sent, mined.tx_id);
}
