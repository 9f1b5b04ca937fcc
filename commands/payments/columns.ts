import { compare } from '../../domain/money';
import type { Paid } from '../../domain/payments/facts';
import type { CrossOffer, PaymentRow } from '../../domain/payments/payment';
import { quote, splitPaid } from '../../domain/pricing/quote';
import type { PaymentPatch } from '../../db/payments/payments';
import type { Priced } from '../../domain/pricing/price';

/** The columns that change together. */

export const isSameNumber = (a: string | null, b: string | null): boolean =>
  a === null || b === null ? a === b : compare(a, b) === 0;

/** What has arrived, and the amount that the payer pays with it. */
export const paidColumns = (payment: PaymentRow, { amountPaid, value, amount, txIds }: Paid): PaymentPatch => ({
  amount_paid: amountPaid,
  value_paid: value,
  tx_ids: txIds,
  ...amountColumns(payment, amount),
});

/** Another amount, and the fees that come with it. */
export function amountColumns(payment: PaymentRow, amount: string | null): PaymentPatch {
  if (amount === null || isSameNumber(amount, payment.amount)) return {};
  const split = splitPaid(amount, payment.currency!, payment.fee_bps, payment.network_fee_amount ?? '0');
  return {
    amount,
    commission_amount: split.commission,
    network_fee_amount: split.network,
    fee_amount: split.fee,
    net_amount: split.net,
  };
}

export const quoteColumns = (priced: Pick<Priced, 'quote' | 'exchangeRate' | 'rateId' | 'nativeRate'>) => ({
  amount: priced.quote.amount,
  quote_amount: priced.quote.amount,
  commission_amount: priced.quote.commissionAmount,
  network_fee_amount: priced.quote.networkFeeAmount,
  fee_amount: priced.quote.feeAmount,
  net_amount: priced.quote.netAmount,
  exchange_rate: priced.exchangeRate,
  rate_id: priced.rateId,
  native_rate: priced.nativeRate,
});

/** The price of a payment in another asset. */
export const quoteInOffer = (payment: PaymentRow, { currency, exchangeRate, networkFee }: CrossOffer) =>
  quote({
    currency,
    fiatAmount: payment.fiat_amount,
    rate: exchangeRate,
    feeBps: payment.fee_bps,
    feeBearer: payment.fee_bearer,
    networkFee,
  });

/** A quote never outlives its payment. */
export const quoteEnd = (from: Date, ttlSeconds: number, expiresAt: Date): Date =>
  new Date(Math.min(from.getTime() + ttlSeconds * 1000, expiresAt.getTime()));
