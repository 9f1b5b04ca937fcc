import { add, compare, isPositive } from '../money';
import type { ErrorCode } from '../errors';
import type { EventType } from '../webhooks/event-types';

/** Contract: 3.1, G1. The order is the life of a payment. */
export const paymentStatuses = [
  'AWAITING_CURRENCY',
  'WAITING',
  'PARTIALLY_PAID',
  'CROSS_CHAIN_PENDING',
  'CONFIRMING',
  'CONFIRMED',
  'SWEEP_QUEUED',
  'SETTLED',
  'EXPIRED',
  'CANCELLED',
  'FAILED',
] as const;
export type PaymentStatus = (typeof paymentStatuses)[number];
export const finalStatuses: readonly PaymentStatus[] = ['SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED'];
export const isFinal = (status: PaymentStatus): boolean => finalStatuses.includes(status);

/** Contract: G1. What was out of the ordinary, beside the status. */
export const paymentExceptions = [
  'underpaid',
  'overpaid',
  'paidLate',
  'wrongCurrency',
  'reorged',
  'amlFlagged',
] as const;
export type PaymentException = (typeof paymentExceptions)[number];

/** Contract: G4. One event per visible change. */
export type PaymentEventType = Extract<EventType, `payment.${string}`>;

/** A payment as Postgres keeps it; numerics are decimal strings, times are Dates. Column names are the table's. */
export type PaymentRow = {
  id: string;
  merchant_id: string;
  slug: string;
  status: PaymentStatus;
  state_version: number;
  exceptions: PaymentException[];
  source: 'api' | 'platform' | 'widget';
  idempotency_key: string | null;
  /** The widget whose checkout made it, and its type then; null: none. */
  widget_id: string | null;
  widget_type: 'payment' | 'donation' | null;
  /** Origin of the page that opened the checkout, where it stated one. */
  widget_origin: string | null;
  /** Tickers that the payer may choose from; null: all that the merchant takes. */
  allowed_currencies: string[] | null;
  merchant_order_id: string | null;
  /** What it is for, in words for the payer. */
  description: string | null;
  customer_id: string | null;
  extra_id: string | null;
  /** Raw JSON text, byte for byte as it came: select it as `metadata::text`. */
  metadata: string | null;
  order_id: string | null;
  ipn_callback_url: string | null;
  invoice_callback_url: string | null;
  invoice_cancel_url: string | null;
  fiat_amount: string;
  fiat_currency: string;
  fee_bearer: 'customer' | 'merchant';
  fee_bps: number;
  tolerance_pct: string;
  underpaid_policy: 'hold' | 'accept' | 'refund';
  currency: string | null;
  network: string | null;
  /** What the payer pays in all: what came, each part at its own quote, and the rest at the current one. */
  amount: string | null;
  /** Of the current quote; what was paid at: `exchangeRateOf` in domain/payments/payment-view.ts. */
  exchange_rate: string | null;
  /** The whole price at the current quote. */
  quote_amount: string | null;
  commission_amount: string | null;
  network_fee_amount: string | null;
  fee_amount: string | null;
  net_amount: string | null;
  rate_id: string | null;
  /** Units of `currency` per whole native unit of its network, at the quote. */
  native_rate: string | null;
  quoted_at: Date | null;
  /** Never after `expires_at`. */
  quote_expires_at: Date | null;
  required_confirmations: number | null;
  deposit_address: string | null;
  /** Of the payment, behind an address that many share. */
  destination_tag: string | null;
  settlement_address: string | null;
  custody: 'platform' | 'external' | null;
  expires_at: Date;
  expires_in: number;
  amount_paid: string;
  /** Fiat value of what arrived, each deposit at its own rate; null: all of it at `exchange_rate`. */
  value_paid: string | null;
  tx_ids: string[];
  settled_fee_amount: string | null;
  settled_net_amount: string | null;
  settled_stamp_incomplete: boolean;
  sweep_state: 'queued' | 'broadcast' | 'confirmed' | null;
  sweep_tx_id: string | null;
  address_role: 'primary' | 'repeat';
  parent_payment_id: string | null;
  child_deposit_id: string | null;
  /** The share of the price that counts as the whole since less was accepted. */
  accepted_share: string | null;
  auto_accept_cross_chain_hours: number | null;
  cross_offer: CrossOffer | null;
  cross_chain_auto_accept_at: Date | null;
  original_currency: string | null;
  original_amount: string | null;
  confirmed_at: Date | null;
  settled_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

/** Whether the widget that made the payment lets the payer choose `currency`; without a widget: any. */
export const isCurrencyAllowed = ({ allowed_currencies: allowed }: PaymentRow, currency: string): boolean =>
  allowed === null || allowed.includes(currency);

/** The columns of a new payment to which nothing has happened yet. */
export const untouched = {
  state_version: 1,
  exceptions: [],
  value_paid: null,
  settled_fee_amount: null,
  settled_net_amount: null,
  settled_stamp_incomplete: false,
  sweep_state: null,
  sweep_tx_id: null,
  accepted_share: null,
  cross_offer: null,
  cross_chain_auto_accept_at: null,
  original_currency: null,
  original_amount: null,
  confirmed_at: null,
  settled_at: null,
} satisfies Partial<PaymentRow>;

/** The moment after which a payment that is not confirmed fails. */
export const confirmDeadline = (expiresAt: Date, confirmLimitSeconds: number): Date =>
  new Date(expiresAt.getTime() + confirmLimitSeconds * 1000);

/** The moment after which another asset that nobody accepted fails its payment. */
export const crossDeadline = (expiresAt: Date): Date => new Date(expiresAt.getTime() + 24 * 3_600_000);

/** The statuses in which a payment may begin: rows 1, 2 and 18. */
export const firstStatuses: readonly PaymentStatus[] = ['WAITING', 'AWAITING_CURRENCY', 'CONFIRMING'];

/** Legal moves by status. `evaluate`, the commands of a payment and the guard in the database (db/functions) all obey
 *  them. Invariants: 3. */
export const legalMoves: Readonly<Record<PaymentStatus, readonly PaymentStatus[]>> = {
  AWAITING_CURRENCY: ['WAITING', 'CANCELLED', 'EXPIRED'],
  WAITING: ['WAITING', 'CANCELLED', 'EXPIRED', 'PARTIALLY_PAID', 'CONFIRMING', 'CROSS_CHAIN_PENDING'],
  PARTIALLY_PAID: ['CONFIRMING', 'FAILED', 'WAITING', 'EXPIRED', 'CROSS_CHAIN_PENDING'],
  CROSS_CHAIN_PENDING: ['CONFIRMING', 'FAILED', 'WAITING', 'EXPIRED', 'PARTIALLY_PAID'],
  CONFIRMING: ['CONFIRMED', 'PARTIALLY_PAID', 'WAITING', 'EXPIRED', 'FAILED'],
  CONFIRMED: ['SWEEP_QUEUED', 'CONFIRMING'],
  SWEEP_QUEUED: ['SETTLED', 'CONFIRMING'],
  SETTLED: [],
  EXPIRED: [],
  CANCELLED: [],
  FAILED: [],
};

/** What is still missing until the amount is paid; '0' when nothing is. */
export function remaining(amount: string | null, paid: string): string {
  if (amount === null || compare(amount, paid) <= 0) return '0';
  return add(amount, `-${paid}`);
}
/** What came above the amount; '0' when nothing did. */
export function excess(amount: string | null, paid: string): string {
  if (amount === null || !isPositive(paid) || compare(paid, amount) <= 0) return '0';
  return add(paid, `-${amount}`);
}

/** What the workflow does next with a payment: an activity, or `wait` until something changes, or `end`. */
export type NextStep = 'advance' | 'requote' | 'queueSweep' | 'settle' | 'wait' | 'end';
/** A payment as its workflow and the query see it. `lookAgainInMs`: without a signal, look again after this time. */
export type PaymentSnapshot = Readonly<{
  status: PaymentStatus;
  stateVersion: number;
  next: NextStep;
  lookAgainInMs: number;
  /** What has come, with its transactions, in words for operators; none where nothing has, and from older releases. */
  received?: string;
  /** The transactions that brought it, the first ones of many; as `received`. */
  txIds?: readonly string[];
}>;
/** The answer of an update: what was refused is refused by code, never by a failed workflow. `isRepeated`: somebody has
 *  done the same before, and nothing has changed. */
export type Outcome = Readonly<{ status: PaymentStatus; refused?: ErrorCode; isRepeated?: true }>;

/** The price of another asset that came, when it was noticed. Decimal strings, as in `Price` of
 *  db/pricing/pricing.ts. */
export type CrossOffer = Readonly<{
  currency: string;
  rateId: string;
  exchangeRate: string;
  nativeRate: string;
  networkFee: string;
}>;
