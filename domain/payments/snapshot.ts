import { trim } from '../money';
import { findableTxIds } from '../txmanager/findable';
import type { PaymentFacts } from './facts';
import { crossDeadline, isFinal, type NextStep, type PaymentRow, type PaymentSnapshot } from './payment';

/** A payment after a look, for its workflow and for the query. */
export const snapshotOf = (
  payment: PaymentRow,
  next: NextStep,
  facts: Pick<PaymentFacts, 'confirmBy' | 'now'>,
): PaymentSnapshot => ({
  status: payment.status,
  stateVersion: payment.state_version,
  next: isFinal(payment.status) && next === 'wait' ? 'end' : next,
  lookAgainInMs: lookAgainInMs(payment, facts),
  ...receivedBy(payment),
});

/** A payer may send as many transactions as he likes: the first are enough to find the others. */
const namedTransactions = 3;

/** `0.0004 BTC in transaction 3f…`. */
function receivedBy(
  payment: Pick<PaymentRow, 'amount_paid' | 'currency' | 'tx_ids'>,
): Pick<PaymentSnapshot, 'received' | 'txIds'> {
  const { tx_ids: txIds } = payment;
  if (!txIds.length || payment.currency === null) return {};
  const named = txIds.slice(0, namedTransactions).join(', ');
  const others = txIds.length > namedTransactions ? ` and ${txIds.length - namedTransactions} others` : '';
  return {
    received: `${trim(payment.amount_paid)} ${payment.currency} in transaction ${named}${others}`,
    txIds: txIds.slice(0, findableTxIds),
  };
}

/** Until the next deadline; past it, until the follower has caught up, ever more patiently. Signals wake the workflow
 *  sooner. */
function lookAgainInMs(payment: PaymentRow, { confirmBy, now }: Pick<PaymentFacts, 'confirmBy' | 'now'>): number {
  const until = (deadline: Date): number => {
    const left = deadline.getTime() - now.getTime();
    return left > 0 ? left + 1000 : Math.min(60_000, Math.max(2000, -left));
  };
  if (isFinal(payment.status)) return 0;
  if (payment.status === 'CONFIRMED' || payment.status === 'SWEEP_QUEUED') return 600_000;
  if (payment.status === 'CROSS_CHAIN_PENDING')
    return until(payment.cross_chain_auto_accept_at ?? crossDeadline(payment.expires_at));
  return until(payment.status === 'CONFIRMING' ? confirmBy : payment.expires_at);
}
