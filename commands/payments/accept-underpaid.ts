import type { EntityManager } from 'typeorm';
import { countedDeposits, isLive, paidBy } from '../../domain/payments/counted';
import type { PaymentFacts } from '../../domain/payments/facts';
import { shareOf } from '../../domain/payments/payable';
import type { Outcome, PaymentRow } from '../../domain/payments/payment';
import type { Actor } from '../../db/access/audit-log';
import { emitPaymentEvents, factsOf, lockPayment, movePayment } from '../../db/payments/payments';
import { openChildren } from './children';
import { paidColumns } from './columns';
import type { PaymentCommandDeps } from './deps';
import { rateAllDeposits } from './rates';
import { deciderOf, recordDecision } from './record-decision';

/** Row 9: the merchant accepts a part. Row 10: the deposits that a failed payment holds become child payments. */
export async function acceptUnderpaid(
  tx: EntityManager,
  deps: PaymentCommandDeps,
  id: string,
  actor: Actor | null = null,
): Promise<Outcome> {
  const payment = await rateAllDeposits(tx, deps, await lockPayment(tx, id));
  const facts = await factsOf(tx, payment);
  const live = countedDeposits(facts).filter(isLive);
  if (payment.status === 'PARTIALLY_PAID' && live.length) {
    const moved = await movePayment(tx, payment, {
      to: 'CONFIRMING',
      cause: 'underpaid-accepted-by-merchant',
      events: ['payment.confirming'],
      addExceptions: ['underpaid'],
      patch: { ...paidColumns(payment, paidBy(facts, live)), accepted_share: shareOf(live) },
      details: deciderOf(actor),
    });
    await emitPaymentEvents(tx, payment, moved, ['payment.confirming']);
    await recordDecision(tx, actor, 'underpaid_accepted', { before: payment, after: moved });
    return { status: moved.status };
  }
  const unallocated = unallocatedOf(payment, facts);
  if (!unallocated.length) return { status: payment.status, refused: 'INVALID_STATE' };
  const moved = await openChildren(tx, deps, payment, { depositIds: unallocated, addExceptions: [] }, actor);
  await recordDecision(tx, actor, 'underpaid_accepted', { before: payment, after: moved });
  return { status: moved.status };
}

/** Confirmed deposits in the payment's own coin that are unallocated since it failed. A child has no children. */
function unallocatedOf(payment: PaymentRow, facts: PaymentFacts): string[] {
  if (payment.status !== 'FAILED' || !payment.exceptions.includes('underpaid') || facts.isChild) return [];
  return facts.deposits
    .filter(({ owner, allocation }) => owner === payment.id && allocation === 'unallocated')
    .filter(({ status, currency }) => status === 'confirmed' && currency === payment.currency)
    .map((deposit) => deposit.id);
}
