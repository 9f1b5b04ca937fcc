import type { EntityManager } from 'typeorm';
import { type RefundRow, afterAddress } from '../../domain/refunds/refund';
import { type RefundOrder, type RefundDeps, lockOwnPayment, drawUp } from './terms';

/** What a refund would be; nothing is held, nothing is written. */
export async function previewRefund(
  tx: EntityManager,
  deps: RefundDeps,
  { merchantId, paymentId, ask, by }: RefundOrder,
): Promise<RefundRow> {
  const payment = await lockOwnPayment(tx, merchantId, paymentId);
  const plan = await drawUp(tx, deps, payment, ask);
  const approved_at = 'keyId' in by ? null : plan.created_at;
  return {
    ...plan,
    id: '',
    added_fee: null,
    status: plan.address === null ? 'awaiting_address' : afterAddress({ approved_at }),
    key_id: null,
    created_by: null,
    asked_by: null,
    needs_second_person: false,
    approved_by: null,
    approved_at,
    idempotency_key: null,
  };
}
