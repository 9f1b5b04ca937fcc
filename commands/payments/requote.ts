import type { EntityManager } from 'typeorm';
import { evaluate } from '../../domain/payments/evaluate';
import type { PaymentSnapshot } from '../../domain/payments/payment';
import { snapshotOf } from '../../domain/payments/snapshot';
import { factsOf, lockPayment } from '../../db/payments/payments';
import { requote } from './rates';
import type { AdvanceDeps } from './deps';

/** Row 6, where the facts still ask for it. A repeat finds the new quote, and changes nothing. */
export async function requotePayment(tx: EntityManager, deps: AdvanceDeps, id: string): Promise<PaymentSnapshot> {
  const payment = await lockPayment(tx, id);
  const facts = await factsOf(tx, payment);
  const step = evaluate(facts);
  if (step.do !== 'requote') return snapshotOf(payment, 'advance', facts);
  return snapshotOf(await requote(tx, deps, payment, 'paid-after-quote', step.at), 'advance', facts);
}
