import type { Merchant, User } from '../../domain/access/access';
import { assetOf, assets, findAsset, type Currency } from '../../domain/chains/assets';
import {
  driftOf,
  limitsOf,
  notNow,
  priceExternal,
  priceInternal,
  tooLittle,
  tooMuch,
  viewQuote,
  type Accepted,
  type ConversionAsk,
  type ConversionQuote,
  type ConversionRow,
} from '../../domain/conversions/conversion';
import { DomainError, type ErrorCode } from '../../domain/errors';
import { compare, Decimal, divide, fit, isAmount, isPositive, larger, subtract, times } from '../../domain/money';
import { shown } from '../../domain/payments/payment-view';
import { spendByKey, type UsedKey } from '../../db/access/api-keys';
import { recordAct } from '../../db/access/audit-log';
import { balancesOf } from '../../db/ledger/balances';
import { dropClaim, pairTerms, type PairTerms } from '../../db/conversions/conversions';
import { acceptExternal } from '../../commands/conversions/accept-external';
import { completeInternal } from '../../commands/conversions/complete-internal';
import { endClaim } from '../../commands/conversions/claim';
import { claimConversion, replayOf } from '../../commands/conversions/claim';
import { failPoint } from '../../db/fail-point';
import { isSwitchedOn } from '../../db/access/switches';
import { withFactor, type FactorFields } from '../access/step-up';
import { actorOf } from '../access/users';
import type { ApiDeps } from '../http/deps';
import { Turnstile } from '../http/turnstile';

/** Quotes, and the execution of one: guards, key, factor, money, in this order. Contract: 4.4. */

type Deps = Pick<ApiDeps, 'db' | 'config' | 'freshRates' | 'external' | 'logger'>;

/** A quote with the terms that it was made at. */
export type Quoted = Readonly<{ quote: ConversionQuote; terms: PairTerms }>;

/** A ticker in any case. Throws VALIDATION_ERROR. */
export function currencyOf(text: string, field: string): Currency {
  const asset = findAsset(text.toUpperCase());
  if (!asset) throw new DomainError('VALIDATION_ERROR', `${field} must be a supported currency`);
  return asset.currency;
}

/** What is asked for, cut to the source currency's own digits. Throws VALIDATION_ERROR, SAME_CURRENCY. */
export function askOf(
  fields: Readonly<{ fromCurrency: string; toCurrency: string; fromAmount: string | number }>,
): ConversionAsk {
  const fromCurrency = currencyOf(fields.fromCurrency, 'fromCurrency');
  const toCurrency = currencyOf(fields.toCurrency, 'toCurrency');
  if (fromCurrency === toCurrency) throw new DomainError('SAME_CURRENCY');
  const amount = new Decimal(fields.fromAmount).toFixed();
  if (!isAmount(amount) || !isPositive(amount))
    throw new DomainError('VALIDATION_ERROR', 'fromAmount must be a positive decimal of at most 30 digits');
  return { fromCurrency, toCurrency, fromAmount: fit(amount, assetOf(fromCurrency).decimals, 'down') };
}

export async function checkEnabled(
  { db }: Pick<Deps, 'db'>,
  code: 'CONVERSIONS_DISABLED' | 'BEST_ROUTE_DISABLED' = 'CONVERSIONS_DISABLED',
): Promise<void> {
  if (!(await isSwitchedOn(db, 'conversions'))) throw new DomainError(code);
}

/** The quote at the stored rates. Throws QUOTE_FAILED, whose words are for merchants, and RATE_UNAVAILABLE. */
export async function quoteNow(deps: Deps, ask: ConversionAsk): Promise<Quoted> {
  const terms = await pairTerms(deps.db, ask, deps.config.RATE_MAX_AGE_SECONDS);
  const { mode, rates } = terms;
  const limits = limitsOf(ask, rates, terms.maximumUsd);
  if (mode === 'off' || (mode === 'external' && !deps.external)) throw new DomainError('QUOTE_FAILED', notNow);
  if (mode === 'internal' && compare(ask.fromAmount, limits.minimum) < 0)
    throw tooLittle(ask.fromCurrency, limits.minimum);
  if (mode === 'internal' && compare(ask.fromAmount, limits.maximum) > 0)
    throw tooMuch(ask.fromCurrency, limits.maximum);
  const quote =
    mode === 'internal'
      ? priceInternal(ask, rates)
      : priceExternal(ask, rates, await deps.external!.quote({ ...ask, rates, limits }));
  if (!quote) throw new DomainError('QUOTE_FAILED', notNow);
  return { quote, terms };
}

