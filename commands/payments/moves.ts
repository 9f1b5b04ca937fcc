import type { EntityManager } from 'typeorm';
import { countedDeposits, isLive } from '../../domain/payments/counted';
import type { Step } from '../../domain/payments/facts';
import type { PaymentEventType, PaymentRow, PaymentStatus } from '../../domain/payments/payment';
import { lockLimits } from '../../db/limits/outbound';
import { emitPaymentEvents, databaseNow, factsOf, movePayment } from '../../db/payments/payments';
import { requestScreen } from '../../db/screening/screening';
import { bookDeposits, reverseDeposits } from './bookings';
import { isSameNumber, paidColumns } from './columns';
import { sendReceipts } from './receipts';
import { refundUnderpaid } from '../refunds/create';
import type { AdvanceDeps } from './deps';
import { crossOffer, rateOthers } from './other-assets';

/** A change of status: row, postings, and the event, in the caller's transaction. */
export async function applyMove(
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
export async function noteDeposits(
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
export async function refundByPolicy(tx: EntityManager, deps: AdvanceDeps, payment: PaymentRow): Promise<void> {
  if (!isRefundedByPolicy(payment)) return;
  const isComing = countedDeposits(await factsOf(tx, payment)).some((deposit) => isLive(deposit));
  const { codecs, config } = deps;
  if (!isComing) await refundUnderpaid(tx, { codecs, rateMaxAgeSeconds: config.RATE_MAX_AGE_SECONDS }, payment);
}
