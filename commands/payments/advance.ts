import type { EntityManager } from 'typeorm';
import { evaluate } from '../../domain/payments/evaluate';
import type { PaymentFacts, Step } from '../../domain/payments/facts';
import {
  isFinal,
  type NextStep,
  type PaymentRow,
  type PaymentSnapshot,
  type PaymentEventType,
  type PaymentStatus,
} from '../../domain/payments/payment';
import { snapshotOf } from '../../domain/payments/snapshot';
import { factsOf, lockPayment, emitPaymentEvents, databaseNow, movePayment } from '../../db/payments/payments';
import { takeOtherAsset } from './accept-cross-chain';
import { bookDeposits, reverseDeposits } from '../../db/ledger/ledger';
import { openChildren } from './children';
import { rateParts } from './rates';
import { noteLoss, reverseLoss } from './deep-reorg';
import type { AdvanceDeps } from './deps';
import { bookOther, leaveToMerchant, offerOther, reverseUnallocated, crossOffer, rateOthers } from './other-assets';
import { countedDeposits, isLive } from '../../domain/payments/counted';
import { lockLimits } from '../../db/limits/outbound';
import { requestScreen } from '../../db/screening/screening';
import { isSameNumber, paidColumns } from './columns';
import { sendReceipts } from './receipts';
import { refundUnderpaid } from '../refunds/create';

/** Takes the step that a payment's facts ask for, if it is no activity of its own. `next` is `advance` where another
 *  may follow. */
export async function advancePayment(tx: EntityManager, deps: AdvanceDeps, id: string): Promise<PaymentSnapshot> {
  const payment = await lockPayment(tx, id);
  const facts = await factsOf(tx, payment);
  const step = evaluate(facts);
  if (isActivity(step)) return snapshotOf(payment, step.do, facts);
  const after = await apply(tx, deps, payment, facts, step);
  const isDone = after === null || (step.do === 'note' && after.status === payment.status) || isOver(after, facts);
  return snapshotOf(after ?? payment, isDone ? 'wait' : 'advance', facts);
}

/** Whether a payment has ended without a deposit, as most do. Nothing but a deposit moves it then, and a deposit wakes
 *  its workflow. */
const isOver = ({ status }: PaymentRow, { deposits }: PaymentFacts): boolean => isFinal(status) && !deposits.length;

type ActivityStep = Extract<Step, { do: NextStep }>;
const isActivity = (step: Step): step is ActivityStep => ['requote', 'queueSweep', 'settle'].includes(step.do);

/** Carries a step out; the row after it, or null where nothing changed. */
async function apply(
  tx: EntityManager,
  deps: AdvanceDeps,
  payment: PaymentRow,
  facts: PaymentFacts,
  step: Exclude<Step, ActivityStep>,
): Promise<PaymentRow | null> {
  switch (step.do) {
    case 'nothing':
      return null;
    case 'rate':
      await rateParts(tx, deps, payment, facts, step.parts);
      return payment;
    case 'note':
      return noteDeposits(tx, payment, step);
    case 'move':
      return applyMove(tx, deps, payment, step);
    case 'leaveUnallocated':
      await bookDeposits(tx, payment, step.depositIds, 'unallocated');
      await refundByPolicy(tx, deps, payment);
      return payment;
    case 'reverseUnallocated':
      return reverseUnallocated(tx, payment, facts, step.depositIds);
    case 'bookOther':
      return bookOther(tx, deps, payment, step.depositIds);
    case 'offer':
      return offerOther(tx, deps, payment, step.depositIds);
    case 'leaveToMerchant':
      return leaveToMerchant(tx, payment);
    case 'openChildren':
      return openChildren(tx, deps, payment, step);
    case 'acceptCross':
      return (
        (await takeOtherAsset(tx, deps, payment, step.depositIds, 'other-asset-accepted-by-itself')) ??
        leaveToMerchant(tx, payment)
      );
    case 'alarm':
      return noteLoss(tx, payment, step.depositIds);
    case 'recover':
      return reverseLoss(tx, payment, step.depositIds);
  }
}

