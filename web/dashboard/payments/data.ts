import { client, payload } from '../api/client';
import { queryClient } from '../api/queries';
import { isFinal } from './status';

export const readPayment = (paymentId: string) =>
  payload(client.GET('/api/v1/payments/{paymentId}', { params: { path: { paymentId } } }));
export type Payment = Awaited<ReturnType<typeof readPayment>>;

/** What was changed by an act is read anew, in the lists too. */
export const renewPayment = async (): Promise<void> => {
  await Promise.all(
    ['payment', 'timeline', 'refunds', 'payments', 'payment-counts'].map((name) =>
      queryClient.invalidateQueries({ queryKey: [name] }),
    ),
  );
};

/** How often a payment is read: often while money may come, seldom when it is over. */
export const paceOf = (payment: Pick<Payment, 'status'> | undefined): number =>
  payment && isFinal(payment.status) ? 15_000 : 2500;
