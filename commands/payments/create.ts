import type { DataSource } from 'typeorm';
import type { Merchant } from '../../domain/access/access';
import { findAsset, networkOf, type Asset, type NetworkId } from '../../domain/chains/assets';
import { checkCallbackUrl } from '../../domain/webhooks/callback-url';
import type { ChainCodec } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { newId, newSlug } from '../../domain/ids';
import { paymentJson } from '../../domain/payments/payment-view';
import { untouched, type PaymentRow } from '../../domain/payments/payment';
import { receiverAt } from '../../domain/payments/receiver';
import { fiatPrice, fitFiat } from '../../domain/pricing/quote';
import { traceparentNow } from '../../domain/tracing';
import { originNow } from '../../db/origin';
import { noteCommitted } from '../../db/webhooks/emitted';
import { deliveryId, eventId } from '../../db/webhooks/events';
import { failPoint } from '../../db/fail-point';
import { openInTurn, type OpenedPayment } from '../../db/payments/open';
import { requiredDepth } from '../../db/payments/payments';
import { noLiveKey } from '../../db/recovery/live-key';
import { readPayment } from '../../db/payments/payment-queries';
import { prepared } from '../../db/query';
import { creationRefused } from '../../domain/payments/creation-refusals';
import { priceOf, pricingSql, quoteAt, type PricingRow, type Queryable } from '../../db/pricing/pricing';

export type OpenPaymentDeps = Readonly<{
  db: DataSource;
  codecs: Readonly<Record<NetworkId, Pick<ChainCodec, 'derive'>>>;
  settings: Readonly<{
    rateMaxAgeSeconds: number;
    quoteTtlSeconds: number;
    defaultExpiresIn: number;
    openPaymentsQuota: number;
    openCheckoutsQuota: number;
    allowInsecureCallbacks: boolean;
    /** Depth per network in place of the registry's. */
    confirmations: Readonly<Record<string, number>>;
    /** Whether the instance is a live one. */
    livemode: boolean;
  }>;
}>;

/** A creation, its shape already checked. */
export type NewPayment = Readonly<{
  /** Fiat, in the merchant's display currency, as a decimal string. */
  amount: string;
  currency?: string;
  source: 'api' | 'platform' | 'widget';
  idempotencyKey: string | null;
  merchantOrderId?: string;
  /** For the payer. */
  description?: string;
  customerId?: string;
  extraId?: string;
  /** Raw JSON text. */
  metadata: string | null;
  /** What a donor said of themselves, as JSON: kept apart, shown as `metadata.donor`. */
  donor?: string;
  orderId: string | null;
  ipnCallbackUrl?: string;
  invoiceCallbackUrl?: string;
  invoiceCancelUrl?: string;
  expiresIn?: number;
  /** The widget whose checkout it is. */
  widget?: Readonly<{
    id: string;
    type: 'payment' | 'donation';
    origin: string | null;
    /** Null: all that the merchant takes. */
    allowedCurrencies: readonly string[] | null;
  }>;
}>;

/** How long a payer may take to choose a currency. */
const choiceSeconds = 7200;
/** Contract: 8. */
const metadataLimit = 8192;

type ContextRow = PricingRow & {
  xpub: string | null;
  branch: number | null;
  key_index: string | null;
  existing_id: string | null;
};

/** What is read of a currency that is not chosen yet. */
const unpriced = {
  rate_id: null,
  rate: null,
  native_rate: null,
  unit_price: null,
  is_fresh: null,
  settlement_address: null,
  custody: null,
  xpub: null,
  branch: null,
  key_index: null,
};

/** All that a creation reads, in one round trip: the clock, the price, the wallet, the next key and an earlier payment
 *  with the same key. An index that is drawn and not used stays unused: addresses are never given twice. */
