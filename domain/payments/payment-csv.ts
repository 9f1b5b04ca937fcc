import { trim } from '../money';
import type { PaymentRow } from './payment';
import { exchangeRateOf, fiatAmounts, receivedFiat } from './payment-view';

/** A payment as a line of a table: amounts are exact decimals, times are ISO 8601 in UTC, lists are set apart by
 *  spaces, what there is not (yet) is empty. The names are those of the API. */

/** What a line is made of, all from the payment's own row. */
export const exportedColumns = [
  'id',
  'slug',
  'status',
  'exceptions',
  'source',
  'merchant_order_id',
  'order_id',
  'customer_id',
  'extra_id',
  'fiat_amount',
  'fiat_currency',
  'fee_bearer',
  'currency',
  'network',
  'amount',
  'amount_paid',
  'value_paid',
  'exchange_rate',
  'commission_amount',
  'network_fee_amount',
  'fee_amount',
  'net_amount',
  'settled_fee_amount',
  'settled_net_amount',
  'deposit_address',
  'destination_tag',
  'settlement_address',
  'tx_ids',
  'sweep_tx_id',
  'parent_payment_id',
  'original_currency',
  'original_amount',
  'created_at',
  'confirmed_at',
  'settled_at',
] as const satisfies ReadonlyArray<keyof PaymentRow>;
export type ExportedPayment = Pick<PaymentRow, (typeof exportedColumns)[number]>;

const exact = (amount: string | null): string => (amount === null ? '' : trim(amount));
const text = (value: string | null): string => value ?? '';
const iso = (time: Date | null): string => time?.toISOString() ?? '';

type Seen = ExportedPayment & Readonly<{ isSettled: boolean; fiat: ReturnType<typeof fiatAmounts> }>;

/** Fees and net are those of the settlement where there is one: `basis`. */
const cells: Readonly<Record<string, (p: Seen) => string>> = {
  paymentId: (p) => p.id,
  invoiceId: (p) => p.slug,
  createdAt: (p) => iso(p.created_at),
  confirmedAt: (p) => iso(p.confirmed_at),
  settledAt: (p) => iso(p.settled_at),
  status: (p) => p.status,
  exceptions: (p) => p.exceptions.join(' '),
  source: (p) => (p.source === 'api' ? 'api' : 'platform'),
  merchantOrderId: (p) => text(p.merchant_order_id),
  orderId: (p) => text(p.order_id),
  customerId: (p) => text(p.customer_id),
  extraId: (p) => text(p.extra_id),
  fiatCurrency: (p) => p.fiat_currency,
  fiatAmount: (p) => exact(p.fiat_amount),
  receivedFiat: (p) => receivedFiat(p),
  grossFiat: (p) => p.fiat.grossFiat ?? '',
  feeFiat: (p) => p.fiat.feeFiat ?? '',
  netFiat: (p) => p.fiat.netFiat ?? '',
  currency: (p) => text(p.currency),
  network: (p) => text(p.network),
  exchangeRate: (p) => exact(exchangeRateOf(p)),
  amount: (p) => exact(p.amount),
  amountPaid: (p) => exact(p.amount_paid),
  basis: (p) => (p.isSettled ? 'settled' : 'quoted'),
  feeAmount: (p) => exact(p.isSettled ? p.settled_fee_amount : p.fee_amount),
  netAmount: (p) => exact(p.isSettled ? p.settled_net_amount : p.net_amount),
  quotedFeeAmount: (p) => exact(p.fee_amount),
  quotedNetAmount: (p) => exact(p.net_amount),
  commissionAmount: (p) => exact(p.commission_amount),
  sweepCostCrypto: (p) => exact(p.network_fee_amount),
  feeBearer: (p) => p.fee_bearer,
  depositAddress: (p) => text(p.deposit_address),
  destinationTag: (p) => text(p.destination_tag),
  settlementAddress: (p) => text(p.settlement_address),
  txIds: (p) => p.tx_ids.join(' '),
  sweepTxId: (p) => text(p.sweep_tx_id),
  parentPaymentId: (p) => text(p.parent_payment_id),
  originalCurrency: (p) => text(p.original_currency),
  originalAmount: (p) => exact(p.original_amount),
};
const all = Object.values(cells);

export const paymentHead: readonly string[] = Object.keys(cells);
export function paymentLine(row: ExportedPayment): string[] {
  const isSettled = row.settled_fee_amount !== null && row.settled_net_amount !== null;
  const seen = { ...row, isSettled, fiat: fiatAmounts(row, isSettled) };
  return all.map((cell) => cell(seen));
}
