import { evaluate } from '../../domain/payments/evaluate';
import type { PaymentSnapshot } from '../../domain/payments/payment';
import { factsOf, lockPayment } from '../../db/payments/payments';
import { requote } from '../../commands/payments/rates';
import { type PaymentDeps } from './deps';
import { snapshotOf } from './snapshot';

/** A repeat finds the new quote, and changes nothing. */
export const requotePayment = (deps: PaymentDeps, id: string): Promise<PaymentSnapshot> =>
  deps.db.transaction(async (tx) => {
    const payment = await lockPayment(tx, id);
    const facts = await factsOf(tx, payment);
    const step = evaluate(facts);
    if (step.do !== 'requote') return snapshotOf(payment, 'advance', facts);
    return snapshotOf(await requote(tx, deps, payment, 'paid-after-quote', step.at), 'advance', facts);
  });