async function readContext(
  db: DataSource,
  merchant: Merchant,
  asset: Asset | undefined,
  idempotencyKey: string | null,
  maxAge: number,
): Promise<ContextRow> {
  const existing = `LEFT JOIN payment e ON e.merchant_id = $1 AND e.idempotency_key = $2::text`;
  if (!asset) {
    const [row] = await prepared(db, 'creation-without-currency').query<Array<Pick<ContextRow, 'now' | 'existing_id'>>>(
      `SELECT clock_timestamp() AS now, e.id AS existing_id FROM (SELECT) one ${existing}`,
      [merchant.id, idempotencyKey],
    );
    return { ...unpriced, ...row! };
  }
  const { columns, joins } = pricingSql({ currency: '$3', native: '$4', network: '$5', fiat: '$6', age: '$7' });
  const [row] = await prepared(db, 'creation-with-currency').query<ContextRow[]>(
    `SELECT clock_timestamp() AS now, e.id AS existing_id, ${columns}, w.settlement_address, w.custody,
            k.xpub, k.branch,
            CASE WHEN e.id IS NULL AND w.id IS NOT NULL AND k.xpub IS NOT NULL
                 THEN nextval(format('key_index_%s_deposit', k.sequence_of)::regclass)::text END AS key_index
       FROM (SELECT) one ${joins}
       LEFT JOIN merchant_wallet w ON w.merchant_id = $1 AND w.currency = $3 AND w.is_active
       LEFT JOIN live_key k ON k.network = $5 AND k.role = 'deposit' ${existing}`,
    [
      merchant.id,
      idempotencyKey,
      asset.currency,
      networkOf(asset.currency).native,
      asset.network,
      merchant.displayCurrency,
      maxAge,
    ],
  );
  return row!;
}

/** The columns a currency brings. Throws RATE_UNAVAILABLE, PAYMENT_CREATION_FAILED, UPSTREAM_UNAVAILABLE. */
function lockCurrency(
  deps: OpenPaymentDeps,
  merchant: Merchant,
  asset: Asset,
  context: ContextRow,
  fiat: string,
  expiresIn: number,
) {
  if (context.settlement_address === null) throw creationRefused('NO_WALLET', { currency: asset.currency });
  const priced = quoteAt(priceOf(context, asset.currency), {
    currency: asset.currency,
    fiatAmount: fiat,
    fiat: merchant.displayCurrency,
    feeBps: merchant.feeBps,
    feeBearer: merchant.feeBearer,
  });
  const { xpub, branch } = context;
  if (xpub === null || branch === null || context.key_index === null) throw noLiveKey(asset.network, 'deposit');
  const keyIndex = parseInt(context.key_index, 10);
  const receiver = receiverAt(deps.codecs[asset.network], asset.network, { xpub, branch, index: keyIndex });
  return {
    address: { network: asset.network, branch, ...receiver },
    columns: {
      currency: asset.currency,
      network: asset.network,
      amount: priced.quote.amount,
      quote_amount: priced.quote.amount,
      exchange_rate: priced.exchangeRate,
      commission_amount: priced.quote.commissionAmount,
      network_fee_amount: priced.quote.networkFeeAmount,
      fee_amount: priced.quote.feeAmount,
      net_amount: priced.quote.netAmount,
      rate_id: priced.rateId,
      native_rate: priced.nativeRate,
      quoted_at: context.now,
      quote_expires_at: new Date(context.now.getTime() + Math.min(deps.settings.quoteTtlSeconds, expiresIn) * 1000),
      required_confirmations: requiredDepth(asset.network, deps.settings.confirmations),
      deposit_address: receiver.address,
      destination_tag: receiver.tag,
      settlement_address: priced.settlementAddress,
      custody: priced.custody,
    },
  };
}

const noCurrency = {
  currency: null,
  network: null,
  amount: null,
  quote_amount: null,
  exchange_rate: null,
  commission_amount: null,
  network_fee_amount: null,
  fee_amount: null,
  net_amount: null,
  rate_id: null,
  native_rate: null,
  quoted_at: null,
  quote_expires_at: null,
  required_confirmations: null,
  deposit_address: null,
  destination_tag: null,
  settlement_address: null,
  custody: null,
};

