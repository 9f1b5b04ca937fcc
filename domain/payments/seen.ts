import { add, compare, fit } from '../money';
import type { PaymentRow } from './payment';

/** What the chain shows of a payment, whether or not its status counts it yet. Pure. */

/** A deposit in time that is on the chain or on its way there, and for which nothing was decided yet. `isOther`: of
 *  another coin, and confirmed, so that `receivedOther` lists it. */
export type SeenDeposit = Readonly<{ currency: string; amount: string; txId: string | null; isOther: boolean }>;

type Asked = Pick<PaymentRow, 'status' | 'currency' | 'amount_paid'>;

/** `amountSeen`: the sum in the payment's own coin. `seenOther`: deposits in other coins that wait for their
 *  confirmations. `paymentSeen`: money is there that the status does not count yet, so nothing may ask for more. */
export function seenOf(payment: Asked, deposits: readonly SeenDeposit[]) {
  const own = deposits.filter(({ currency }) => currency === payment.currency);
  const others = deposits.filter(({ currency }) => currency !== payment.currency);
  const sum = add('0', ...own.map(({ amount }) => amount));
  const isAsked = payment.status === 'WAITING' || payment.status === 'PARTIALLY_PAID';
  return {
    amountSeen: fit(sum, 18, 'down'),
    seenTxIds: own.flatMap(({ txId }) => txId ?? []),
    seenOther: others
      .filter(({ isOther }) => !isOther)
      .map(({ currency, amount, txId }) => ({ currency, amount: fit(amount, 18, 'down'), txId })),
    paymentSeen: isAsked && (compare(sum, payment.amount_paid) > 0 || others.length > 0),
  };
}
