import { withRaw } from './json-text';
import { shown } from './shown';
import { add, compare, divide, fit, isPositive, isZero, subtract, times } from '../money';
import { crossDeadline, excess, isFinal, remaining, type PaymentRow } from './payment';
import {
  allTxIds,
  refundsOf,
  refundStatusOf,
  viewOther,
  type OtherDeposit,
  type RefundedAmounts,
} from './received-other';
import { fiatValue, fitFiat } from '../pricing/quote';
import type { Explorers } from '../chains/chosen-chain';
import type { InvoiceBranding } from '../branding/branding';
import type { Payer } from './payer';
import { seenOf, type SeenDeposit } from './seen';
import type { RefundStatus } from '../refunds/refund';
import type { Screen } from '../screening/screening';

/** How payments look from outside. Numerics of the row come as Postgres prints them; what the specification calls
 *  `number` is turned into one here, at the edge, and nowhere else. */

/** What a payment shows of its newest screen. Contract: 2.2. */
export type AmlSummary = Pick<Screen, 'status' | 'riskScore' | 'checkedAt'>;

/** What a view needs beside the row. */
export type PaymentNow = Readonly<{
  /** Whether its instance is a live one. */
  livemode: boolean;
  /** Of the youngest counted deposit. */
  confirmations: number;
  /** Payments that repeat deposits to this address made, oldest first. */
  childIds: readonly string[];
  /** null: none was made yet. */
  aml: AmlSummary | null;
  /** Confirmed deposits of other assets, oldest first. */
  other: readonly OtherDeposit[];
  refunded: RefundedAmounts;
}>;

const exact = (amount: string): string => fit(amount, 18, 'down');
const given = <T>(value: T | null): T | undefined => value ?? undefined;
const iso = (time: Date | null): string | undefined => time?.toISOString();

/** Path of the hosted invoice; the checkout's base address stands before it. Contract: 2.2. */
const invoicePath = (slug: string): string => `/i/${slug}`;

type FiatFigure = 'grossFiat' | 'commissionFiat' | 'networkFeeFiat' | 'feeFiat' | 'netFiat';
type Priced = Pick<
  PaymentRow,
  | 'status'
  | 'exchange_rate'
  | 'value_paid'
  | 'commission_amount'
  | 'network_fee_amount'
  | 'settled_fee_amount'
  | 'fiat_amount'
  | 'fiat_currency'
  | 'fee_bearer'
  | 'amount'
  | 'amount_paid'
>;

/** Statuses in which the price is still asked for, at the current quote. */
const askedStatuses: readonly string[] = ['AWAITING_CURRENCY', 'WAITING', 'PARTIALLY_PAID', 'CROSS_CHAIN_PENDING'];

/** The rate of the current quote while the payment is asked for; then the one it was paid at: fiat value received by
 *  amount paid. */
export function exchangeRateOf(
  row: Pick<PaymentRow, 'status' | 'exchange_rate' | 'value_paid' | 'amount_paid'>,
): string | null {
  if (row.value_paid === null || !isPositive(row.amount_paid) || askedStatuses.includes(row.status))
    return row.exchange_rate;
  return divide(row.value_paid, row.amount_paid, 18, 'down');
}

/** Gross, fee and net in fiat, always gross = fee + net; fees rounded up. feeBearer `customer`: net is the whole price
 *  and the fee comes on top. Contract: 2.2, fee rules 3–4. */
export function fiatAmounts(row: Priced, isSettled: boolean): Partial<Record<FiatFigure, string>> {
  const rate = exchangeRateOf(row);
  if (rate === null || row.commission_amount === null || row.network_fee_amount === null) return {};
  const inFiat = (amount: string, rounding: 'up' | 'down' = 'up') =>
    fiatValue(amount, rate, row.fiat_currency, rounding);
  const commission = inFiat(row.commission_amount);
  const network = inFiat(row.network_fee_amount);
  const fee = isSettled ? inFiat(row.settled_fee_amount ?? '0') : add(commission, network);
  const parts = isSettled ? {} : { commissionFiat: commission, networkFeeFiat: network };
  const price = fitFiat(row.fiat_amount, row.fiat_currency);
  if (row.fee_bearer === 'customer') return { grossFiat: add(price, fee), ...parts, feeFiat: fee, netFiat: price };
  const isOtherAmount = isSettled && row.amount !== null && compare(row.amount_paid, row.amount) !== 0;
  const gross = isOtherAmount ? inFiat(row.amount_paid, 'down') : price;
  const kept = compare(fee, gross) > 0 ? gross : fee;
  return { grossFiat: gross, ...parts, feeFiat: kept, netFiat: subtract(gross, kept) };
}

