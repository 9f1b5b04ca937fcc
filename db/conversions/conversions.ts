import type { DataSource, EntityManager } from 'typeorm';
import { assetOf, assets, type Currency } from '../../domain/chains/assets';
import {
  defaultMaximumUsd,
  isTooLong,
  isTooShort,
  modeOf,
  notNow,
  viewConversion,
  type ConversionAsk,
  type ConversionEventType,
  type ConversionLimits,
  type ConversionQuote,
  type ConversionRow,
  type ConversionStatus,
  type ExecutionMode,
  type ExternalTerms,
  type Exposure,
  type PairMode,
  type UsdRates,
} from '../../domain/conversions/conversion';
import { DomainError } from '../../domain/errors';
import { newId } from '../../domain/ids';
import { acceptConversionJournal, internalConversionJournal, type Journal } from '../../domain/ledger/ledger';
import { add, compare, negate, times, trim } from '../../domain/money';
import { failPoint } from '../fail-point';
import { post, refused } from '../ledger/ledger';
import type { Queryable } from '../pricing/pricing';
import {
  announceRecord,
  byClock,
  contentHash,
  moveRecord,
  pageOfRecords,
  spend,
  StaleRecord,
  type Patch,
} from '../records';

/** Balances into each other: what is asked for, at which terms, and the one transaction that moves the money.
 *  Contract: 4.4.
 *  Lock order: conversion, positions by asset, balances, the merchant's counter. */

export const conversionWorkflow = (conversionId: string): string => `conversion/${conversionId}`;

/** What holds for a pair now. `now`: the database's clock. */
export type PairTerms = Readonly<{
  now: Date;
  mode: PairMode;
  maximumUsd: string;
  rates: UsdRates;
  /** Evidence of the two prices. */
  rateIds: Readonly<{ from: string; to: string }>;
}>;

type SideRow = PositionRow & {
  now: Date;
  rate_id: string | null;
  value: string | null;
  is_fresh: boolean | null;
  mode: PairMode | null;
  max_usd: string | null;
};

/** Rates, limits and way of execution of an amount. Throws RATE_UNAVAILABLE. */
export async function pairTerms(
  db: Queryable,
  pair: Pick<ConversionAsk, 'fromCurrency' | 'toCurrency' | 'fromAmount'>,
  maxAgeSeconds: number,
): Promise<PairTerms> {
  const rows = await db.query<SideRow[]>('SELECT * FROM conversion_terms($1, $2, $3)', [
    pair.fromCurrency,
    pair.toCurrency,
    maxAgeSeconds,
  ]);
  const [from, to] = rows as [SideRow, SideRow];
  if (!from.is_fresh || !to.is_fresh) throw new DomainError('RATE_UNAVAILABLE');
  const rates = { from: trim(from.value!), to: trim(to.value!) };
  // The commission counted in: what is quoted to be ours passes no limit when it is executed.
  const worth = times(pair.fromAmount, rates.from, 18, 'up');
  return {
    now: to.now,
    mode: modeOf(from.mode ?? 'internal', exposureOf(from, rates.from, worth), exposureOf(to, rates.to, negate(worth))),
    maximumUsd: from.max_usd ?? defaultMaximumUsd,
    rates,
    rateIds: { from: from.rate_id!, to: to.rate_id! },
  };
}
type PositionRow = { position: string | null; limit_usd: string | null; beyond: 'external' | 'off' | null };
const exposureOf = ({ position, limit_usd, beyond }: PositionRow, rate: string, taken: string): Exposure => ({
  positionUsd: add(times(position ?? '0', rate, 18, 'down'), taken),
  limitUsd: limit_usd,
  beyond: beyond ?? 'off',
});

export type ConversionBy = Readonly<{ keyId: string } | { userId: string }>;
/** One that somebody asks to execute. `idempotencyKey` null: no other can be the same. */
export type NewConversion = ConversionAsk &
  Readonly<{ merchantId: string; mode: ExecutionMode; idempotencyKey: string | null; by: ConversionBy }>;

/** So long a claim may take; who made it has given up by then. */
const claimSeconds = 20;
const lostSql = `(status = 'initializing' AND updated_at < clock_timestamp() - interval '${claimSeconds} seconds')`;

const hashOf = (ask: ConversionAsk): string => contentHash([ask.fromCurrency, ask.toCurrency, ask.fromAmount]);

