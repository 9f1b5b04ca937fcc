import { evaluate } from '../../domain/payments/evaluate';
import type { PaymentSnapshot } from '../../domain/payments/payment';
import { snapshotOf } from '../../domain/payments/snapshot';
import { failPoint } from '../../db/fail-point';
import { factsOf, lockPayment } from '../../db/payments/payments';
import { sweepAgain } from '../../txmanager/sweep-again';
import { settleIfSwept } from '../../txmanager/settle';
import { type PaymentDeps } from './deps';

/** A payment that a sweep batch has dropped is swept alone. A repeat finds the payment settled. */
export async function settlePayment({ db }: PaymentDeps, id: string): Promise<PaymentSnapshot> {
  const snapshot = await db.transaction(async (tx) => {
    const payment = await lockPayment(tx, id);
    const facts = await factsOf(tx, payment);
    if (evaluate(facts).do !== 'settle') return snapshotOf(payment, 'advance', facts);
    const settled = await settleIfSwept(tx, payment);
    if (settled) return snapshotOf(settled, 'wait', facts);
    await sweepAgain(tx, payment);
    return snapshotOf(payment, 'wait', facts);
  });
  await failPoint('move.afterCommit');
  if (snapshot.status === 'SETTLED') await failPoint('settle.afterCommit');
  return snapshot;
}
