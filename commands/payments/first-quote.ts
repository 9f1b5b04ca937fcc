import type { DataSource } from 'typeorm';
import type { Merchant } from '../../domain/access/access';
import { isByLightning, networkOf, ratedAs, type Asset, type NetworkId } from '../../domain/chains/assets';
import type { ChainCodec } from '../../domain/chains/chain';
import { sharesAccount } from '../../domain/chains/tags';
import { DomainError } from '../../domain/errors';
import { newId } from '../../domain/ids';
import { creationRefused } from '../../domain/payments/creation-refusals';
import type { PaymentRow } from '../../domain/payments/payment';
import { receiverAt, type SharedKey } from '../../domain/payments/receiver';
import { requiredDepth } from '../../db/payments/payments';
import { noLiveKey } from '../../db/recovery/live-key';
import { batcherPer } from '../../db/batcher';
import { prepared } from '../../db/query';
import { priceOf, quoteAt, type PricingRow } from '../../domain/pricing/price';
import { pricingSql } from '../../db/pricing/pricing';
import { canReceive, msatOf } from '../lightning/offer';
import { quoteColumns } from './columns';

/** What a new payment in a currency is made of: its first quote, and what receives the money. */

type FirstQuoteDeps = Readonly<{
  db: DataSource;
  codecs: Readonly<Record<NetworkId, Pick<ChainCodec, 'derive'>>>;
  settings: Readonly<{ quoteTtlSeconds: number; confirmations: Readonly<Record<string, number>> }>;
}>;

type ContextRow = PricingRow & {
  xpub: string | null;
  branch: number | null;
  key_index: string | null;
  shared: SharedKey | null;
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
  shared: null,
};

/** Creations that are read for together. */
const most = 16;
type Asking = Readonly<{
  merchant: Pick<Merchant, 'id' | 'displayCurrency'>;
  asset: Asset | undefined;
  idempotencyKey: string | null;
  maxAge: number;
}>;
const contextsOf = batcherPer((db, asking: readonly Asking[]) => readContexts(db, asking), most);

/** All that a creation reads, in one round trip: the clock, the price, the wallet, the next key and an earlier payment
 *  with the same key; with others of the merchant where they come at once. An index that is drawn and not used stays
 *  unused: addresses are never given twice. */
export const readContext = (
  db: DataSource,
  merchant: Merchant,
  asset: Asset | undefined,
  idempotencyKey: string | null,
  maxAge: number,
): Promise<ContextRow> =>
  contextsOf(db).add(`${merchant.id} ${merchant.displayCurrency} ${asset?.currency} ${maxAge}`, {
    ...{ merchant, asset, idempotencyKey, maxAge },
  });

/** Those of one merchant, asset and age of a rate. An earlier payment is looked for by its index, key by key, whatever
 *  the planner believes of how many there are. */
async function readContexts(db: DataSource, asking: readonly Asking[]): Promise<ContextRow[]> {
  const { merchant, asset, maxAge } = asking[0]!;
  const keys = asking.map(({ idempotencyKey }) => idempotencyKey);
  const asked = `unnest($2::text[]) WITH ORDINALITY AS i(key, place)
       LEFT JOIN LATERAL (SELECT p.id FROM payment p WHERE p.merchant_id = $1 AND p.idempotency_key = i.key LIMIT 1) e
         ON true`;
  if (!asset) {
    const rows = await prepared(db, 'creations-without-currency').query<Pick<ContextRow, 'now' | 'existing_id'>[]>(
      `SELECT clock_timestamp() AS now, e.id AS existing_id FROM ${asked} ORDER BY i.place`,
      [merchant.id, keys],
    );
    return rows.map((row) => ({ ...unpriced, ...row }));
  }
  const { columns, joins } = pricingSql({ currency: '$8', native: '$4', network: '$5', fiat: '$6', age: '$7' });
  return prepared(db, 'creations-with-currency').query<ContextRow[]>(
    `SELECT clock_timestamp() AS now, e.id AS existing_id, ${columns}, w.settlement_address, w.custody,
            k.xpub, k.branch,
            CASE WHEN e.id IS NULL AND w.id IS NOT NULL AND k.xpub IS NOT NULL AND NOT $9
                 THEN nextval(format('key_index_%s_deposit', k.sequence_of)::regclass)::text END AS key_index,
            CASE WHEN $10 THEN (SELECT to_jsonb(s) FROM shared_key($5) s) END AS shared
       FROM ${asked} ${joins}
       LEFT JOIN merchant_wallet w ON w.merchant_id = $1 AND w.currency = $3 AND w.is_active
       LEFT JOIN live_key k ON k.network = $5 AND k.role = 'deposit' ORDER BY i.place`,
    [
      merchant.id,
      keys,
      asset.currency,
      networkOf(asset.currency).native,
      asset.network,
      merchant.displayCurrency,
      maxAge,
      ratedAs(asset.currency),
      isByLightning(asset.currency),
      sharesAccount(asset.network),
    ],
  );
}