/** The conversion that stands for a key already, to be answered again; null: the key is free, also where what had it was interrupted. Throws CONVERSION_IN_PROGRESS, and
 *  IDEMPOTENCY_KEY_CONSUMED where the key has moved money for something else, or for what then failed. Invariants: 5. */
export async function replayOf(
  db: DataSource,
  merchantId: string,
  idempotencyKey: string,
  ask: ConversionAsk,
): Promise<ConversionRow | null> {
  const [row] = await db.query<Array<ConversionRow & { is_lost: boolean }>>(
    `SELECT *, ${lostSql} AS is_lost FROM conversion
      WHERE merchant_id = $1 AND idempotency_key = $2 AND (is_debited OR status IN ('initializing', 'pending'))`,
    [merchantId, idempotencyKey],
  );
  if (!row) return null;
  if (row.is_lost) {
    await db.transaction(endInterrupted);
    return null;
  }
  if (!row.is_debited) throw new DomainError('CONVERSION_IN_PROGRESS');
  if (row.status === 'failed' || row.body_hash !== hashOf(ask)) throw new DomainError('IDEMPOTENCY_KEY_CONSUMED');
  return row;
}

/** Takes the key: of those that come with it at once, one; the others get null. */
export async function claimConversion(db: Queryable, ask: NewConversion): Promise<ConversionRow | null> {
  const [row] = await db.query<ConversionRow[]>(
    `INSERT INTO conversion (id, merchant_id, idempotency_key, body_hash, status, execution_mode, from_currency, to_currency, from_amount, key_id, created_by)
     VALUES ($1, $2, $3, $4, 'initializing', $5, $6, $7, $8, $9, $10)
     ON CONFLICT (merchant_id, idempotency_key) WHERE is_debited OR status IN ('initializing', 'pending') DO NOTHING RETURNING *`,
    [
      newId(),
      ask.merchantId,
      ask.idempotencyKey,
      hashOf(ask),
      ask.mode,
      ask.fromCurrency,
      ask.toCurrency,
      ask.fromAmount,
      'keyId' in ask.by ? ask.by.keyId : null,
      'userId' in ask.by ? ask.by.userId : null,
    ],
  );
  return row ?? null;
}

/** Gives the key back of a claim that came to nothing, as if it had never been. */
export const dropClaim = (db: Queryable, id: string): Promise<unknown> =>
  db.query(`DELETE FROM conversion WHERE id = $1 AND status = 'initializing'`, [id]);

/** The conversion, locked until the transaction ends; null where there is none. */
export async function lockConversion(tx: EntityManager, id: string): Promise<ConversionRow | null> {
  const [row] = await tx.query<ConversionRow[]>('SELECT * FROM conversion WHERE id = $1 FOR UPDATE', [id]);
  return row ?? null;
}

type ConversionPatch = Patch<
  ConversionRow,
  | 'to_amount'
  | 'exchange_rate'
  | 'commission_amount'
  | 'net_from_amount'
  | 'from_rate_id'
  | 'to_rate_id'
  | 'is_debited'
  | 'price_protection_pct'
  | 'estimated_seconds'
  | 'accepted_minimum'
  | 'credit_amount'
  | 'merchant_message'
  | 'completed_at'
>;

/** As `moveRecord`. */
export const moveConversion = (
  tx: EntityManager,
  row: ConversionRow,
  to: ConversionStatus,
  patch: ConversionPatch = {},
): Promise<ConversionRow> => moveRecord(tx, 'conversion', row, to, patch);

/** As `announceRecord`. */
export const announceConversion = (
  tx: EntityManager,
  row: ConversionRow,
  type: ConversionEventType,
  before: ConversionStatus,
): Promise<string> => announceRecord(tx, row, type, viewConversion(row), before);

const priced = (quote: ConversionQuote, terms: Pick<PairTerms, 'rateIds'>): ConversionPatch => ({
  to_amount: quote.toAmount,
  exchange_rate: quote.exchangeRate,
  commission_amount: quote.commissionAmount,
  net_from_amount: quote.netFromAmount,
  from_rate_id: terms.rateIds.from,
  to_rate_id: terms.rateIds.to,
});