function checkTargets(deps: OpenPaymentDeps, merchant: Merchant, input: NewPayment): void {
  if (input.metadata !== null && Buffer.byteLength(input.metadata) > metadataLimit)
    throw new DomainError('METADATA_TOO_LARGE');
  const rules = {
    allowedDomains: merchant.callbackDomains,
    allowInsecure: deps.settings.allowInsecureCallbacks,
  };
  for (const property of ['ipnCallbackUrl', 'invoiceCallbackUrl', 'invoiceCancelUrl'] as const) {
    const url = input[property];
    if (url !== undefined) checkCallbackUrl(url, property, { ...rules, isForBrowsers: property !== 'ipnCallbackUrl' });
  }
}

/** Opens a payment: its row, address, timeline entry, event and the request for its workflow are one commit, in two
 *  round trips; others of the merchant share the commit where they come at once. The same idempotency key finds the first payment, whatever else is asked. Throws RATE_UNAVAILABLE,
 *  METADATA_TOO_LARGE, CALLBACK_NOT_HTTPS, CALLBACK_INTERNAL, and PAYMENT_CREATION_FAILED with the reason in `details`.
 *  Contract: 4.5; Invariants: 5. */
export async function openPayment(
  deps: OpenPaymentDeps,
  merchant: Merchant,
  input: NewPayment,
): Promise<{ row: PaymentRow; replayed: boolean }> {
  const asset = input.currency === undefined ? undefined : findAsset(input.currency.toUpperCase());
  const { settings, db } = deps;
  const context = await readContext(db, merchant, asset, input.idempotencyKey, settings.rateMaxAgeSeconds);
  if (context.existing_id !== null) return { row: await replay(db, merchant, context.existing_id), replayed: true };
  checkTargets(deps, merchant, input);
  if (input.currency !== undefined && !asset) throw creationRefused('UNKNOWN_CURRENCY', { currency: input.currency });
  const allowed = input.widget?.allowedCurrencies ?? null;
  if (asset && allowed && !allowed.includes(asset.currency))
    throw creationRefused('CURRENCY_NOT_ALLOWED', { currency: asset.currency });

  const id = newId();
  const fiat = fiatPrice(input.amount, merchant.displayCurrency);
  const expiresIn = input.expiresIn ?? merchant.defaultExpiresIn ?? settings.defaultExpiresIn;
  const locked = asset ? lockCurrency(deps, merchant, asset, context, fiat, expiresIn) : null;
  const row: PaymentRow = {
    id,
    merchant_id: merchant.id,
    slug: newSlug(),
    ...untouched,
    status: locked ? 'WAITING' : 'AWAITING_CURRENCY',
    source: input.source,
    idempotency_key: input.idempotencyKey,
    widget_id: input.widget?.id ?? null,
    widget_type: input.widget?.type ?? null,
    widget_origin: input.widget?.origin ?? null,
    allowed_currencies: allowed && [...allowed],
    merchant_order_id: input.merchantOrderId ?? null,
    description: input.description?.trim() || null,
    customer_id: input.customerId ?? null,
    extra_id: input.extraId ?? null,
    metadata: input.metadata,
    order_id: input.orderId,
    ipn_callback_url: input.ipnCallbackUrl ?? null,
    invoice_callback_url: input.invoiceCallbackUrl ?? null,
    invoice_cancel_url: input.invoiceCancelUrl ?? null,
    fiat_amount: fiat,
    fiat_currency: merchant.displayCurrency,
    fee_bearer: merchant.feeBearer,
    fee_bps: merchant.feeBps,
    tolerance_pct: merchant.tolerancePct,
    auto_accept_cross_chain_hours: merchant.autoAcceptCrossChainHours,
    underpaid_policy: merchant.underpaidPolicy,
    ...(locked?.columns ?? noCurrency),
    expires_at: new Date(context.now.getTime() + (locked ? expiresIn : choiceSeconds) * 1000),
    expires_in: expiresIn,
    amount_paid: '0',
    tx_ids: [],
    address_role: 'primary',
    parent_payment_id: null,
    child_deposit_id: null,
    created_at: context.now,
    updated_at: context.now,
  };
  await failPoint('create.beforeCommit');
  const quota = input.widget ? settings.openCheckoutsQuota : (merchant.openPaymentsQuota ?? settings.openPaymentsQuota);
  const written = await write(db, merchant, row, {
    address: locked?.address ?? null,
    quota,
    donor: input.donor,
    livemode: settings.livemode,
  });
  await failPoint('create.afterCommit');
  // Two with one key at once: the other was first.
  if (written.replayed) return { row: await replay(db, merchant, written.payment_id), replayed: true };
  return { row, replayed: false };
}

