import {
  isByLightning,
  networkOf,
  networks,
  payableAsset,
  payableOn,
  ratedAs,
  type Asset,
  type Currency,
  type NetworkId,
} from '../../domain/chains/assets';
import { payerFeeFiat, type NetworkWatch } from '../../domain/chains/coins';
import { DomainError } from '../../domain/errors';
import {
  minimumAt,
  priceOf,
  quoteAt,
  type Minimum,
  type Price,
  type PriceAsk,
  type Priced,
  type PricingRow,
} from '../../domain/pricing/price';
import { feeMaxAgeSeconds } from '../../domain/pricing/quote';
import type { Queryable } from '../query';

/** What a currency costs now: read in one query, by the database's clock. domain/pricing/price.ts makes prices and
 *  quotes of it. */

/** Columns of a PricingRow and the joins they come from. The parameters are SQL expressions; `age` is in seconds. */
export const pricingSql = (sql: { currency: string; native: string; network: string; fiat: string; age: string }) => ({
  columns: `r.rate_id::text AS rate_id, r.value::text AS rate,
  n.value::text AS native_rate, f.unit_price::text AS unit_price,
    (r.taken_at >= clock_timestamp() - make_interval(secs => ${sql.age}) AND
     n.taken_at >= clock_timestamp() - make_interval(secs => ${sql.age}) AND
     f.taken_at >= clock_timestamp() - interval '${feeMaxAgeSeconds} seconds') AS is_fresh`,
  joins: `LEFT JOIN rate_latest r ON r.currency = ${sql.currency} AND r.fiat = ${sql.fiat}
    LEFT JOIN rate_latest n ON n.currency = ${sql.native} AND n.fiat = ${sql.fiat}
    LEFT JOIN network_fee f ON f.network = ${sql.network}`,
});

/** Rate, network fee and active wallet of one currency; without a wallet its address and custody are null.
 *  Throws RATE_UNAVAILABLE, CURRENCY_NOT_AVAILABLE (no such asset). */
export async function rateNow(
  db: Queryable,
  ask: Readonly<{ merchantId: string; currency: Currency; fiat: string; maxAgeSeconds: number }>,
): Promise<Price> {
  const asset = payableAsset(ask.currency, true);
  if (!asset) throw new DomainError('CURRENCY_NOT_AVAILABLE');
  const { columns, joins } = pricingSql({ currency: '$2', native: '$3', network: '$4', fiat: '$5', age: '$6' });
  const [row] = await db.query<PricingRow[]>(
    `SELECT clock_timestamp() AS now, ${columns}, w.settlement_address, w.custody
       FROM (SELECT) one ${joins}
       LEFT JOIN merchant_wallet w ON w.merchant_id = $1 AND w.currency = $7 AND w.is_active`,
    [
      ask.merchantId,
      ratedAs(asset.currency),
      networkOf(asset.currency).native,
      asset.network,
      ask.fiat,
      ask.maxAgeSeconds,
      asset.currency,
    ],
  );
  return priceOf(row!, asset.currency);
}

/** The same at a moment that is over: the newest rate of then; where none was fresh, the first that came after. The fee
 *  is that of now. */
export async function rateAt(
  db: Queryable,
  ask: Readonly<{ merchantId: string; currency: Currency; fiat: string; maxAgeSeconds: number; at: Date }>,
): Promise<Price> {
  const asset = payableAsset(ask.currency, true);
  if (!asset) throw new DomainError('CURRENCY_NOT_AVAILABLE');
  const then = (currency: string): string => `LEFT JOIN LATERAL (
      SELECT x.* FROM (
        (SELECT id, value, taken_at FROM rate WHERE currency = ${currency} AND fiat = $5 AND taken_at <= $7
            AND taken_at >= $7::timestamptz - make_interval(secs => $6) ORDER BY taken_at DESC, id DESC LIMIT 1)
        UNION ALL
        (SELECT id, value, taken_at FROM rate WHERE currency = ${currency} AND fiat = $5 AND taken_at > $7
          ORDER BY taken_at, id LIMIT 1)) x
       ORDER BY x.taken_at LIMIT 1)`;
  const [row] = await db.query<PricingRow[]>(
    `SELECT clock_timestamp() AS now, r.id::text AS rate_id, r.value::text AS rate, n.value::text AS native_rate,
       f.unit_price::text AS unit_price,
            true AS is_fresh, w.settlement_address, w.custody
       FROM (SELECT) one ${then('$2')} r ON true ${then('$3')} n ON true LEFT JOIN network_fee f ON f.network = $4
       LEFT JOIN merchant_wallet w ON w.merchant_id = $1 AND w.currency = $8 AND w.is_active`,
    [
      ask.merchantId,
      ratedAs(asset.currency),
      networkOf(asset.currency).native,
      asset.network,
      ask.fiat,
      ask.maxAgeSeconds,
      ask.at,
      asset.currency,
    ],
  );
  return priceOf(row!, asset.currency);
}