/** Moves a claim that nobody has ended meanwhile; it stays locked until the transaction ends. Throws CONVERSION_IN_PROGRESS where somebody
 *  has. */
async function moveClaim(
  tx: EntityManager,
  claim: ConversionRow,
  to: ConversionStatus,
  patch: ConversionPatch,
): Promise<ConversionRow> {
  try {
    return await moveConversion(tx, claim, to, patch);
  } catch (error) {
    throw error instanceof StaleRecord ? new DomainError('CONVERSION_IN_PROGRESS') : error;
  }
}

/** Who executes conversions elsewhere. */
export interface ExternalConversions {
  /** What it would bring now. `limits`: ours; its own may be narrower. Throws QUOTE_FAILED, with words for merchants. */
  quote(ask: ConversionAsk & Readonly<{ rates: UsdRates; limits: ConversionLimits }>): Promise<ExternalTerms>;
  /** Takes over a conversion whose source amount has just been debited, in that transaction. */
  open(tx: EntityManager, row: ConversionRow): Promise<void>;
}

type FreeRow = { asset: string; treasury: string; owed: string; free: string };
/** What the treasury holds of each asset, what merchants are owed of it, and what that leaves, less what came for conversions that are not
 *  completed yet; of a frozen asset nothing. */
export const freeSql =
  'SELECT asset, treasury::text AS treasury, owed::text AS owed, free::text AS free FROM free_of($1::text[])';

/** Takes the net into the platform's position, gives the output out of the other, and posts the journal; whoever converts from or to one
 *  of these assets waits until the transaction ends. Throws CONVERSION_FAILED where the treasury cannot give that, where one of them
 *  would pass its limit, and where the balance does not cover it. */
async function postInternal(
  tx: EntityManager,
  quote: ConversionQuote,
  { rates }: Pick<PairTerms, 'rates'>,
  journal: Journal,
): Promise<void> {
  const { fromCurrency, toCurrency, netFromAmount, toAmount } = quote;
  const sides = await covered(
    refused(
      tx.query<Array<PositionRow & { asset: string; free: string | null }>>(
        `SELECT asset, position::text AS position, limit_usd::text AS limit_usd, beyond, free::text AS free
           FROM post_conversion($1, $2, $3, $4, $5, $6, $7)`,
        [
          journal.key,
          journal.entry,
          JSON.stringify(journal.postings),
          fromCurrency,
          netFromAmount,
          toCurrency,
          toAmount,
        ],
      ),
    ),
  );
  const sideOf = (currency: Currency) => sides.find(({ asset }) => asset === currency)!;
  const [taken, given] = [sideOf(fromCurrency), sideOf(toCurrency)];
  if (isTooLong(exposureOf(taken, rates.from, '0')) || isTooShort(exposureOf(given, rates.to, '0')))
    throw new DomainError('CONVERSION_FAILED', notNow);
  if (compare(given.free!, toAmount) < 0)
    throw new DomainError('CONVERSION_FAILED', `Not enough ${toCurrency} is available at present`);
}

/** Where the balance does not cover what is posted, throws CONVERSION_FAILED. */
const covered = <Result>(posting: Promise<Result>): Promise<Result> =>
  spend(posting, 'CONVERSION_FAILED', 'The balance does not cover this conversion');

/** Executes a claim from our own balance sheet, in the caller's transaction: debit, credit, commission, record and event, or nothing.
 *  Refused where the treasury does not hold what would be owed then, or a position would pass its limit. Throws CONVERSION_FAILED, CONVERSION_IN_PROGRESS. J9. */
export async function completeInternal(
  tx: EntityManager,
  claim: ConversionRow,
  quote: ConversionQuote,
  terms: Pick<PairTerms, 'rateIds' | 'rates'>,
): Promise<ConversionRow> {
  const done = await moveClaim(tx, claim, 'completed', {
    ...priced(quote, terms),
    is_debited: true,
    completed_at: byClock,
  });
  await postInternal(
    tx,
    quote,
    terms,
    internalConversionJournal({
      id: claim.id,
      merchantId: claim.merchant_id,
      fromCurrency: quote.fromCurrency,
      toCurrency: quote.toCurrency,
      fromAmount: quote.fromAmount,
      commission: quote.commissionAmount,
      net: quote.netFromAmount,
      out: quote.toAmount,
    }),
  );
  await announceConversion(tx, done, 'conversion.completed', claim.status);
  await failPoint('conversion.beforeCommit');
  return done;
}

