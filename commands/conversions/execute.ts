import type { DataSource, EntityManager } from 'typeorm';
import { spendByKey, type UsedKey } from '../../db/access/api-keys';
import { recordAct, type Actor } from '../../db/access/audit-log';
import { dropClaim } from '../../db/conversions/conversions';
import { failPoint } from '../../db/fail-point';
import { ratedAs } from '../../domain/chains/assets';
import {
  driftOf,
  notNow,
  viewQuote,
  type Accepted,
  type ConversionAsk,
  type ConversionRow,
} from '../../domain/conversions/conversion';
import { DomainError, type ErrorCode } from '../../domain/errors';
import { times } from '../../domain/money';
import { shown } from '../../domain/payments/shown';
import { acceptExternal } from './external';
import { claimConversion, endClaim, replayOf } from './claim';
import { completeInternal } from './complete-internal';
import { checkConversionsEnabled, quoteConversion, type Quoted, type QuoteDeps } from './quote';
import { Semaphore } from '../../domain/semaphore';

/** The execution of a conversion: guards, idempotency key, second factor, money, in this order. Contract: 4.4. */

export type ExecuteDeps = QuoteDeps &
  Readonly<{
    db: DataSource;
    /** Has the rates of two currencies read from the markets now. */
    freshRates: Readonly<{ look(from: string, to: string): Promise<void> }>;
    /** Reports a claim that could not be ended. */
    warn: (fields: object, text: string) => void;
  }>;

/** Who executes. A key spends its daily limit. A user brings a second factor, whose presence the caller has checked. */
export type Executor =
  | Readonly<{ key: UsedKey }>
  | Readonly<{
      actor: Actor & Readonly<{ id: string }>;
      /** Runs `act` in one transaction with the use of the factor: both happen, or neither. */
      byFactor: <T>(act: (tx: EntityManager) => Promise<T>) => Promise<T>;
    }>;

export type Execution = Readonly<{
  ask: ConversionAsk;
  accepted: Accepted;
  idempotencyKey: string | null;
  merchantId: string;
  by: Executor;
}>;

/** Executions wait here for the locks of the positions, without a connection: one has them, and one is ready. */
const executions = new Semaphore(2);

/** Executes a conversion once per key. A key that was executed is answered with what it did, even where a new one would
 *  be refused, except for a drift. Throws RATE_DRIFT, CONVERSION_IN_PROGRESS, IDEMPOTENCY_KEY_CONSUMED; and where
 *  the key is free CONVERSIONS_DISABLED, CONVERSION_FAILED, KEY_LIMIT, RATE_UNAVAILABLE and the refusals of the factor.
 *  No money has moved when it throws, unless the connection to PostgreSQL was lost. */
export async function executeConversion(
  deps: ExecuteDeps,
  execution: Execution,
): Promise<{ row: ConversionRow; replayed: boolean }> {
  const { ask, idempotencyKey, merchantId, by } = execution;
  const { db } = deps;
  const guarded = await guardFirst(deps, execution);
  const first = idempotencyKey === null ? null : await replayOf(db, merchantId, idempotencyKey, ask);
  if (first) return { row: first, replayed: true };
  if (guarded instanceof DomainError) throw guarded;
  const quoted = guarded ?? (await quoteToExecute(deps, ask));

  const { mode } = quoted.quote;
  const claim = await claimConversion(db, {
    ...ask,
    merchantId,
    mode,
    idempotencyKey,
    by: 'key' in by ? { keyId: by.key.id } : { userId: by.actor.id },
  });
  if (!claim) {
    const winner = await replayOf(db, merchantId, idempotencyKey!, ask);
    if (winner) return { row: winner, replayed: true };
    throw new DomainError('CONVERSION_IN_PROGRESS');
  }
  await failPoint('conversion.afterClaim');
  try {
    const last = mode === 'internal' ? await quoteAgain(deps, execution, quoted) : quoted;
    const row = await executions.run(() => inOneTransaction(deps, execution, claim, last));
    await failPoint('conversion.afterCommit');
    return { row, replayed: false };
  } catch (error) {
    await endAfterError(deps, claim.id, error);
    throw error;
  }
}

