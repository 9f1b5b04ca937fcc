import { assetOf, type Currency } from '../chains/assets';
import { DomainError } from '../errors';
import { add, compare, Decimal, divide, fit, isPositive, larger, negate, subtract, times } from '../money';
import { shown } from '../payments/shown';

/** One balance into another. Contract: 2.4, 2.5, 3.2, 4.4, G8. */

export const conversionStatuses = [
  'initializing',
  'pending',
  'processing',
  'completed',
  'failed',
  'cancelled',
] as const;
export type ConversionStatus = (typeof conversionStatuses)[number];
export type ConversionEventType = `conversion.${'processing' | 'completed' | 'failed' | 'cancelled'}`;
export const executionModes = ['internal', 'external'] as const;
export type ExecutionMode = (typeof executionModes)[number];
export const pairModes = [...executionModes, 'off'] as const;
export type PairMode = (typeof pairModes)[number];

export type ConversionRow = {
  id: string;
  merchant_id: string;
  idempotency_key: string | null;
  body_hash: string;
  status: ConversionStatus;
  state_version: number;
  execution_mode: ExecutionMode;
  from_currency: string;
  to_currency: string;
  from_amount: string;
  /** The quote that it was made at; null where it ended before there was one. External: the least that is promised. */
  to_amount: string | null;
  /** Units of `to_currency` per unit of `from_currency`. */
  exchange_rate: string | null;
  commission_amount: string | null;
  net_from_amount: string | null;
  /** Evidence of the two prices in dollars. */
  from_rate_id: string | null;
  to_rate_id: string | null;
  /** Whether its source amount ever left the balance. */
  is_debited: boolean;
  price_protection_pct: string | null;
  estimated_seconds: number | null;
  accepted_minimum: string | null;
  credit_amount: string | null;
  merchant_message: string | null;
  key_id: string | null;
  created_by: string | null;
  requested_at: Date;
  completed_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

/** Share of the source amount that a conversion costs, before floors. Contract: 8. */
export const baseCommission = '0.004';
/** A move of more than this many percent is told before anything is executed. Contract: 4.4. */
const driftTolerancePct = '1';
const quoteSeconds = 60;
/** Told where a pair is not converted at present. */
export const notNow = 'This conversion is temporarily unavailable; try again shortly';
/** The most that one conversion is worth, where its pair has no limit of its own. */
export const defaultMaximumUsd = '100000';

/** What a conversion costs at least, in dollars of the source currency. */
const floorsUsd: Readonly<Record<Currency, string>> = { BTC: '0.5', ETH: '0.3' };
const floorUsd = (currency: Currency): string => floorsUsd[currency] ?? '0.2';
/** The floor takes at most a fifth of the least amount. */
const floorShare = '5';

/** Dollars per whole unit. */
export type UsdRates = Readonly<{ from: string; to: string }>;
export type ConversionAsk = Readonly<{
  fromCurrency: Currency;
  toCurrency: Currency;
  /** Whole units; what is finer than the currency is cut. */
  fromAmount: string;
}>;

/** A conversion's figures; all exact decimal strings. `fromAmount` = `commissionAmount` + `netFromAmount`. */
export type ConversionQuote = ConversionAsk &
  Readonly<{
    mode: ExecutionMode;
    exchangeRate: string;
    commissionAmount: string;
    /** Of `commissionAmount`: what executing it elsewhere costs. */
    providerFee: string;
    netFromAmount: string;
    toAmount: string;
    priceProtectionPct: string | null;
    estimatedSeconds: number | null;
  }>;

/** What an execution elsewhere would bring. `providerFee`: what it costs, in the source currency; it is charged with
 *  the commission. `toAmount`: the least that arrives for the net. */
export type ExternalTerms = Readonly<{
  providerFee: string;
  toAmount: string;
  priceProtectionPct: string;
  /** null: not reported. */
  estimatedSeconds: number | null;
}>;

/** Units of the target per unit of the source, rounded down. */
const crossRate = (rates: UsdRates): string => divide(rates.from, rates.to, 24, 'down');

/** Commission on a source amount: the base share or the floor, the larger, rounded up to the currency's own
 *  decimals. */
export function commissionOf(fromAmount: string, currency: Currency, usdRate: string): string {
  const { decimals } = assetOf(currency);
  const floor = divide(floorUsd(currency), usdRate, decimals, 'up');
  return larger(times(fromAmount, baseCommission, decimals, 'up'), floor);
}

/** The quote from our own balance sheet, at the oracle's rate. null: outside of `limitsOf`. */
export function priceInternal(ask: ConversionAsk, rates: UsdRates): ConversionQuote | null {
  const { decimals } = assetOf(ask.toCurrency);
  const fromAmount = fit(ask.fromAmount, assetOf(ask.fromCurrency).decimals, 'down');
  const commissionAmount = commissionOf(fromAmount, ask.fromCurrency, rates.from);
  const netFromAmount = subtract(fromAmount, commissionAmount);
  const exchangeRate = crossRate(rates);
  if (!isPositive(netFromAmount) || !isPositive(exchangeRate)) return null;
  const toAmount = times(netFromAmount, exchangeRate, decimals, 'down');
  if (!isPositive(toAmount)) return null;
  return {
    fromCurrency: ask.fromCurrency,
    toCurrency: ask.toCurrency,
    fromAmount,
    mode: 'internal',
    exchangeRate,
    commissionAmount,
    providerFee: '0',
    netFromAmount,
    toAmount,
    priceProtectionPct: null,
    estimatedSeconds: null,
  };
}

/** The quote of an execution elsewhere: its rate is what arrives at least for what is sent. null: it costs all of
 *  it. */
export function priceExternal(ask: ConversionAsk, rates: UsdRates, terms: ExternalTerms): ConversionQuote | null {
  const { decimals } = assetOf(ask.fromCurrency);
  const fromAmount = fit(ask.fromAmount, decimals, 'down');
  const providerFee = fit(terms.providerFee, decimals, 'up');
  const commissionAmount = add(commissionOf(fromAmount, ask.fromCurrency, rates.from), providerFee);
  const netFromAmount = subtract(fromAmount, commissionAmount);
  const toAmount = fit(terms.toAmount, assetOf(ask.toCurrency).decimals, 'down');
  if (!isPositive(netFromAmount) || !isPositive(toAmount)) return null;
  return {
    fromCurrency: ask.fromCurrency,
    toCurrency: ask.toCurrency,
    fromAmount,
    mode: 'external',
    exchangeRate: divide(toAmount, netFromAmount, 24, 'down'),
    commissionAmount,
    providerFee,
    netFromAmount,
    toAmount,
    priceProtectionPct: terms.priceProtectionPct,
    estimatedSeconds: terms.estimatedSeconds,
  };
}

/** The least and the most of the source currency that is converted at once. */
export type ConversionLimits = Readonly<{ minimum: string; maximum: string }>;

/** The refusals of an amount, with one that would be taken. */
export const tooLittle = (currency: Currency, minimum: string): DomainError =>
  new DomainError('QUOTE_FAILED', `Too little: convert at least ${minimum} ${currency}`);
export const tooMuch = (currency: Currency, maximum: string): DomainError =>
  new DomainError('QUOTE_FAILED', `Too much at once: convert at most ${maximum} ${currency}`);

/** The limits of a pair: what costs no more than a fifth and brings more than dust, up to `maxUsd`. */
export function limitsOf(
  { fromCurrency, toCurrency }: Pick<ConversionAsk, 'fromCurrency' | 'toCurrency'>,
  rates: UsdRates,
  maxUsd: string,
): ConversionLimits {
  const { decimals, payDecimals } = assetOf(fromCurrency);
  const floor = divide(floorUsd(fromCurrency), rates.from, decimals, 'up');
  const bringing = add(divide(assetOf(toCurrency).dust, crossRate(rates), decimals, 'up'), unitOf(fromCurrency));
  const base = divide(bringing, subtract('1', baseCommission), decimals, 'up');
  const least = larger(
    times(floor, floorShare, decimals, 'up'),
    larger(add(base, unitOf(fromCurrency)), add(bringing, floor)),
  );
  return { minimum: fit(least, payDecimals, 'up'), maximum: divide(maxUsd, rates.from, payDecimals, 'down') };
}
const unitOf = (currency: Currency): string => new Decimal(10).pow(-assetOf(currency).decimals).toFixed();

const absolute = (amount: string): string => (compare(amount, '0') < 0 ? negate(amount) : amount);
/** By how many percent `now` is away from `then`, either way, to four decimals. */
const movedPct = (then: string, now: string): string =>
  divide(times(absolute(subtract(now, then)), '100', 60, 'up'), then, 4, 'up');
const isBeyond = (then: string, now: string): boolean =>
  compare(times(absolute(subtract(now, then)), '100', 60, 'up'), times(then, driftTolerancePct, 60, 'up')) > 0;

/** What the caller accepted. */
export type Accepted = Readonly<{ rate?: string; toAmount?: string }>;

/** By how many percent a fresh quote is off what was accepted; null where it is within the tolerance. The rate counts
 *  both ways, the output only where it fell short. Contract: 4.4, drift guards 1 and 2. */
export function driftOf(accepted: Accepted, fresh: Pick<ConversionQuote, 'exchangeRate' | 'toAmount'>): string | null {
  if (accepted.rate !== undefined && isBeyond(accepted.rate, fresh.exchangeRate))
    return movedPct(accepted.rate, fresh.exchangeRate);
  const { toAmount } = accepted;
  if (toAmount !== undefined && compare(fresh.toAmount, toAmount) < 0 && isBeyond(toAmount, fresh.toAmount))
    return movedPct(toAmount, fresh.toAmount);
  return null;
}

const ratePlaces = 16;
/** Commission as a share of the source amount, floors included. */
export const effectiveRate = (quote: Pick<ConversionQuote, 'commissionAmount' | 'fromAmount'>): string =>
  divide(quote.commissionAmount, quote.fromAmount, ratePlaces, 'down');

/** In percent, of the source amount; absent where the base alone is charged. Contract: 2.5. */
function feeBreakdown(quote: ConversionQuote): { platformFeePct: number; providerFeePct: number } | undefined {
  const all = times(effectiveRate(quote), '100', ratePlaces, 'down');
  if (compare(subtract(all, times(baseCommission, '100', ratePlaces, 'up')), '0.01') < 0) return undefined;
  const provider = times(divide(quote.providerFee, quote.fromAmount, ratePlaces, 'down'), '100', ratePlaces, 'down');
  return { platformFeePct: shown(subtract(all, provider)), providerFeePct: shown(provider) };
}

/** A quote as it is told. Contract: 2.5, G8. */
export const viewQuote = (quote: ConversionQuote, issuedAt: Date) => ({
  fromCurrency: quote.fromCurrency,
  toCurrency: quote.toCurrency,
  fromAmount: shown(quote.fromAmount),
  exchangeRate: shown(quote.exchangeRate),
  commissionRate: shown(effectiveRate(quote)),
  commissionAmount: shown(quote.commissionAmount, 'up'),
  netFromAmount: shown(quote.netFromAmount, 'down'),
  toAmount: shown(quote.toAmount, 'down'),
  fromAmountStr: quote.fromAmount,
  toAmountStr: quote.toAmount,
  validUntil: new Date(issuedAt.getTime() + quoteSeconds * 1000).toISOString(),
  executionMode: quote.mode,
  feeBreakdown: feeBreakdown(quote),
  ...(quote.mode === 'external'
    ? {
        priceProtectionPct: quote.priceProtectionPct === null ? undefined : shown(quote.priceProtectionPct),
        estimatedSeconds: quote.estimatedSeconds,
      }
    : {}),
});

/** A conversion as it is told: nothing about how it was executed elsewhere. Contract: 2.4. */
export const viewConversion = (row: ConversionRow, livemode: boolean) => {
  const number = (amount: string | null, rounding?: 'up' | 'down') =>
    amount === null ? undefined : shown(amount, rounding);
  const isPriced = row.commission_amount !== null;
  return {
    _id: row.id,
    merchantId: row.merchant_id,
    fromCurrency: row.from_currency,
    toCurrency: row.to_currency,
    fromAmount: shown(row.from_amount),
    toAmount: number(row.to_amount, 'down'),
    exchangeRate: number(row.exchange_rate),
    commissionRate: isPriced
      ? shown(effectiveRate({ commissionAmount: row.commission_amount!, fromAmount: row.from_amount }))
      : undefined,
    commissionAmount: number(row.commission_amount, 'up'),
    netFromAmount: number(row.net_from_amount, 'down'),
    status: row.status,
    stateVersion: row.state_version,
    livemode,
    executionMode: row.execution_mode,
    creditAmountStr: row.credit_amount === null ? undefined : fit(row.credit_amount, 18, 'down'),
    priceProtectionBand: number(row.price_protection_pct),
    merchantMessage: row.merchant_message ?? undefined,
    idempotencyKey: row.idempotency_key ?? undefined,
    requestedAt: row.requested_at.toISOString(),
    completedAt: row.completed_at?.toISOString(),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
};

/** What the platform would hold of an asset by converting, in dollars, either sign, and how far that may go. */
export type Exposure = Readonly<{ positionUsd: string; limitUsd: string | null; beyond: 'external' | 'off' }>;
/** Whether a conversion would leave a position beyond its limit that it makes larger: long in what is taken in, short
 *  in what is given. */
export const isTooLong = ({ positionUsd, limitUsd }: Exposure): boolean =>
  limitUsd !== null && compare(positionUsd, limitUsd) > 0;
export const isTooShort = ({ positionUsd, limitUsd }: Exposure): boolean =>
  limitUsd !== null && compare(negate(positionUsd), limitUsd) > 0;

/** How a pair is executed, by its setting and by the positions that converting it would leave. */
export function modeOf(setting: PairMode, from: Exposure, to: Exposure): PairMode {
  if (setting !== 'internal') return setting;
  const passed = [isTooLong(from) ? from.beyond : null, isTooShort(to) ? to.beyond : null];
  return passed.includes('off') ? 'off' : passed.includes('external') ? 'external' : 'internal';
}
