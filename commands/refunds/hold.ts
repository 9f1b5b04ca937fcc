import type { EntityManager } from 'typeorm';
import { ensure, captureOrRelease, returnGas } from '../../db/ledger/ledger';
import { setAllocation } from '../../db/payments/deposits';
import { asBalanceError } from '../../db/records';
import { holdOf } from '../../db/refunds/refunds';
import { requestSignal } from '../../db/temporal/temporal-requests';
import { holdJournal, releaseJournal } from '../../domain/ledger/ledger';
import type { RefundRow } from '../../domain/refunds/refund';
import { workflowIds } from '../../domain/workflow-ids';

/** J5; or the deposits themselves, which are no longer there for anybody else. Throws INSUFFICIENT_BALANCE. */
export async function hold(tx: EntityManager, row: RefundRow): Promise<void> {
  if (row.source === 'deposit') return setAllocation(tx, row.deposit_ids, 'refunded').then(() => undefined);
  await asBalanceError(ensure(tx, holdJournal(holdOf(row))));
}

/** J7; or the deposits are unallocated as they were before. Their payment looks whether the chain still has them. */
export async function releaseRefund(tx: EntityManager, row: RefundRow): Promise<void> {
  if (row.source === 'balance') {
    await captureOrRelease(tx, releaseJournal(holdOf(row)));
    return returnGas(tx, [holdOf(row)]);
  }
  await setAllocation(tx, row.deposit_ids, 'unallocated');
  await requestSignal(tx, {
    workflow: 'payment',
    workflowId: workflowIds.payment(row.payment_id),
    args: [row.payment_id],
    signal: 'updated',
    attributes: { PaymentId: row.payment_id },
  });
}
