import { add, compare, fit, isZero } from '../money';
import { fiatValue } from '../pricing/quote';

/** What came to a payment in other coins than its own, and how much of all that came has been refunded. Pure. */

/** A confirmed deposit of another asset. `txId`: null where it was found by balance. `rate`: fiat per whole unit when
 *  it was noticed; null: none was known. */
export type OtherDeposit = Readonly<{ currency: string; amount: string; txId: string | null; rate: string | null }>;

export type ReceivedOther = Readonly<{
  currency: string;
  amount: string;
  txId: string | null;
  fiatValue: string | null;
}>;

const exact = (amount: string): string => fit(amount, 18, 'down');

/** As it is shown: exact amounts, and its value when it was noticed, rounded down. */
export const viewOther = (deposits: readonly OtherDeposit[], fiatCurrency: string): ReceivedOther[] =>
  deposits.map(({ currency, amount, txId, rate }) => ({
    currency,
    amount: exact(amount),
    txId,
    fiatValue: rate === null ? null : fiatValue(amount, rate, fiatCurrency, 'down'),
  }));

/** The hashes of all deposits, each once. */
export const allTxIds = (own: readonly string[], other: readonly OtherDeposit[]): string[] => [
  ...new Set([...own, ...other.flatMap(({ txId }) => txId ?? [])]),
];

/** Completed refunds by currency. */
export type RefundedAmounts = Readonly<Record<string, string>>;
type Shown = Readonly<{ currency: string | null; amount_paid: string }>;

/** Full: every coin that came has been refunded whole. No rate takes part, so that it cannot change afterwards. */
export function refundStatusOf(
  payment: Shown,
  other: readonly OtherDeposit[],
  refunded: RefundedAmounts,
): 'none' | 'partial' | 'full' {
  if (Object.values(refunded).every(isZero)) return 'none';
  const received: Record<string, string> = payment.currency === null ? {} : { [payment.currency]: payment.amount_paid };
  for (const { currency, amount } of other) received[currency] = add(received[currency] ?? '0', amount);
  const isFull = Object.entries(received).every(
    ([currency, amount]) => compare(refunded[currency] ?? '0', amount) >= 0,
  );
  return isFull ? 'full' : 'partial';
}

/** Refunds in the payment's currency, and those in others. */
export function refundsOf(payment: Shown, refunded: RefundedAmounts) {
  const own = payment.currency === null ? '0' : (refunded[payment.currency] ?? '0');
  const others = Object.entries(refunded).filter(([currency]) => currency !== payment.currency);
  return {
    refundedAmount: exact(own),
    refundedOther: others.map(([currency, amount]) => ({ currency, amount: exact(amount) })),
  };
}
