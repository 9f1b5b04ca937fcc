import type { EntityManager } from 'typeorm';
import { countedDeposits, isLive } from '../../domain/payments/counted';
import type { Outcome } from '../../domain/payments/payment';
import type { Actor } from '../../db/access/audit-log';
import { emitPaymentEvents, factsOf, lockPayment, movePayment } from '../../db/payments/payments';
import { deciderOf, recordDecision } from './record-decision';

/** Row 4. The row lock decides between a cancel and a deposit, or money of Lightning that is taken. A second cancel
 *  finds the first. `actor`: the merchant's person or key. */
export async function cancelPayment(
  tx: EntityManager,
  id: string,
  by: 'payer' | 'merchant' | 'service',
  reason?: string,
  actor: Actor | null = null,
): Promise<Outcome> {
  const payment = await lockPayment(tx, id);
  if (payment.status === 'CANCELLED') return { status: payment.status, isRepeated: true };
  const isOpen = payment.status === 'AWAITING_CURRENCY' || payment.status === 'WAITING';
  const facts = await factsOf(tx, payment);
  if (!isOpen || facts.isBeingTaken || countedDeposits(facts).some(isLive))
    return { status: payment.status, refused: 'PAYMENT_NOT_CANCELLABLE' };
  const moved = await movePayment(tx, payment, {
    to: 'CANCELLED',
    cause: `cancelled-by-${by}`,
    events: ['payment.cancelled'],
    details: { ...(reason ? { reason } : {}), ...deciderOf(actor) },
  });
  await emitPaymentEvents(tx, payment, moved, ['payment.cancelled']);
  await recordDecision(tx, actor, 'cancelled', { before: payment, after: moved, reason });
  return { status: moved.status };
}