const fiatFigures = (row: Priced, isSettled: boolean): Partial<Record<FiatFigure, number>> =>
  Object.fromEntries(Object.entries(fiatAmounts(row, isSettled)).map(([name, amount]) => [name, shown(amount)]));

/** What arrived, in fiat, each deposit at its own rate, rounded down. */
export function receivedFiat(row: Priced): string {
  if (row.value_paid !== null) return fitFiat(row.value_paid, row.fiat_currency);
  return row.exchange_rate === null ? '0' : fiatValue(row.amount_paid, row.exchange_rate, row.fiat_currency, 'down');
}

/** When a payment in another coin fails unless the merchant accepts it; null where it is accepted by itself. Row 21. */
const rejectedAt = (row: PaymentRow): Date | null =>
  row.status === 'CROSS_CHAIN_PENDING' && row.cross_chain_auto_accept_at === null
    ? crossDeadline(row.expires_at)
    : null;

/** What the payer was asked for, in fiat: what arrived at its own rates, what is missing at the current quote, without
 *  what is too much. Rounded as `receivedFiat` is, so that the two are equal for an invoice paid
 *  exactly. Contract: 4.5. */
function invoicedFiat(row: Priced): string {
  const rate = row.exchange_rate;
  if (row.amount === null || rate === null) return fitFiat(row.fiat_amount, row.fiat_currency);
  const paid = row.value_paid ?? times(row.amount_paid, rate, 36, 'down');
  const missing = times(remaining(row.amount, row.amount_paid), rate, 36, 'down');
  const tooMuch = times(excess(row.amount, row.amount_paid), exchangeRateOf(row) ?? rate, 36, 'down');
  return fitFiat(subtract(add(paid, missing), tooMuch), row.fiat_currency);
}

/** A payment as `GET /api/v1/payments/{id}` and the events show it, all but `metadata`, which is never parsed: see
 *  `paymentJson`. What does not apply (yet) is absent. Contract: 2.2, G1. */
export function viewPayment(row: PaymentRow, now: PaymentNow) {
  const isSettled = row.settled_fee_amount !== null && row.settled_net_amount !== null;
  const number = (amount: string | null, rounding?: 'up' | 'down') =>
    amount === null ? undefined : shown(amount, rounding);
  return {
    _id: row.id,
    status: row.status,
    stateVersion: row.state_version,
    exceptions: row.exceptions,
    livemode: now.livemode,
    currency: given(row.currency),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    expiresAt: row.currency === null ? undefined : iso(row.expires_at),
    quoteExpiresAt: iso(row.quote_expires_at),
    amount: number(row.amount, 'up'),
    amountPaid: shown(row.amount_paid, 'down'),
    amountRemaining: row.amount === null ? undefined : exact(remaining(row.amount, row.amount_paid)),
    overpaidAmount: row.amount === null ? undefined : exact(excess(row.amount, row.amount_paid)),
    fiatAmount: shown(row.fiat_amount),
    fiatCurrency: row.fiat_currency,
    exchangeRate: number(exchangeRateOf(row)),
    basis: isSettled ? 'settled' : 'quoted',
    feeAmount: number(isSettled ? row.settled_fee_amount : row.fee_amount, 'up'),
    quotedFeeAmount: isSettled ? number(row.fee_amount, 'up') : undefined,
    commissionAmount: number(row.commission_amount, 'up'),
    sweepCostCrypto: number(row.network_fee_amount, 'up'),
    netAmount: number(isSettled ? row.settled_net_amount : row.net_amount, 'down'),
    quotedNetAmount: isSettled ? number(row.net_amount, 'down') : undefined,
    settledFeeAmount: number(row.settled_fee_amount, 'up'),
    settledNetAmount: number(row.settled_net_amount, 'down'),
    settledStampIncomplete: row.settled_stamp_incomplete ? true : undefined,
    ...fiatFigures(row, isSettled),
    feeBearer: row.fee_bearer,
    publicKey: given(row.deposit_address),
    destinationTag: given(row.destination_tag),
    addressRole: row.address_role,
    merchantSettlementAddress: given(row.settlement_address),
    txIds: allTxIds(row.tx_ids, now.other),
    receivedOther: viewOther(now.other, row.fiat_currency),
    confirmations: now.confirmations,
    requiredConfirmations: given(row.required_confirmations),
    sweep: row.sweep_state === null ? undefined : { state: row.sweep_state, txId: row.sweep_tx_id },
    refundStatus: refundStatusOf(row, now.other, now.refunded),
    ...refundsOf(row, now.refunded),
    parentPaymentId: given(row.parent_payment_id),
    repeatDepositChildIds: now.childIds,
    crossChainAutoAcceptAt: iso(row.cross_chain_auto_accept_at),
    crossChainRejectAt: iso(rejectedAt(row)),
    originalCurrency: given(row.original_currency),
    originalAmount: row.original_amount === null ? undefined : exact(row.original_amount),
    source: row.source === 'api' ? 'api' : 'platform',
    idempotencyKey: given(row.idempotency_key),
    shortSlug: row.slug,
    invoiceUrl: invoicePath(row.slug),
    aml: given(now.aml),
    merchantOrderId: given(row.merchant_order_id),
    description: given(row.description),
    customerId: given(row.customer_id),
    extraId: given(row.extra_id),
  };
}