/** These refuse a new conversion; a key that was executed is answered all the same. */
const refusals: ReadonlySet<ErrorCode> = new Set(['CONVERSIONS_DISABLED', 'CONVERSION_FAILED', 'RATE_UNAVAILABLE']);

/** The guards before the key is looked up: the switch, and the drift from the accepted quote. Returns the quote, or
 *  undefined where no quote was accepted. Returns a refusal too, which counts once the key is known to be free.
 *  Throws RATE_DRIFT. Contract: 4.4, idempotency 2. */
async function guardFirst(deps: ExecuteDeps, { ask, accepted }: Execution): Promise<Quoted | DomainError | undefined> {
  try {
    await checkConversionsEnabled(deps.db);
    if (accepted.rate === undefined && accepted.toAmount === undefined) return undefined;
    const quoted = await quoteToExecute(deps, ask);
    guardDrift(accepted, quoted);
    return quoted;
  } catch (error) {
    if (error instanceof DomainError && refusals.has(error.code)) return error;
    throw error;
  }
}

/** The quote of an execution, which fails where there is none. Throws CONVERSION_FAILED, RATE_UNAVAILABLE. */
async function quoteToExecute(deps: QuoteDeps, ask: ConversionAsk): Promise<Quoted> {
  try {
    return await quoteConversion(deps, ask);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'QUOTE_FAILED')
      throw new DomainError('CONVERSION_FAILED', error.message);
    throw error;
  }
}

/** Throws RATE_DRIFT where the quote is worse than the accepted one by more than the tolerance. */
function guardDrift(accepted: Accepted, { quote, terms }: Quoted): void {
  const drift = driftOf(accepted, quote);
  if (drift === null) return;
  // The drift from an accepted amount of almost nothing is larger than a JSON number can be.
  const driftPct = Math.min(shown(drift), Number.MAX_VALUE);
  throw new DomainError('RATE_DRIFT', undefined, { driftPct, newQuote: viewQuote(quote, terms.now) });
}

/** An internal conversion is priced again, at rates that are read from the markets now. Contract: 4.4, drift guard 3.
 *  Throws RATE_DRIFT, RATE_UNAVAILABLE, CONVERSION_FAILED. */
async function quoteAgain(deps: ExecuteDeps, { ask, accepted }: Execution, seen: Quoted): Promise<Quoted> {
  await deps.freshRates.look(ratedAs(ask.fromCurrency), ratedAs(ask.toCurrency));
  const fresh = await quoteToExecute(deps, ask);
  if (fresh.quote.mode !== 'internal') throw new DomainError('CONVERSION_FAILED', notNow);
  guardDrift(accepted, fresh);
  guardDrift({ rate: seen.quote.exchangeRate }, fresh);
  return fresh;
}

function inOneTransaction(
  deps: ExecuteDeps,
  { merchantId, by }: Execution,
  claim: ConversionRow,
  { quote, terms }: Quoted,
): Promise<ConversionRow> {
  const moveMoney = (tx: EntityManager): Promise<ConversionRow> =>
    quote.mode === 'internal' ? completeInternal(tx, claim, quote, terms) : acceptExternal(tx, claim, quote, terms);
  if ('key' in by)
    return deps.db.transaction(async (tx) => {
      await spendByKey(tx, by.key, times(quote.fromAmount, terms.rates.from, 18, 'up'));
      return moveMoney(tx);
    });
  return by.byFactor(async (tx) => {
    const row = await moveMoney(tx);
    const { from_currency, from_amount, to_currency, to_amount } = row;
    await recordAct(tx, by.actor, {
      merchantId,
      action: 'conversion.executed',
      target: claim.id,
      after: { from_currency, from_amount, to_currency, to_amount },
    });
    return row;
  });
}

/** Ends the claim of an execution that failed, or drops it where its record tells the merchant nothing. A claim that
 *  cannot be ended now, and one whose money did move, are left as they are. */
async function endAfterError({ db, warn }: ExecuteDeps, id: string, error: unknown): Promise<void> {
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
    warn({ err: lost, conversionId: id }, 'A conversion that came to nothing was not ended; it is asked for again');
  }
}
