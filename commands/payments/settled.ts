import { settleJournal, type Journal } from '../../domain/ledger/ledger';
import type { PaymentRow } from '../../domain/payments/payment';
import { exchangeRateOf } from '../../domain/payments/payment-view';
import { splitPaid } from '../../domain/pricing/quote';
import type { PaymentPatch } from '../../db/payments/payments';

/** What a settlement stamps and books, whichever way the money came: swept, to an account that payments share, or by
 *  Lightning. */

/** `paid`: what has come, in the payment's currency. `value`: its fiat value, where deposits have rates of their own.
 *  `networkFee`: what it is charged for the chain, in its currency. */
type Settled = Readonly<{ paid: string; value: string | null; networkFee: string }>;

const splitOf = ({ currency, fee_bps }: PaymentRow, { paid, networkFee }: Settled) =>
  splitPaid(paid, currency!, fee_bps, networkFee);

/** The columns of the move to SETTLED. `at`: by the database's clock. */
export function settledPatch(payment: PaymentRow, settled: Settled, at: Date): PaymentPatch {
  const { fee, net } = splitOf(payment, settled);
  return {
    settled_fee_amount: fee,
    settled_net_amount: net,
    settled_stamp_incomplete: false,
    amount_paid: settled.paid,
    value_paid: settled.value,
    sweep_state: 'confirmed',
    settled_at: at,
  };
}

/** What the payment was paid at: the fiat value that arrived by what arrived. */
export const settledFiat = (
  payment: PaymentRow,
  { paid, value }: Settled,
): Readonly<{ fiatCurrency: string; fiatRate: string | null }> => ({
  fiatCurrency: payment.fiat_currency,
  fiatRate: exchangeRateOf({ ...payment, status: 'SETTLED', value_paid: value, amount_paid: paid }),
});

/** J2. */
export function settledJournal(payment: PaymentRow, settled: Settled): Journal {
  const { net, commission, network } = splitOf(payment, settled);
  return settleJournal({
    paymentId: payment.id,
    merchantId: payment.merchant_id,
    currency: payment.currency!,
    net,
    commission,
    network,
    txId: payment.tx_ids[0] ?? null,
    ...settledFiat(payment, settled),
  });
}