/** A change of status: row, postings, and the event, in the caller's transaction. */
async function applyMove(
  tx: EntityManager,
  deps: AdvanceDeps,
  payment: PaymentRow,
  step: Extract<Step, { do: 'move' }>,
): Promise<PaymentRow> {
  const moved = await movePayment(tx, payment, {
    to: step.to,
    cause: step.cause,
    events: step.events,
    addExceptions: step.addExceptions,
    patch: {
      ...paidColumns(payment, step.paid),
      ...(step.to === 'CONFIRMED' ? { confirmed_at: await databaseNow(tx) } : {}),
      ...(step.reverse.length ? { sweep_state: null } : {}),
      ...(step.accept === null ? {} : { accepted_share: step.accept }),
      ...(step.offer ? await crossOffer(tx, deps, payment, step.offer) : { cross_chain_auto_accept_at: null }),
    },
    details: { txIds: step.paid.txIds, amountPaid: step.paid.amountPaid, depositIds: step.unallocated },
  });
  // A refund locks its limits before the balances and before the merchant's counter, which `emitPaymentEvents` locks.
  // Invariants: 6.
  if (step.unallocated.length && isRefundedByPolicy(moved)) await lockLimits(tx, moved.merchant_id);
  await reverseDeposits(tx, step.reverse);
  await bookDeposits(tx, moved, step.credit, 'unsettled');
  await bookDeposits(tx, moved, step.unallocated, 'unallocated');
  if (step.offer) await rateOthers(tx, deps, moved, step.unallocated);
  if (moved.status === 'CONFIRMED') {
    await requestScreen(tx, moved, deps.config.amlProviders.length > 0);
    await sendReceipts(tx, deps, moved);
  }
  await emitPaymentEvents(tx, payment, moved, step.events);
  if (step.unallocated.length) await refundByPolicy(tx, deps, moved);
  return moved;
}

/** More, or less, has come without a change of status; null where nothing changed. */
async function noteDeposits(
  tx: EntityManager,
  payment: PaymentRow,
  step: Extract<Step, { do: 'note' }>,
): Promise<PaymentRow | null> {
  const isSame =
    isSameNumber(step.paid.amountPaid, payment.amount_paid) &&
    isSameNumber(step.paid.value, payment.value_paid) &&
    isSameNumber(step.paid.amount, payment.amount) &&
    step.paid.txIds.join() === payment.tx_ids.join() &&
    step.addExceptions.every((exception) => payment.exceptions.includes(exception));
  if (isSame) return null;
  const noted = await movePayment(tx, payment, {
    to: payment.status,
    cause: 'deposit-seen',
    events: [],
    addExceptions: step.addExceptions,
    patch: paidColumns(payment, step.paid),
    details: { txIds: step.paid.txIds },
  });
  await emitPaymentEvents(tx, payment, noted, [notedAs[payment.status] ?? 'payment.confirming']);
  return noted;
}

/** The event of a payment whose deposits changed without its status. */
const notedAs: Partial<Record<PaymentStatus, PaymentEventType>> = {
  PARTIALLY_PAID: 'payment.partially_paid',
  CROSS_CHAIN_PENDING: 'payment.cross_chain_pending',
};

const isRefundedByPolicy = (payment: PaymentRow): boolean =>
  payment.status === 'FAILED' && payment.exceptions.includes('underpaid') && payment.underpaid_policy === 'refund';

/** Row 10, policy `refund`: once no deposit that came in time can still change. */
async function refundByPolicy(tx: EntityManager, deps: AdvanceDeps, payment: PaymentRow): Promise<void> {
  if (!isRefundedByPolicy(payment)) return;
  const isComing = countedDeposits(await factsOf(tx, payment)).some((deposit) => isLive(deposit));
  const { codecs, config } = deps;
  if (!isComing) await refundUnderpaid(tx, { codecs, rateMaxAgeSeconds: config.RATE_MAX_AGE_SECONDS }, payment);
}
