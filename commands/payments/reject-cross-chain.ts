import type { EntityManager } from 'typeorm';
import { rejectionOf } from '../../domain/payments/counted';
import type { Outcome } from '../../domain/payments/payment';
import { announce, factsOf, lockPayment, movePayment } from '../../db/payments/payments';

/** Row 21, by the merchant. The other asset stays in `unallocated`; the next look holds a part in the payment's own coin
 *  there too. */
export async function rejectCrossChain(tx: EntityManager, id: string): Promise<Outcome> {
  const payment = await lockPayment(tx, id);
  if (payment.status !== 'CROSS_CHAIN_PENDING') return { status: payment.status, refused: 'INVALID_STATE' };
  const moved = await movePayment(tx, payment, {
    to: 'FAILED',
    cause: 'other-asset-rejected-by-merchant',
    events: ['payment.failed'],
    addExceptions: rejectionOf(await factsOf(tx, payment)),
    patch: { cross_chain_auto_accept_at: null },
  });
  await announce(tx, payment, moved, ['payment.failed']);
  return { status: moved.status };
}