/** They take turns at the positions: one is at it, and one is ready. */
const executions = new Turnstile(2);

export type Execution = Readonly<{
  ask: ConversionAsk;
  accepted: Accepted;
  idempotencyKey: string | null;
  merchant: Pick<Merchant, 'id'>;
  /** A session brings a factor, a key does not. */
  by: Readonly<{ key: UsedKey } | { user: User; factor: FactorFields; ip: string; requestId: string }>;
}>;

/** Refuses where what was accepted is more than the tolerance off. Throws RATE_DRIFT. */
function guardDrift(accepted: Accepted, { quote, terms }: Quoted): void {
  const drift = driftOf(accepted, quote);
  if (drift === null) return;
  // Next to nothing was accepted: JSON has no number for so far off.
  const driftPct = Math.min(shown(drift), Number.MAX_VALUE);
  throw new DomainError('RATE_DRIFT', undefined, { driftPct, newQuote: viewQuote(quote, terms.now) });
}

const asExecution = (error: unknown): never => {
  if (error instanceof DomainError && error.code === 'QUOTE_FAILED')
    throw new DomainError('CONVERSION_FAILED', error.message);
  throw error;
};

/** Throws MFA_SETUP_REQUIRED, MFA_REQUIRED: one factor of a session, before anything is claimed. */
function checkFactor(by: Execution['by']): void {
  if ('key' in by) return;
  if (!by.user.totpEnabled && !by.user.hasPasskey) throw new DomainError('MFA_SETUP_REQUIRED');
  const { totpCode, passkeyResponse, challengeKey } = by.factor;
  const isPasskey = passkeyResponse !== undefined && challengeKey !== undefined;
  if ((totpCode === undefined) === !isPasskey) throw new DomainError('MFA_REQUIRED');
}

/** How a refused factor of an execution is told. Contract: 7.2. */
const factorCodes: Partial<Record<ErrorCode, ErrorCode>> = {
  FACTOR_MISSING: 'MFA_REQUIRED',
  FACTOR_WRONG: 'CONVERSION_FACTOR_WRONG',
  FACTOR_NOT_ENROLLED: 'CONVERSION_FACTOR_NOT_ENROLLED',
  FACTOR_LOCKED: 'CONVERSION_FACTOR_LOCKED',
};

/** These keep a conversion from being executed, not an executed one from being answered again. */
const refusals: ReadonlySet<ErrorCode> = new Set(['CONVERSIONS_DISABLED', 'CONVERSION_FAILED', 'RATE_UNAVAILABLE']);

/** What comes before the key is looked up: the switch, and the guards of what was accepted. Where it is refused, the refusal; it counts
 *  once the key is known to be free. undefined: nothing to be guarded. Throws RATE_DRIFT.
 *  Contract: 4.4, idempotency 2. */
async function lookFirst(deps: Deps, { ask, accepted }: Execution): Promise<Quoted | DomainError | undefined> {
  try {
    await checkEnabled(deps);
    if (accepted.rate === undefined && accepted.toAmount === undefined) return undefined;
    const quoted = await quoteNow(deps, ask).catch(asExecution);
    guardDrift(accepted, quoted);
    return quoted;
  } catch (error) {
    if (error instanceof DomainError && refusals.has(error.code)) return error;
    throw error;
  }
}

/** Executes a conversion once per key; a key that was executed is answered with what it did, whatever holds now, a drift aside. Throws
 *  RATE_DRIFT, CONVERSION_IN_PROGRESS, IDEMPOTENCY_KEY_CONSUMED; and where the key is free CONVERSIONS_DISABLED, CONVERSION_FAILED,
 *  KEY_LIMIT, the family of factors, and RATE_UNAVAILABLE. Whatever it throws, nothing has moved, unless the connection to PostgreSQL was
 *  lost. */
