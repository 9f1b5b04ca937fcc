import type { EntityManager } from 'typeorm';
import { countOutgoing, releaseLimitUse } from '../limits/outbound-check';
import type { Queryable } from '../../db/query';
import { personOf, requestRefund, emitRefundEvent, shown } from '../../db/refunds/refunds';
import { DomainError } from '../../domain/errors';
import { newId } from '../../domain/ids';
import { assetOf } from '../../domain/chains/assets';
import { compare } from '../../domain/money';
import { readPayer } from '../../db/payments/payer-browsers';
import type { PaymentRow } from '../../domain/payments/payment';
import { type RefundRow, type ShownRefund, afterAddress } from '../../domain/refunds/refund';
import { hold } from './hold';
import { type RefundOrder, type RefundDeps, type NewRefund, lockOwnPayment, hashOf, drawUp } from './terms';

/** With the key that it came under; null: none. */
type RefundCall = RefundOrder & Readonly<{ idempotencyKey: string | null }>;

/** The refund that this key has asked for before. Throws IDEMPOTENCY_KEY_REUSED where it was another one. */
export async function findRefund(
  db: Queryable,
  { merchantId, paymentId, ask, idempotencyKey }: Omit<RefundCall, 'by'>,
): Promise<{ row: ShownRefund; replayed: true } | null> {
  if (idempotencyKey === null) return null;
  const [row] = await db.query<ShownRefund[]>(
    `SELECT ${shown} FROM refund WHERE merchant_id = $1 AND idempotency_key = $2`,
    [merchantId, idempotencyKey],
  );
  if (!row) return null;
  if (row.body_hash !== hashOf(paymentId, ask)) throw new DomainError('IDEMPOTENCY_KEY_REUSED');
  return { row, replayed: true };
}

/** Opens a refund and holds its money, in the caller's transaction, under the lock of its payment: the sum of refunds
 *  never exceeds what was received. The same idempotency key finds the first one. Throws PAYMENT_NOT_FOUND,
 *  IDEMPOTENCY_KEY_REUSED, INSUFFICIENT_BALANCE, EGRESS_FROZEN, EGRESS_LIMIT and what `drawUp` throws. */
export async function openRefund(
  tx: EntityManager,
  deps: RefundDeps,
  call: RefundCall,
): Promise<{ row: RefundRow; replayed: boolean }> {
  const { merchantId, paymentId, ask, by, idempotencyKey } = call;
  const payment = await lockOwnPayment(tx, merchantId, paymentId);
  const replay = () => findRefund(tx, call);
  const first = await replay();
  if (first) return first;
  const plan = await drawUp(tx, deps, payment, ask);
  const id = newId();
  const { needsApproval } = await countOutgoing(tx, {
    kind: 'refund',
    ref: id,
    merchantId,
    amounts: [{ currency: plan.currency, amount: plan.gross_amount }],
    rateMaxAgeSeconds: deps.rateMaxAgeSeconds,
  });
  if (!('policy' in by)) await keepBelowCap(tx, merchantId, id);
  const approved_at = 'keyId' in by || needsApproval ? null : plan.created_at;
  const userId = 'userId' in by ? by.userId : null;
  const columns = {
    ...plan,
    id,
    status: plan.address === null ? 'awaiting_address' : afterAddress({ approved_at }),
    idempotency_key: idempotencyKey,
    key_id: 'keyId' in by ? by.keyId : null,
    created_by: userId,
    asked_by: personOf(by),
    needs_second_person: needsApproval,
    approved_by: approved_at && userId,
    approved_at,
  };
  const names = Object.keys(columns);
  const [row] = await tx.query<RefundRow[]>(
    `INSERT INTO refund (${names.join(', ')}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})
     ON CONFLICT (merchant_id, idempotency_key) DO NOTHING RETURNING *`,
    Object.values(columns),
  );
  // Two with one key at once, for two payments: the other was first.
  if (!row) {
    await releaseLimitUse(tx, 'refund', id);
    return (await replay())!;
  }
  await hold(tx, row);
  if (row.status === 'pending') await requestRefund(tx, row);
  await emitRefundEvent(tx, row, 'refund.created');
  return { row, replayed: false };
}

/** The refunds of the last 24 hours, this one included, stay below the merchant's cap. Policy refunds do not count:
 *  their money was never the merchant's. After `countOutgoing`, which has written what it is worth. Throws
 *  REFUND_CAP_REACHED. */
async function keepBelowCap(tx: EntityManager, merchantId: string, id: string): Promise<void> {
  // One at a time: two that fit one by one may not fit together.
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('refund-cap/' || $1, 0))`, [merchantId]);
  const [row] = await tx.query<Array<{ cap: string | null; used: string }>>(
    `SELECT m.refund_daily_cap_usd::text AS cap, coalesce((
        SELECT sum(a.usd) FROM egress_admission a LEFT JOIN refund r ON r.id = a.ref
         WHERE a.kind = 'refund' AND a.merchant_id = m.id AND a.admitted_at > now() - interval '24 hours'
           AND a.released_at IS NULL
           AND (a.ref = $2 OR r.key_id IS NOT NULL OR r.created_by IS NOT NULL)), 0)::text AS used
       FROM merchant m WHERE m.id = $1`,
    [merchantId, id],
  );
  if (row?.cap && compare(row.used, row.cap) > 0) throw new DomainError('REFUND_CAP_REACHED');
}
const notNow = ['REFUND_NOT_ALLOWED', 'BELOW_MINIMUM', 'EGRESS_FROZEN', 'EGRESS_LIMIT'];
/** Refunds the money of a payment that failed for too little of it, by the merchant's policy: one refund for each
 *  address that the money came to. A refund goes to the address that the payer left before money came, or is for the
 *  payer to claim. Money that is not worth its fee, or may not leave now, stays held. Row 10. */
export async function refundUnderpaid(tx: EntityManager, deps: RefundDeps, payment: PaymentRow): Promise<void> {
  const ask: NewRefund = { type: 'underpaid', currency: payment.currency!, feeBearer: 'payer' };
  const { to } = await readPayer(tx, payment.id, assetOf(payment.currency!).network);
  const { address, destinationTag } = to ?? {};
  const addressed = to && { ...ask, address: to.address, ...(destinationTag ? { destinationTag } : {}) };
  const from = { merchantId: payment.merchant_id, paymentId: payment.id, by: { policy: 'underpaid' } } as const;
  const open = (asked: NewRefund) => openRefund(tx, deps, { ...from, ask: asked, idempotencyKey: null });
  try {
    for (;;)
      await open(addressed ?? ask).catch((error: unknown) => {
        // The payer's address is refused now, such as one that became ours: the payer is asked for another.
        if (address === undefined || !(error instanceof DomainError) || error.code !== 'INVALID_ADDRESS') throw error;
        return open(ask);
      });
  } catch (error) {
    if (!(error instanceof DomainError) || !notNow.includes(error.code)) throw error;
  }
}