/** Takes the whole source amount of a claim out of the balance, to be executed elsewhere: debit, record and event in the caller's
 *  transaction. Throws CONVERSION_FAILED, CONVERSION_IN_PROGRESS. J10. */
export async function acceptExternal(
  tx: EntityManager,
  external: Pick<ExternalConversions, 'open'>,
  claim: ConversionRow,
  quote: ConversionQuote,
  terms: Pick<PairTerms, 'rateIds'>,
): Promise<ConversionRow> {
  const sent = await moveClaim(tx, claim, 'processing', {
    ...priced(quote, terms),
    is_debited: true,
    price_protection_pct: quote.priceProtectionPct,
    estimated_seconds: quote.estimatedSeconds,
    accepted_minimum: quote.toAmount,
  });
  await covered(
    post(
      tx,
      acceptConversionJournal({
        id: claim.id,
        merchantId: claim.merchant_id,
        fromCurrency: quote.fromCurrency,
        fromAmount: quote.fromAmount,
      }),
    ),
  );
  await external.open(tx, sent);
  await announceConversion(tx, sent, 'conversion.processing', claim.status);
  return sent;
}

/** Ends a claim that no money has moved for, with the words that its merchant reads; its key is free again. Nothing where it has
 *  ended already. */
export async function endClaim(
  tx: EntityManager,
  id: string,
  status: 'failed' | 'cancelled',
  merchantMessage: string,
): Promise<void> {
  const row = await lockConversion(tx, id);
  if (row?.status !== 'initializing') return;
  const ended = await moveConversion(tx, row, status, {
    merchant_message: merchantMessage,
    completed_at: byClock,
  });
  await announceConversion(tx, ended, `conversion.${status}`, row.status);
}

/** Ends claims whose process died. Returns how many. */
export async function endInterrupted(tx: EntityManager): Promise<number> {
  const lost = await tx.query<Array<{ id: string }>>(
    `SELECT id FROM conversion WHERE ${lostSql} ORDER BY id LIMIT 200 FOR UPDATE SKIP LOCKED`,
  );
  for (const { id } of lost)
    await endClaim(tx, id, 'cancelled', 'The conversion was interrupted before it began; nothing was moved');
  return lost.length;
}

export type ConversionFilter = Readonly<{
  status?: ConversionStatus;
  fromCurrency?: string;
  toCurrency?: string;
  idempotencyKey?: string;
  dateFrom?: Date;
  dateTo?: Date;
}>;

/** One page of a merchant's conversions, newest first, and how many there are in all. */
export async function listConversions(
  db: Queryable,
  merchantId: string,
  filter: ConversionFilter,
  page: Readonly<{ page: number; limit: number }>,
): Promise<{ items: ConversionRow[]; total: number }> {
  const where = `merchant_id = $1 AND ($2::text IS NULL OR status = $2) AND ($3::text IS NULL OR from_currency = $3)
    AND ($4::text IS NULL OR to_currency = $4) AND ($5::text IS NULL OR idempotency_key = $5)
    AND ($6::timestamptz IS NULL OR created_at >= $6) AND ($7::timestamptz IS NULL OR created_at < $7)`;
  const values = [
    merchantId,
    filter.status,
    filter.fromCurrency?.toUpperCase(),
    filter.toCurrency?.toUpperCase(),
    filter.idempotencyKey,
    filter.dateFrom,
    filter.dateTo,
  ];
  return pageOfRecords(db, { from: 'conversion', where }, values, page);
}

export async function readConversion(db: Queryable, merchantId: string, id: string): Promise<ConversionRow | null> {
  const [row] = await db.query<ConversionRow[]>('SELECT * FROM conversion WHERE id = $1 AND merchant_id = $2', [
    id,
    merchantId,
  ]);
  return row ?? null;
}

/** Which currencies can be backed now: the treasury holds more of them than is owed, by more than dust. */
export async function liquidity(db: Queryable): Promise<ReadonlyMap<Currency, boolean>> {
  const rows = await db.query<FreeRow[]>(freeSql, [assets.map(({ currency }) => currency)]);
  return new Map(rows.map(({ asset, free }) => [asset, compare(free, assetOf(asset).dust) > 0]));
}
