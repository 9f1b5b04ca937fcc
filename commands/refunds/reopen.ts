import type { EntityManager } from 'typeorm';
import { reopenHold, reverse, noteHoldGone } from '../../db/ledger/ledger';
import { restoreLimitUse } from '../limits/outbound-check';
import { chargeLostFeesAgain } from './lost-fees';
import { setAllocation } from '../../db/payments/deposits';
import { lockPayment, movePayment, emitPaymentEvents } from '../../db/payments/payments';
import { holdOf, lockRefund, moveRefund, emitRefundEvent } from '../../db/refunds/refunds';
import type { RefundRow } from '../../domain/refunds/refund';
import { refundKey } from '../../domain/ledger/ledger';
import { revertFeeKey } from '../../domain/ledger/network-fees';

/** Reverses the capture or release of a refund. False where what was returned is spent, or in other hands. */
async function reverseRefundEnd(tx: EntityManager, row: RefundRow): Promise<boolean> {
  if (row.source === 'balance') return reopenHold(tx, holdOf(row));
  if (row.status === 'completed') {
    await reverse(tx, refundKey(row.id));
    await chargeLostFeesAgain(tx, row);
    return true;
  }
  const unallocated = await tx.query<unknown[]>(
    `SELECT FROM deposit WHERE id = ANY($1::bigint[]) AND allocation = 'unallocated' FOR UPDATE`,
    [row.deposit_ids],
  );
  const areThere = unallocated.length === row.deposit_ids.length;
  if (!areThere) {
    // It stays failed, and what it has burned stays charged.
    await noteHoldGone(tx, { kind: 'refund', id: row.id });
    return false;
  }
  await reverse(tx, revertFeeKey({ kind: 'refund', id: row.id }));
  await setAllocation(tx, row.deposit_ids, 'refunded');
  return true;
}

/** Refunds whose transactions are in blocks above `height`, which the chain no longer has: on their way again, what
 *  they had booked reversed. One whose money came back and is spent stays failed. Call before the transactions
 *  themselves are put back. Invariants: 5, step 6. */
export async function reopenRefunds(tx: EntityManager, network: string, height: number): Promise<void> {
  const gone = await tx.query<Array<{ id: string; payment_id: string; tx_id: string; success: boolean }>>(
    `SELECT r.id, r.payment_id, a.tx_id, a.success FROM attempt a JOIN intent i ON i.id = a.intent_id
       AND i.kind = 'refund'
       JOIN refund r ON r.id = i.ref
      WHERE a.network = $1 AND a.height > $2 AND a.status = 'final' AND r.status IN ('completed', 'failed')
        ORDER BY r.id`,
    [network, height],
  );
  for (const { id, payment_id, tx_id, success } of gone) {
    const payment = await lockPayment(tx, payment_id);
    const row = await lockRefund(tx, id);
    if (row?.status !== (success ? 'completed' : 'failed') || !(await reverseRefundEnd(tx, row))) continue;
    if (!success) await restoreLimitUse(tx, 'refund', id);
    const reopened = await moveRefund(tx, row, 'broadcast', { completed_at: null, merchant_message: null });
    const moved = await movePayment(tx, payment, {
      to: payment.status,
      cause: 'refund-reorganised',
      events: [],
      details: { refundId: id, txId: tx_id },
    });
    await emitRefundEvent(tx, reopened, 'refund.broadcast', row.status);
    await emitPaymentEvents(tx, payment, moved, []);
  }
}