/** The quote of a fiat price for a merchant, now. Throws RATE_UNAVAILABLE (retried), CURRENCY_NOT_AVAILABLE,
 *  PAYMENT_CREATION_FAILED (BELOW_MINIMUM). Contract: 2.2, 4.5. */
export async function priceQuote(
  db: Queryable,
  ask: PriceAsk & Readonly<{ merchantId: string; maxAgeSeconds: number }>,
): Promise<Priced> {
  return quoteAt(await rateNow(db, ask), ask);
}

/** What paying in a currency is like now. */
export type Offer = NetworkWatch &
  Readonly<{
    /** null: a rate or the network fee is missing or stale. */
    price: Price | null;
    /** The payer's network fee, in fiat; null as above. */
    payerFee: string | null;
  }>;
type OfferRow = PricingRow & { currency: string; data_part: string | null; lag: number | null; is_stale: boolean };

/** All that a payment can be made in anywhere. */
const everyPayable = (): Asset[] => payableOn(Object.keys(networks) as NetworkId[], true);

/** Of each currency that payments can be made in, for a merchant or (with null) for nobody in particular. */
export async function offersNow(
  db: Queryable,
  ask: Readonly<{ merchantId: string | null; fiat: string; maxAgeSeconds: number }>,
): Promise<ReadonlyMap<Currency, Offer>> {
  const { columns, joins } = pricingSql({
    currency: 'a.rated',
    native: 'a.native',
    network: 'a.network',
    fiat: '$2',
    age: '$3',
  });
  const payable = everyPayable();
  const rows = await db.query<OfferRow[]>(
    `SELECT clock_timestamp() AS now, a.currency, ${columns}, w.settlement_address, w.custody,
            f.data_part::text AS data_part, c.stale_since IS NOT NULL AS is_stale,
            extract(epoch FROM clock_timestamp() - c.scanned_through)::float8 AS lag
       FROM unnest($4::text[], $5::text[], $6::text[], $7::text[]) AS a (currency, native, network, rated) ${joins}
       LEFT JOIN chain_cursor c ON c.network = a.network
       LEFT JOIN merchant_wallet w ON w.merchant_id = $1 AND w.currency = a.currency AND w.is_active`,
    [
      ask.merchantId,
      ask.fiat,
      ask.maxAgeSeconds,
      payable.map((asset) => asset.currency),
      payable.map((asset) => networkOf(asset.currency).native),
      payable.map((asset) => asset.network),
      payable.map((asset) => ratedAs(asset.currency)),
    ],
  );
  return new Map(rows.map((row) => [row.currency, offerOf(row)]));
}

function offerOf(row: OfferRow): Offer {
  const { unit_price: unitPrice, data_part: dataPart, native_rate: nativeRate } = row;
  const isPriced = row.is_fresh && unitPrice !== null && dataPart !== null && nativeRate !== null;
  return {
    lagSeconds: row.lag,
    isStale: row.is_stale,
    price: isPriced ? priceOf(row, row.currency) : null,
    // What other nodes take on the way depends on the way.
    payerFee:
      isPriced && !isByLightning(row.currency) ? payerFeeFiat(row.currency, { unitPrice, dataPart }, nativeRate) : null,
  };
}

/** The price of each currency that payments can be made in, for a merchant or (with null) for nobody in particular;
 *  currencies without a fresh rate are left out of the map. */
export async function pricesNow(
  db: Queryable,
  ask: Readonly<{ merchantId: string | null; fiat: string; maxAgeSeconds: number }>,
): Promise<ReadonlyMap<Currency, Price>> {
  const offers = [...(await offersNow(db, ask))];
  return new Map(offers.flatMap(([currency, { price }]) => (price ? [[currency, price]] : [])));
}

/** The least order of every currency that has a fresh rate, at a commission of `feeBps`. `byLightning`: it is
 *  offered. */
export async function minimums(
  db: Queryable,
  feeBps: number,
  { maxAgeSeconds, byLightning }: Readonly<{ maxAgeSeconds: number; byLightning: boolean }>,
): Promise<Minimum[]> {
  const prices = await pricesNow(db, { merchantId: null, fiat: 'USD', maxAgeSeconds });
  return [...prices].flatMap(([currency, price]) =>
    payableAsset(currency, byLightning) ? [minimumAt(currency, price, feeBps)] : [],
  );
}
