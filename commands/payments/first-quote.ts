import type { DataSource } from 'typeorm';
import type { Merchant } from '../../domain/access/access';
import { isByLightning, networkOf, ratedAs, type Asset, type NetworkId } from '../../domain/chains/assets';
import type { ChainCodec } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { newId } from '../../domain/ids';
import { creationRefused } from '../../domain/payments/creation-refusals';
import type { PaymentRow } from '../../domain/payments/payment';
import { receiverAt } from '../../domain/payments/receiver';
import { requiredDepth } from '../../db/payments/payments';
import { noLiveKey } from '../../db/recovery/live-key';
import { prepared } from '../../db/query';
import { priceOf, pricingSql, quoteAt, type PricingRow } from '../../db/pricing/pricing';
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
export async function readContext(
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
  const { columns, joins } = pricingSql({ currency: '$8', native: '$4', network: '$5', fiat: '$6', age: '$7' });
  const [row] = await prepared(db, 'creation-with-currency').query<ContextRow[]>(
    `SELECT clock_timestamp() AS now, e.id AS existing_id, ${columns}, w.settlement_address, w.custody,
            k.xpub, k.branch,
            CASE WHEN e.id IS NULL AND w.id IS NOT NULL AND k.xpub IS NOT NULL AND NOT $9
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
      ratedAs(asset.currency),
      isByLightning(asset.currency),
    ],
  );
  return row!;
}

/** What receives the money of a payment: an address of its network, or an invoice. */
export type Receiving = Readonly<{
  address: Readonly<Record<string, unknown>> | null;
  invoice: Readonly<{ id: string; asked_msat: string }> | null;
  columns: Pick<PaymentRow, 'deposit_address' | 'destination_tag' | 'required_confirmations'>;
}>;

/** Throws UPSTREAM_UNAVAILABLE. */
function addressFor({ codecs, settings }: FirstQuoteDeps, { network }: Asset, context: ContextRow): Receiving {
  const { xpub, branch } = context;
  if (xpub === null || branch === null || context.key_index === null) throw noLiveKey(network, 'deposit');
  const receiver = receiverAt(codecs[network], network, { xpub, branch, index: parseInt(context.key_index, 10) });
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