export async function execute(deps: Deps, execution: Execution): Promise<{ row: ConversionRow; replayed: boolean }> {
  const { ask, idempotencyKey, merchant, by } = execution;
  const { db } = deps;
  const looked = await lookFirst(deps, execution);
  const first = idempotencyKey === null ? null : await replayOf(db, merchant.id, idempotencyKey, ask);
  if (first) return { row: first, replayed: true };
  if (looked instanceof DomainError) throw looked;
  const quoted = looked ?? (await quoteNow(deps, ask).catch(asExecution));
  checkFactor(by);

  const { mode } = quoted.quote;
  const claim = await claimConversion(db, {
    ...ask,
    merchantId: merchant.id,
    mode,
    idempotencyKey,
    by: 'key' in by ? { keyId: by.key.id } : { userId: by.user.id },
  });
  if (!claim) {
    const winner = await replayOf(db, merchant.id, idempotencyKey!, ask);
    if (winner) return { row: winner, replayed: true };
    throw new DomainError('CONVERSION_IN_PROGRESS');
  }
  await failPoint('conversion.afterClaim');
  try {
    const last = mode === 'internal' ? await lookAgain(deps, execution, quoted) : quoted;
    const row = await executions.run(() => inOneTransaction(deps, execution, claim, last));
    await failPoint('conversion.afterCommit');
    return { row, replayed: false };
  } catch (error) {
    await giveUp(deps, claim.id, error);
    const code = error instanceof DomainError ? factorCodes[error.code] : undefined;
    throw code ? new DomainError(code, undefined, (error as DomainError).details) : error;
  }
}

/** What is executed from our own balance sheet is priced again, at rates that are read from the markets now.
 *  Contract: 4.4, drift guard 3.
 *  Throws RATE_DRIFT, RATE_UNAVAILABLE, CONVERSION_FAILED. */
async function lookAgain(deps: Deps, { ask, accepted }: Execution, seen: Quoted): Promise<Quoted> {
  await deps.freshRates.look(ask.fromCurrency, ask.toCurrency);
  const fresh = await quoteNow(deps, ask).catch(asExecution);
  if (fresh.quote.mode !== 'internal') throw new DomainError('CONVERSION_FAILED', notNow);
  guardDrift(accepted, fresh);
  guardDrift({ rate: seen.quote.exchangeRate }, fresh);
  return fresh;
}

function inOneTransaction(
  deps: Deps,
  execution: Execution,
  claim: ConversionRow,
  last: Quoted,
): Promise<ConversionRow> {
  const { merchant, by } = execution;
  const act = (tx: Parameters<typeof completeInternal>[0]): Promise<ConversionRow> =>
    last.quote.mode === 'internal'
      ? completeInternal(tx, claim, last.quote, last.terms)
      : acceptExternal(tx, deps.external!, claim, last.quote, last.terms);
  if ('key' in by)
    return deps.db.transaction(async (tx) => {
      await spendByKey(tx, by.key, times(last.quote.fromAmount, last.terms.rates.from, 18, 'up'));
      return act(tx);
    });
  return withFactor(deps, by.user, 'conversion', by.factor, async (tx) => {
    const row = await act(tx);
    const { from_currency, from_amount, to_currency, to_amount } = row;
    await recordAct(tx, actorOf(by.user, by), {
      merchantId: merchant.id,
      action: 'conversion.executed',
      target: claim.id,
      after: { from_currency, from_amount, to_currency, to_amount },
    });
    return row;
  });
}

/** How a claim ends that came to nothing. What nobody could learn from is not kept. A claim that cannot be ended now, and one whose
 *  money did move, are left as they are. */
async function giveUp({ db, logger }: Deps, id: string, error: unknown): Promise<void> {
  const code = error instanceof DomainError ? error.code : undefined;
  try {
    if (code === 'RATE_DRIFT')
      await db.transaction((tx) => endClaim(tx, id, 'cancelled', 'The market moved by more than 1 % before execution'));
    else if (code === 'RATE_UNAVAILABLE')
      await db.transaction((tx) => endClaim(tx, id, 'cancelled', 'No fresh rate could be had; nothing was moved'));
    else if (code === 'CONVERSION_FAILED')
      await db.transaction((tx) => endClaim(tx, id, 'failed', (error as DomainError).message));
    else await dropClaim(db, id);
  } catch (lost) {
    logger.warn(
      { err: lost, conversionId: id },
      'A conversion that came to nothing was not ended; the reconciler does it',
    );
  }
}

/** What a conversion costs, measured in dollars at the oracle's rates: what is given less what is got. */
function costOf({ quote, terms }: Quoted): Readonly<{ feePct: number; feeUsd: string; receiveUsd: string }> {
  const given = times(quote.fromAmount, terms.rates.from, 24, 'down');
  const received = times(quote.toAmount, terms.rates.to, 24, 'down');
  const fee = subtract(given, received);
  const feePct = divide(times(fee, '100', 24, 'up'), given, 4, 'up');
  return { feePct: shown(feePct), feeUsd: fit(fee, 6, 'up'), receiveUsd: fit(received, 6, 'down') };
}
/** Only where it is reported. Contract: 4.4, best-route. */
const estimateOf = ({ quote: { estimatedSeconds } }: Quoted) => (estimatedSeconds === null ? {} : { estimatedSeconds });

