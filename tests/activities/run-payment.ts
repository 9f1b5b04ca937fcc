import { paymentActivities } from '../../activities/payments/payments';
import type { PaymentDeps } from '../../activities/payments/deps';
import type { PaymentSnapshot } from '../../domain/payments/payment';

/** The activities of a payment, and `runPayment`: those that its workflow calls one after another until it waits for
 *  something to change or for its sweep to be queued. */
export function paymentsAt(deps: PaymentDeps) {
  const act = paymentActivities(deps);
  return {
    ...act,
    async runPayment(id: string): Promise<PaymentSnapshot> {
      for (let snapshot = await act.advancePayment(id); ;) {
        if (snapshot.next === 'advance') snapshot = await act.advancePayment(id);
        else if (snapshot.next === 'requote') snapshot = await act.requotePayment(id);
        else if (snapshot.next === 'settle') snapshot = await act.settlePayment(id);
        else return snapshot;
      }
    },
  };
}
