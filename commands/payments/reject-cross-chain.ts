import type { EntityManager } from 'typeorm';
import { rejectionOf } from '../../domain/payments/counted';
import type { Outcome } from '../../domain/payments/payment';
import type { Actor } from '../../db/access/audit-log';
import { emitPaymentEvents, factsOf, lockPayment, movePayment } from '../../db/payments/payments';
import { deciderOf, recordDecision } from './record-decision';

/** Row 21, by the merchant. The other asset stays in `unallocated`; the next look holds a part in the payment's own
 *  coin there too. */
export async function rejectCrossChain(tx: EntityManager, id: string, actor: Actor | null = null): Promise<Outcome> {
  const payment = await lockPayment(tx, id);
  if (payment.status !== 'CROSS_CHAIN_PENDING') return { status: payment.status, refused: 'INVALID_STATE' };
  const moved = await movePayment(tx, payment, {
    to: 'FAILED',
    cause: 'other-asset-rejected-by-merchant',
    events: ['payment.failed'],
    addExceptions: rejectionOf(await factsOf(tx, payment)),
    patch: { cross_chain_auto_accept_at: null },
    details: deciderOf(actor),
  });
  await emitPaymentEvents(tx, payment, moved, ['payment.failed']);
  await recordDecision(tx, actor, 'other_asset_rejected', { before: payment, after: moved });
  return { status: moved.status };
}