async function replay(db: Queryable, merchant: Merchant, id: string): Promise<PaymentRow> {
  const found = await readPayment(db, merchant.id, id);
  if (!found) throw new DomainError('INTERNAL_ERROR', `Payment ${id} of a known idempotency key is gone`);
  return found.row;
}

async function write(
  db: DataSource,
  merchant: Merchant,
  row: PaymentRow,
  {
    address,
    quota,
    donor,
    livemode,
  }: Readonly<{
    address: Readonly<Record<string, unknown>> | null;
    quota: number;
    donor: string | undefined;
    livemode: boolean;
  }>,
): Promise<OpenedPayment> {
  const { metadata, ...columns } = row;
  const event = eventId(row.id, 1, 'payment.created');
  const hasDelivery = row.ipn_callback_url !== null && merchant.ipnEnabled;
  const data = paymentJson(row, { livemode, confirmations: 0, childIds: [], aml: null, other: [], refunded: {} });
  const requestId = originNow().requestId ?? null;
  const traceparent = traceparentNow();
  try {
    // A group locks what the first of it has locked: all of one widget, or none of any.
    const written = await openInTurn(db, row.widget_id ?? merchant.id, {
      payment: JSON.stringify({ ...columns, donor, request_id: requestId, traceparent: traceparent ?? undefined }),
      metadata,
      address: address === null ? null : JSON.stringify(address),
      eventId: event,
      eventData: data,
      deliveryId: hasDelivery ? deliveryId(event, 'ipn') : null,
      attributes: JSON.stringify(operatorView(row)),
      quota,
    });
    if (!written.replayed)
      noteCommitted(db, {
        id: event,
        type: 'payment.created',
        merchantId: merchant.id,
        entityId: row.id,
        requestId,
        traceparent,
        data,
      });
    return written;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'CP005') throw creationRefused(row.widget_id === null ? 'QUOTA_REACHED' : 'WIDGET_QUOTA_REACHED');
    if (code === 'CP007') throw noLiveKey(row.network!, 'deposit');
    throw error;
  }
}

/** How operators find the payment's workflow (search attributes) and what they read first (`summary`). */
export const operatorView = (
  row: Pick<
    PaymentRow,
    'id' | 'merchant_id' | 'status' | 'currency' | 'fiat_amount' | 'fiat_currency' | 'merchant_order_id'
  >,
): Readonly<Record<string, string>> => ({
  PaymentId: row.id,
  MerchantId: row.merchant_id,
  PaymentStatus: row.status,
  ...(row.currency === null ? {} : { Currency: row.currency }),
  summary: [
    `${fitFiat(row.fiat_amount, row.fiat_currency)} ${row.fiat_currency}`,
    row.currency === null ? '' : ` in ${row.currency}`,
    row.merchant_order_id === null ? '' : ` for order ${row.merchant_order_id.slice(0, 60)}`,
  ].join(''),
});