/** The same as JSON text, with `metadata` byte for byte as it came. Events store exactly this, GET answers exactly
 *  this. */
export const paymentJson = (row: PaymentRow, now: PaymentNow): string =>
  withRaw(viewPayment(row, now), 'metadata', row.metadata);

/** A row of the payment list: the payment and its fiat summary. `invoicedFiat`: what the payer was asked for;
 *  `receivedFiat`: what arrived, each deposit at its own rate, rounded down. Contract: 4.5. */
export function paymentListJson(row: PaymentRow, now: PaymentNow): string {
  const view = {
    ...viewPayment(row, now),
    invoicedFiat: shown(invoicedFiat(row)),
    receivedFiat: shown(receivedFiat(row)),
  };
  return withRaw(view, 'metadata', row.metadata);
}

/** The answer to a creation, and to the choice of a currency. Without a currency `amount` is the fiat price.
 *  Contract: 2.3. */
export function viewCreated(row: PaymentRow) {
  const common = { invoiceUrl: invoicePath(row.slug), status: row.status };
  if (row.currency === null) return { paymentId: row.id, amount: shown(row.fiat_amount), ...common };
  return {
    paymentId: row.id,
    depositAddress: given(row.deposit_address),
    destinationTag: given(row.destination_tag),
    amount: shown(row.amount!, 'up'),
    feeAmount: shown(row.settled_fee_amount ?? row.fee_amount!, 'up'),
    netAmount: shown(row.settled_net_amount ?? row.net_amount!, 'down'),
    expiresAt: row.expires_at.toISOString(),
    quoteExpiresAt: iso(row.quote_expires_at),
    currency: row.currency,
    ...common,
  };
}

const paidStatuses = ['CONFIRMED', 'SWEEP_QUEUED', 'SETTLED'];
const endings: Readonly<Record<string, string>> = { EXPIRED: 'expired', FAILED: 'failed', CANCELLED: 'cancelled' };

/** Where the payer goes on from here: the merchant's address with the outcome appended, or null while there is none.
 *  Contract: 2.11, redirect contract. */
export function redirectUrl(row: PaymentRow): string | null {
  const isPaid = paidStatuses.includes(row.status);
  const outcome = isPaid ? 'paid' : endings[row.status];
  const target = isPaid ? row.invoice_callback_url : (row.invoice_cancel_url ?? row.invoice_callback_url);
  if (!outcome || !target) return null;
  const [base = '', fragment] = target.split('#', 2);
  const joint = base.includes('?') ? (base.endsWith('?') || base.endsWith('&') ? '' : '&') : '?';
  const widget =
    row.widget_id === null ? '' : `&source=widget&widget_id=${row.widget_id}&widget_type=${row.widget_type}`;
  const end = fragment === undefined ? '' : `#${fragment}`;
  return `${base}${joint}status=${outcome}&invoice_id=${row.slug}${widget}${end}`;
}

