import { rateNow } from '../../db/pricing/pricing';
import type { Queryable } from '../../db/query';
import { assetOf } from '../../domain/chains/assets';
import {
  baseCommission,
  commissionOf,
  notNow,
  tooLittle,
  tooMuch,
  type ConversionAsk,
  type ConversionLimits,
  type ExternalTerms,
  type UsdRates,
} from '../../domain/conversions/conversion';
import { type SwapPair, type SwapRate, leastOutput, priceProtectionPct } from '../../domain/conversions/swap';
import { DomainError } from '../../domain/errors';
import { trim, fit, add, divide, subtract, larger, smaller, compare } from '../../domain/money';
import type { RowOf } from '../../db/entity';
import type { swapRateEntity } from '../../db/conversions/entities';

/** Who executes conversions elsewhere. */
export interface ExternalConversions {
  /** What it would bring now. `limits`: ours; its own may be narrower. Throws QUOTE_FAILED, with words for
   *  merchants. */
  quote(ask: ConversionAsk & Readonly<{ rates: UsdRates; limits: ConversionLimits }>): Promise<ExternalTerms>;
}

type RateRow = Omit<RowOf<typeof swapRateEntity>, 'from_currency' | 'to_currency' | 'taken_at'>;
async function swapRate(db: Queryable, pair: SwapPair, maxAgeSeconds: number): Promise<SwapRate | null> {
  const [row] = await db.query<RateRow[]>(
    `SELECT min_amount, max_amount, low_amount, low_output, high_amount, high_output, seconds FROM swap_rate
      WHERE from_currency = $1 AND to_currency = $2 AND taken_at >= clock_timestamp() - make_interval(secs => $3)`,
    [pair.from, pair.to, maxAgeSeconds],
  );
  if (!row) return null;
  return {
    min: trim(row.min_amount),
    max: row.max_amount === null ? null : trim(row.max_amount),
    low: { fromAmount: row.low_amount, toAmount: row.low_output },
    high: { fromAmount: row.high_amount, toAmount: row.high_output },
    seconds: row.seconds,
  };
}
const unavailable = (): DomainError => new DomainError('QUOTE_FAILED', notNow);
/** Orders at a provider name addresses alone. */
const untagged = (currency: string): DomainError =>
  new DomainError('QUOTE_FAILED', `${currency} needs destination tags, which orders at the swap provider do not have`);

/** Conversions by a swap provider, for whoever quotes and executes. Sending our deposit costs a chain fee, which is
 *  charged with the commission. */
export const swapConversions = (db: Queryable, maxAgeSeconds: number): ExternalConversions => ({
  async quote({ fromCurrency, toCurrency, fromAmount, rates, limits }) {
    for (const currency of [fromCurrency, toCurrency])
      if (assetOf(currency).requiresDestinationTag) throw untagged(currency);
    const rate = await swapRate(db, { from: fromCurrency, to: toCurrency }, maxAgeSeconds);
    if (!rate) throw unavailable();
    const cost = await rateNow(db, { merchantId: '', currency: fromCurrency, fiat: 'USD', maxAgeSeconds }).catch(
      (error: unknown) => {
        throw error instanceof DomainError && error.code === 'RATE_UNAVAILABLE' ? unavailable() : error;
      },
    );
    const { decimals, payDecimals } = assetOf(fromCurrency);
    const providerFee = fit(cost.networkFee, decimals, 'up');
    /** The amount of which so much is left. */
    const grossOf = (net: string): string => {
      const kept = add(net, providerFee);
      const byShare = divide(kept, subtract('1', baseCommission), decimals, 'up');
      return larger(byShare, add(kept, commissionOf('0', fromCurrency, rates.from)));
    };
    const net = subtract(fromAmount, add(providerFee, commissionOf(fromAmount, fromCurrency, rates.from)));
    // Both bounds hold, so that what is suggested is not refused for the other.
    const minimum = larger(limits.minimum, fit(grossOf(rate.min), payDecimals, 'up'));
    const maximum = rate.max === null ? limits.maximum : smaller(limits.maximum, fit(rate.max, payDecimals, 'down'));
    const isTooMuch = rate.max !== null && compare(net, rate.max) > 0;
    if (compare(minimum, maximum) > 0) throw unavailable();
    if (compare(net, rate.min) < 0 || compare(fromAmount, limits.minimum) < 0) throw tooLittle(fromCurrency, minimum);
    if (isTooMuch || compare(fromAmount, limits.maximum) > 0) throw tooMuch(fromCurrency, maximum);
    const toAmount = leastOutput(rate, net, assetOf(toCurrency).decimals);
    if (toAmount === null) throw unavailable();
    return { providerFee, toAmount, priceProtectionPct, estimatedSeconds: rate.seconds };
  },
});
