import { isSwitchedOn } from '../../db/access/switches';
import { pairTerms, type PairTerms } from '../../db/conversions/conversions';
import { isFrozen } from '../../db/limits/outbound';
import type { Queryable } from '../../db/query';
import { isByLightning, ratedAs } from '../../domain/chains/assets';
import {
  limitsOf,
  notNow,
  priceExternal,
  priceInternal,
  tooLittle,
  tooMuch,
  type ConversionAsk,
  type ConversionQuote,
  type PairMode,
} from '../../domain/conversions/conversion';
import { DomainError } from '../../domain/errors';
import { compare, divide, fit, subtract, times } from '../../domain/money';
import { shown } from '../../domain/payments/shown';
import type { ExternalConversions } from './provider-quote';

/** What a conversion is quoted with. */
export type QuoteDeps = Readonly<{
  db: Queryable;
  rateMaxAgeSeconds: number;
  /** Converts at a swap provider; without it, pairs in this mode have no quote. */
  external?: ExternalConversions;
}>;

/** A quote with the terms that it was made at. */
export type Quoted = Readonly<{ quote: ConversionQuote; terms: PairTerms }>;

/** Throws `code` where the operator has switched conversions off. */
export async function checkConversionsEnabled(
  db: Queryable,
  code: 'CONVERSIONS_DISABLED' | 'BEST_ROUTE_DISABLED' = 'CONVERSIONS_DISABLED',
): Promise<void> {
  if (!(await isSwitchedOn(db, 'conversions'))) throw new DomainError(code);
}

/** The quote at the stored rates. Throws QUOTE_FAILED, whose words are for merchants, and RATE_UNAVAILABLE. */
export async function quoteConversion(
  { db, rateMaxAgeSeconds, external }: QuoteDeps,
  ask: ConversionAsk,
): Promise<Quoted> {
  const terms = await pairTerms(db, ask, rateMaxAgeSeconds);
  const { rates } = terms;
  const mode = await modeFor(db, ask, terms.mode);
  const limits = limitsOf(ask, rates, terms.maximumUsd);
  if (mode === 'off' || (mode === 'external' && !external)) throw new DomainError('QUOTE_FAILED', notNow);
  if (mode === 'internal' && compare(ask.fromAmount, limits.minimum) < 0)
    throw tooLittle(ask.fromCurrency, limits.minimum);
  if (mode === 'internal' && compare(ask.fromAmount, limits.maximum) > 0)
    throw tooMuch(ask.fromCurrency, limits.maximum);
  const quote =
    mode === 'internal'
      ? priceInternal(ask, rates)
      : priceExternal(ask, rates, await external!.quote({ ...ask, rates, limits }));
  if (!quote) throw new DomainError('QUOTE_FAILED', notNow);
  return { quote, terms };
}

/** What came by Lightning converts to bitcoin alone, from our own balance sheet, and not while it is stopped: our node
 *  may lack it. */
async function modeFor(db: Queryable, { fromCurrency, toCurrency }: ConversionAsk, mode: PairMode): Promise<PairMode> {
  if (!isByLightning(fromCurrency)) return mode;
  const isOffered = mode === 'internal' && toCurrency === ratedAs(fromCurrency);
  return isOffered && !(await isFrozen(db, fromCurrency)) ? mode : 'off';
}

/** The cost of a conversion in dollars at the oracle's rates: the value given less the value received. */
export function costOf({ quote, terms }: Quoted): Readonly<{ feePct: number; feeUsd: string; receiveUsd: string }> {
  const given = times(quote.fromAmount, terms.rates.from, 24, 'down');
  const received = times(quote.toAmount, terms.rates.to, 24, 'down');
  const fee = subtract(given, received);
  const feePct = divide(times(fee, '100', 24, 'up'), given, 4, 'up');
  return { feePct: shown(feePct), feeUsd: fit(fee, 6, 'up'), receiveUsd: fit(received, 6, 'down') };
}

/** The provider's estimate of its time; left out where it gave none. Contract: 4.4, best-route. */
export const estimateOf = ({ quote: { estimatedSeconds } }: Quoted) =>
  estimatedSeconds === null ? {} : { estimatedSeconds };

/** Why there is no quote, in words for merchants; any other error is thrown again. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof DomainError)) throw error;
  if (error.code === 'QUOTE_FAILED') return error.message;
  if (error.code === 'RATE_UNAVAILABLE') return notNow;
  throw error;
};
