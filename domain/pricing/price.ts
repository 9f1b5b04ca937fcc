import { assetOf, isByLightning, networkOf, ratedAs, type Currency } from '../chains/assets';
import { checkCarried, sharesAccount } from '../chains/tags';
import { DomainError } from '../errors';
import { compare, divide } from '../money';
import { creationRefused } from '../payments/creation-refusals';
import { fiatValue, minimumAmount, quote, settlementCost, type FeeBearer, type Quote } from './quote';

/** What a currency costs: the price that was read, the quote at it, and the least order. */

/** What is read of a currency's price, by `pricingSql` of db/pricing/pricing.ts; null where there is none. */
export type PricingRow = {
  now: Date;
  rate_id: string | null;
  rate: string | null;
  native_rate: string | null;
  unit_price: string | null;
  is_fresh: boolean | null;
  settlement_address: string | null;
  custody: 'platform' | 'external' | null;
};

export type Price = Readonly<{
  now: Date;
  rateId: string;
  /** Fiat per whole unit of the currency. */
  exchangeRate: string;
  /** Units of the currency per whole native unit of its network; '1' for the native asset. Rounded up. */
  nativeRate: string;
  /** Of settling one deposit, or paying somebody, in the currency. Rounded up. */
  networkFee: string;
  /** What a payment is charged for its settlement: '0' where its money comes to the account that it is spent from. */
  provision: string;
  settlementAddress: string | null;
  custody: 'platform' | 'external' | null;
}>;

/** The price that a row tells. What comes by Lightning is at its place at once, and costs no chain anything. Throws
 *  RATE_UNAVAILABLE where a rate or the network fee is missing or stale. */
export function priceOf(row: PricingRow, currency: Currency): Price {
  if (!row.is_fresh || row.rate === null || row.native_rate === null || row.unit_price === null || row.rate_id === null)
    throw new DomainError('RATE_UNAVAILABLE');
  const native = networkOf(currency).native;
  const nativeRate = native === ratedAs(currency) ? '1' : divide(row.native_rate, row.rate, 18, 'up');
  const networkFee = isByLightning(currency)
    ? '0'
    : settlementCost(currency, row.unit_price, assetOf(native).decimals, nativeRate);
  return {
    now: row.now,
    rateId: row.rate_id,
    exchangeRate: row.rate,
    nativeRate,
    networkFee,
    provision: sharesAccount(networkOf(currency).id) ? '0' : networkFee,
    settlementAddress: row.settlement_address,
    custody: row.custody,
  };
}

export type Priced = Price & Readonly<{ quote: Quote; settlementAddress: string; custody: 'platform' | 'external' }>;

export type PriceAsk = Readonly<{
  currency: Currency;
  fiatAmount: string;
  fiat: string;
  feeBps: number;
  feeBearer: FeeBearer;
}>;

/** The quote at a price. Throws CURRENCY_NOT_AVAILABLE (no active wallet, or it needs tags) and
 *  PAYMENT_CREATION_FAILED with `details.reason` BELOW_MINIMUM. */
export function quoteAt(price: Price, ask: PriceAsk): Priced {
  checkCarried(assetOf(ask.currency));
  const { settlementAddress, custody } = price;
  if (settlementAddress === null || custody === null) throw new DomainError('CURRENCY_NOT_AVAILABLE');
  const minimum = minimumAmount(ask.currency, price.provision, ask.feeBps);
  const minimumFiat = fiatValue(minimum, price.exchangeRate, ask.fiat, 'up');
  if (compare(ask.fiatAmount, minimumFiat) < 0) {
    throw creationRefused('BELOW_MINIMUM', {
      minimum: minimumFiat,
      fiatCurrency: ask.fiat,
      currency: ask.currency,
    });
  }
  return {
    ...price,
    settlementAddress,
    custody,
    quote: quote({
      currency: ask.currency,
      fiatAmount: ask.fiatAmount,
      rate: price.exchangeRate,
      feeBps: ask.feeBps,
      feeBearer: ask.feeBearer,
      networkFee: price.provision,
    }),
  };
}

/** The least order of a currency. `minimum`: in the currency; `minimumUsd`: in US cents, rounded up. Contract: 2.8. */
export type Minimum = Readonly<{ currency: Currency; minimum: string; minimumUsd: string; feeBps: number }>;

/** The least order of a currency at a price in dollars. */
export function minimumAt(currency: Currency, price: Price, feeBps: number): Minimum {
  const minimum = minimumAmount(currency, price.provision, feeBps);
  return { currency, minimum, minimumUsd: fiatValue(minimum, price.exchangeRate, 'USD', 'up'), feeBps };
}