/** What receives the money of a payment: an address of its network, or an invoice. */
export type Receiving = Readonly<{
  address: Readonly<Record<string, unknown>> | null;
  invoice: Readonly<{ id: string; asked_msat: string }> | null;
  columns: Pick<PaymentRow, 'deposit_address' | 'destination_tag' | 'required_confirmations'>;
}>;

/** Throws UPSTREAM_UNAVAILABLE. */
function addressFor({ codecs, settings }: FirstQuoteDeps, { network }: Asset, context: ContextRow): Receiving {
  const { xpub, branch, shared } = context;
  if (xpub === null || branch === null || context.key_index === null) throw noLiveKey(network, 'deposit');
  if (sharesAccount(network) && shared === null) throw noLiveKey(network, 'treasury');
  const index = parseInt(context.key_index, 10);
  const receiver = receiverAt(codecs[network], network, { xpub, branch, index, shared });
  return {
    address: { network, branch, ...receiver },
    invoice: null,
    columns: {
      deposit_address: receiver.address,
      destination_tag: receiver.tag,
      required_confirmations: requiredDepth(network, settings.confirmations),
    },
  };
}

/** Throws UPSTREAM_UNAVAILABLE where our node could not receive so much now. */
async function invoiceFor({ db }: FirstQuoteDeps, currency: string, amount: string): Promise<Receiving> {
  if (!(await canReceive(db, currency, amount)))
    throw new DomainError('UPSTREAM_UNAVAILABLE', `Our Lightning node cannot receive ${amount} now`);
  return {
    address: null,
    invoice: { id: newId(), asked_msat: msatOf(currency, amount).toString() },
    columns: { deposit_address: null, destination_tag: null, required_confirmations: 0 },
  };
}

/** The columns a currency brings, and what receives it. Throws RATE_UNAVAILABLE, PAYMENT_CREATION_FAILED,
 *  UPSTREAM_UNAVAILABLE. */
export async function lockCurrency(
  deps: FirstQuoteDeps,
  merchant: Merchant,
  asset: Asset,
  context: ContextRow,
  fiat: string,
  expiresIn: number,
) {
  const { currency } = asset;
  if (context.settlement_address === null) throw creationRefused('NO_WALLET', { currency });
  const priced = quoteAt(priceOf(context, currency), {
    currency,
    fiatAmount: fiat,
    fiat: merchant.displayCurrency,
    feeBps: merchant.feeBps,
    feeBearer: merchant.feeBearer,
  });
  const receiving = isByLightning(currency)
    ? await invoiceFor(deps, currency, priced.quote.amount)
    : addressFor(deps, asset, context);
  return {
    ...receiving,
    columns: {
      currency,
      network: asset.network,
      ...quoteColumns(priced),
      quoted_at: context.now,
      quote_expires_at: new Date(context.now.getTime() + Math.min(deps.settings.quoteTtlSeconds, expiresIn) * 1000),
      ...receiving.columns,
      settlement_address: priced.settlementAddress,
      custody: priced.custody,
    },
  };
}

export const noCurrency = {
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