/** The words for merchants of a refused quote; anything else is thrown on. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof DomainError)) throw error;
  if (error.code === 'QUOTE_FAILED') return error.message;
  if (error.code === 'RATE_UNAVAILABLE') return notNow;
  throw error;
};

const mostCandidates = 8;
const leastWorthUsd = '1';

/** Which balance gets to a currency at the least cost. Contract: 4.4. */
export async function bestRoute(deps: Deps, merchantId: string, toCurrency: Currency) {
  const unavailableFrom: Array<{ fromCurrency: string; reason: string }> = [];
  const candidates: Array<{ fromCurrency: string; available: string; worth: string }> = [];
  for (const { currency, available } of await balancesOf(deps.db, merchantId)) {
    if (currency === toCurrency || !findAsset(currency) || !isPositive(available)) continue;
    try {
      const { rates } = await pairTerms(
        deps.db,
        { fromCurrency: currency, toCurrency, fromAmount: available },
        deps.config.RATE_MAX_AGE_SECONDS,
      );
      const worth = times(available, rates.from, 24, 'down');
      if (compare(worth, leastWorthUsd) >= 0) candidates.push({ fromCurrency: currency, available, worth });
    } catch (error) {
      unavailableFrom.push({ fromCurrency: currency, reason: reasonOf(error) });
    }
  }
  candidates.sort((a, b) => compare(b.worth, a.worth));
  const priced: Array<{ option: object; feePct: number; feeUsd: string }> = [];
  for (const { fromCurrency, available } of candidates.slice(0, mostCandidates)) {
    try {
      const ask = askOf({ fromCurrency, toCurrency, fromAmount: available });
      const quoted = await quoteNow(deps, ask);
      const { feePct, feeUsd, receiveUsd } = costOf(quoted);
      const option = {
        fromCurrency,
        toCurrency,
        availableFrom: available,
        fromAmount: quoted.quote.fromAmount,
        toAmount: quoted.quote.toAmount,
        feePct,
        feeUsd: shown(feeUsd),
        receiveUsd: shown(receiveUsd),
        executionMode: quoted.quote.mode,
        ...estimateOf(quoted),
      };
      priced.push({ option, feePct, feeUsd });
    } catch (error) {
      unavailableFrom.push({ fromCurrency, reason: reasonOf(error) });
    }
  }
  priced.sort((a, b) => a.feePct - b.feePct);
  const saving = priced.length < 2 ? '0' : larger('0', subtract(priced.at(-1)!.feeUsd, priced[0]!.feeUsd));
  return {
    toCurrency,
    options: priced.map(({ option }) => option),
    unavailable: unavailableFrom,
    bestSavingUsd: shown(saving),
  };
}

const leastSavingUsd = '0.01';

/** Other currencies that the same amount turns into for less, those of the same asset first. Throws QUOTE_FAILED.
 *  Contract: G8. */
export async function cheaperTargets(deps: Deps, ask: ConversionAsk) {
  const base = costOf(await quoteNow(deps, ask));
  const wanted = assetOf(ask.toCurrency).asset;
  const found: Array<{ isSame: boolean; saving: string; target: object }> = [];
  for (const { currency, asset } of assets) {
    if (currency === ask.fromCurrency || currency === ask.toCurrency) continue;
    try {
      const quoted = await quoteNow(deps, { ...ask, toCurrency: currency });
      const { feePct, feeUsd } = costOf(quoted);
      const saving = subtract(base.feeUsd, feeUsd);
      if (compare(saving, leastSavingUsd) < 0) continue;
      const target = {
        toCurrency: currency,
        toAmount: quoted.quote.toAmount,
        feePct,
        feeUsd: shown(feeUsd),
        savingUsd: shown(saving),
        executionMode: quoted.quote.mode,
        ...estimateOf(quoted),
      };
      found.push({ isSame: asset === wanted, saving, target });
    } catch (error) {
      // What has no quote is no cheaper.
      reasonOf(error);
    }
  }
  found.sort((a, b) => (a.isSame === b.isSame ? compare(b.saving, a.saving) : a.isSame ? -1 : 1));
  return {
    fromCurrency: ask.fromCurrency,
    baseline: { toCurrency: ask.toCurrency, feePct: base.feePct, feeUsd: shown(base.feeUsd) },
    targets: found.map(({ target }) => target),
  };
}
