import type { Currency } from '../../domain/chains/assets';
import { evaluate } from '../../domain/payments/evaluate';
import type { Outcome, PaymentSnapshot } from '../../domain/payments/payment';
import { snapshotOf } from '../../domain/payments/snapshot';
import { takeDecider } from '../../db/payments/deciders';
import { failPoint } from '../../db/fail-point';
import { factsOf, lockPayment } from '../../db/payments/payments';
import { acceptCrossChain } from '../../commands/payments/accept-cross-chain';
import { acceptUnderpaid } from '../../commands/payments/accept-underpaid';
import { advancePayment } from '../../commands/payments/advance';
import { cancelPayment } from '../../commands/payments/cancel';
import { refreshQuote } from '../../commands/payments/refresh-quote';
import { rejectCrossChain } from '../../commands/payments/reject-cross-chain';
import { requotePayment } from '../../commands/payments/requote';
import { selectCurrency } from '../../commands/payments/select-currency';
import { settleIfSwept } from '../../txmanager/settle';
import { sweepAgain } from '../../txmanager/sweep-again';
import type { PaymentDeps } from './deps';
import { nextOf } from '../../txmanager/estimate-gas';
import type { GasDeps } from '../../txmanager/gas-node';
import type { NextIntent } from '../../txmanager/next-intent';
import { queueSweep, type Queued } from '../../txmanager/queue-sweep';
import { settlementGas } from '../../txmanager/settlement-gas';
import { termsOf } from '../../txmanager/sweep-terms';

/** The activities of a payment. Each is safe to repeat: the row under its lock decides. */
export const paymentActivities = (deps: PaymentDeps) => {
  const { db } = deps;
  return {
    /** Takes every step that deposits, the chain's progress and the database's clock allow and that is no activity of
     *  its own, each in a transaction of its own. Returns a snapshot and what is next. Throws RATE_UNAVAILABLE
     *  (retried). */
    async advancePayment(id: string): Promise<PaymentSnapshot> {
      for (;;) {
        const snapshot = await db.transaction((tx) => advancePayment(tx, deps, id));
        await failPoint('move.afterCommit');
        if (snapshot.next !== 'advance') return snapshot;
      }
    },

    /** Row 6: a deposit came after the quote had ended; the missing part of the price gets a quote of that moment.
     *  Throws RATE_UNAVAILABLE (retried). */
    requotePayment: (id: string): Promise<PaymentSnapshot> => db.transaction((tx) => requotePayment(tx, deps, id)),

    /** Row 17: settles the payment when its sweeps are final. Where something else comes first, `advance` is next. */
    settlePayment: (id: string): Promise<PaymentSnapshot> => settlePayment(deps, id),

    /** Row 4. */
    cancelPayment: (id: string, by: 'payer' | 'merchant', reason?: string): Promise<Outcome> =>
      db.transaction((tx) => cancelPayment(tx, id, by, reason)),

    /** Rows 9 and 10. `deciderId`, here and below: who asked for it, as `keepDecider` has kept them. */
    acceptUnderpaid: (id: string, deciderId?: string): Promise<Outcome> =>
      db.transaction(async (tx) => acceptUnderpaid(tx, deps, id, await takeDecider(tx, id, deciderId))),

    /** Row 20. */
    acceptCrossChain: (id: string, deciderId?: string): Promise<Outcome> =>
      db.transaction(async (tx) => acceptCrossChain(tx, deps, id, await takeDecider(tx, id, deciderId))),

    /** Row 21. */
    rejectCrossChain: (id: string, deciderId?: string): Promise<Outcome> =>
      db.transaction(async (tx) => rejectCrossChain(tx, id, await takeDecider(tx, id, deciderId))),

    /** Row 3. */
    async selectCurrency(id: string, currency: Currency, by: 'payer' | 'merchant'): Promise<Outcome> {
      const outcome = await db.transaction((tx) => selectCurrency(tx, deps, id, currency, by));
      await failPoint('select.afterCommit');
      return outcome;
    },

    /** Row 6. */
    refreshQuote: (id: string): Promise<Outcome> => db.transaction((tx) => refreshQuote(tx, deps, id)),
  };
};

/** A payment that a sweep batch has dropped is swept alone. A repeat finds the payment settled. */
async function settlePayment({ db }: PaymentDeps, id: string): Promise<PaymentSnapshot> {
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

/** Plans what moves payments' money to its settlement. */
export const sweepActivities = ({ db, config, nodes }: Pick<PaymentDeps, 'db' | 'config'> & GasDeps) => ({
  /** Row 15: plans the payment's sweep, alone or with others that are ready, or says what it waits for. A repeat finds
   *  the same intents. */
  async queueSweep(paymentId: string): Promise<Queued> {
    const settlement = await settlementGas({ db, nodes }, paymentId);
    return db.transaction((tx) => queueSweep(tx, termsOf(config), paymentId, settlement));
  },

  /** The first intent of a payment's own sweep whose end is not booked; null when all are. */
  nextIntent: (paymentId: string): Promise<NextIntent> => nextOf({ db, nodes }, { kind: 'sweep', id: paymentId }),

  /** The intent of a batch, while its end is not booked. */
  nextBatchIntent: (batchId: string): Promise<NextIntent> =>
    nextOf({ db, nodes }, { kind: 'sweep-batch', id: batchId }),
});