/** Where a refund by policy would go, and whether that can still be said. */
const refundTarget = (row: PaymentRow, { payer, isLocked }: Readonly<{ payer: Payer; isLocked: boolean }>) => ({
  refundAddress: payer.to?.address ?? null,
  refundDestinationTag: payer.to?.destinationTag ?? null,
  refundContested: payer.isContested,
  refundAddressLocked: isLocked || !(row.status === 'WAITING' || row.status === 'AWAITING_CURRENCY'),
});

/** What a view of an invoice needs beside the row. */
type InvoiceNow = Readonly<{
  livemode: boolean;
  confirmations: number;
  other: readonly OtherDeposit[];
  merchantName: string;
  serverTime: Date;
  /** Opens a wallet; `amount` in whole units. */
  paymentUri: (to: Readonly<{ address: string; tag: string | null }>, currency: string, amount: string) => string;
  /** Where the refund of what came too short stands, if the policy has opened one. */
  underpaidRefund: RefundStatus | null;
  /** The node of the network stands still: what the payer sends is seen later. */
  isDelayed: boolean;
  payer: Payer;
  isLocked: boolean;
  seen: readonly SeenDeposit[];
  refunded: RefundedAmounts;
  branding: InvoiceBranding;
  thankYouText: string | null;
  explorers: Explorers;
}>;

/** What a payer may know of an invoice: no metadata, no fees, no net, no settlement address, nothing of a screen.
 *  Contract: 4.5, G2. */
export function viewInvoice(row: PaymentRow, now: InvoiceNow) {
  const { seenTxIds, ...seen } = seenOf(row, now.seen);
  const rate = exchangeRateOf(row);
  const left = row.amount === null ? null : exact(remaining(row.amount, row.amount_paid));
  // While another coin waits for the merchant, or money waits to be counted, nothing leads to paying once more.
  const isPayable =
    !seen.paymentSeen &&
    row.currency !== null &&
    row.deposit_address !== null &&
    !isFinal(row.status) &&
    row.status !== 'CROSS_CHAIN_PENDING';
  return {
    invoiceId: row.slug,
    livemode: now.livemode,
    status: row.status,
    exceptions: row.exceptions.filter((exception) => exception !== 'amlFlagged'),
    stateVersion: row.state_version,
    serverTime: now.serverTime.toISOString(),
    merchantName: now.merchantName,
    merchantOrderId: row.merchant_order_id,
    description: row.description,
    branding: now.branding,
    thankYouText: paidStatuses.includes(row.status) ? now.thankYouText : null,
    fiatAmount: shown(row.fiat_amount),
    fiatCurrency: row.fiat_currency,
    currency: row.currency,
    network: row.network,
    exchangeRate: rate === null ? null : exact(rate),
    amount: row.amount === null ? null : exact(row.amount),
    amountPaid: exact(row.amount_paid),
    amountRemaining: left,
    ...seen,
    overpaidAmount: exact(excess(row.amount, row.amount_paid)),
    depositAddress: row.deposit_address,
    destinationTag: row.destination_tag,
    paymentUri: isPayable
      ? now.paymentUri(
          { address: row.deposit_address!, tag: row.destination_tag },
          row.currency!,
          isZero(left ?? '0') ? exact(row.amount!) : left!,
        )
      : null,
    createdAt: row.created_at.toISOString(),
    paidAt: iso(row.confirmed_at) ?? null,
    refundedAmount: refundsOf(row, now.refunded).refundedAmount,
    expiresAt: row.currency === null ? null : row.expires_at.toISOString(),
    quoteExpiresAt: iso(row.quote_expires_at) ?? null,
    confirmations: Math.min(now.confirmations, row.required_confirmations ?? now.confirmations),
    requiredConfirmations: row.required_confirmations,
    txIds: allTxIds([...row.tx_ids, ...seenTxIds], now.other),
    explorerTxUrls: now.explorers,
    receivedOther: viewOther(now.other, row.fiat_currency),
    crossChainAutoAcceptAt: iso(row.cross_chain_auto_accept_at) ?? null,
    crossChainRejectAt: iso(rejectedAt(row)) ?? null,
    cancellable:
      (row.status === 'WAITING' || row.status === 'AWAITING_CURRENCY') && isZero(row.amount_paid) && !seen.paymentSeen,
    redirectUrl: redirectUrl(row),
    underpaidRefund: now.underpaidRefund,
    networkDelayed: now.isDelayed && !isFinal(row.status),
    ...refundTarget(row, now),
  };
}
export type InvoiceView = ReturnType<typeof viewInvoice>;
