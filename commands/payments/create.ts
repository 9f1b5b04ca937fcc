import type { DataSource } from 'typeorm';
import type { Merchant } from '../../domain/access/access';
import { payableAsset, type NetworkId } from '../../domain/chains/assets';
import { checkCallbackUrl } from '../../domain/webhooks/callback-url';
import type { ChainCodec } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { newId, newSlug } from '../../domain/ids';
import { paymentJson } from '../../domain/payments/payment-view';
import { untouched, type PaymentRow } from '../../domain/payments/payment';
import { fiatPrice, fitFiat, isBelowUnit } from '../../domain/pricing/quote';
import { traceparentNow } from '../../domain/tracing';
import { originNow } from '../../db/origin';
import { noteCommitted } from '../../db/webhooks/emitted';
import { deliveryId, eventId } from '../../db/webhooks/events';
import { failPoint } from '../../db/fail-point';
import { openInTurn, type OpenedPayment } from '../../db/payments/open';
import { lockCurrency, noCurrency, readContext, type Receiving } from './first-quote';
import { noLiveKey } from '../../db/recovery/live-key';
import { readPayment } from '../../db/payments/payment-queries';
import { creationRefused } from '../../domain/payments/creation-refusals';
import type { Queryable } from '../../db/query';

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
    /** Whether payments may be made in bitcoin by Lightning. */
    byLightning?: boolean;
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
 *  round trips; others of the merchant share the commit where they come at once. The same idempotency key finds the
 *  first payment, whatever else is asked. Throws RATE_UNAVAILABLE, METADATA_TOO_LARGE, CALLBACK_NOT_HTTPS,
 *  CALLBACK_INTERNAL, UPSTREAM_UNAVAILABLE, and PAYMENT_CREATION_FAILED with the reason in `details`.
 *  Contract: 4.5; Invariants: 5. */
export async function openPayment(
  deps: OpenPaymentDeps,
  merchant: Merchant,
  input: NewPayment,
): Promise<{ row: PaymentRow; replayed: boolean }> {
  const { settings, db } = deps;
  const { byLightning = false } = settings;
  const asset = input.currency === undefined ? undefined : payableAsset(input.currency.toUpperCase(), byLightning);
  const context = await readContext(db, merchant, asset, input.idempotencyKey, settings.rateMaxAgeSeconds);
  if (context.existing_id !== null) return { row: await replay(db, merchant, context.existing_id), replayed: true };
  checkTargets(deps, merchant, input);
  if (input.currency !== undefined && !asset) throw creationRefused('UNKNOWN_CURRENCY', { currency: input.currency });
  const allowed = input.widget?.allowedCurrencies ?? null;
  if (asset && allowed && !allowed.includes(asset.currency))
    throw creationRefused('CURRENCY_NOT_ALLOWED', { currency: asset.currency });

  const id = newId();
  // Less than a minor unit is refused as everything else below the minimum of the currency is.
  const isTooLittle = asset !== undefined && isBelowUnit(input.amount, merchant.displayCurrency);
  const fiat = isTooLittle ? input.amount : fiatPrice(input.amount, merchant.displayCurrency);
  const expiresIn = input.expiresIn ?? merchant.defaultExpiresIn ?? settings.defaultExpiresIn;
  const locked = asset ? await lockCurrency(deps, merchant, asset, context, fiat, expiresIn) : null;
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
    invoice: locked?.invoice ?? null,
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
    invoice,
    quota,
    donor,
    livemode,
  }: Pick<Receiving, 'address' | 'invoice'> &
    Readonly<{
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
      payment: JSON.stringify({
        ...columns,
        donor,
        lightning_invoice: invoice ?? undefined,
        request_id: requestId,
        traceparent: traceparent ?? undefined,
      }),
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
