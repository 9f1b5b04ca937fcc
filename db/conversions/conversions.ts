import type { EntityManager } from 'typeorm';
import { assetOf, isByLightning, type Currency } from '../../domain/chains/assets';
import {
  defaultMaximumUsd,
  modeOf,
  viewConversion,
  type ConversionAsk,
  type ConversionEventType,
  type ConversionRow,
  type ConversionStatus,
  type Exposure,
  type PairMode,
  type UsdRates,
} from '../../domain/conversions/conversion';
import { DomainError } from '../../domain/errors';
import { add, compare, negate, times, trim } from '../../domain/money';
import { workflowIds } from '../../domain/workflow-ids';
import type { Queryable } from '../query';
import { requestSignal } from '../temporal/temporal-requests';
import { emitRecordEvent, moveRecord, pageOfRecords, type Patch } from '../records';

/** Balances into each other: the terms of pairs, and the rows of conversions. The transactions that move the money are
 *  in commands/conversions. Contract: 4.4.
 *  Lock order: conversion, positions by asset, balances, the merchant's counter. */

/** What is in force for a pair now. `now`: the database's clock. */
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
    mode: modeOf(
      from.mode ?? usualMode(pair),
      exposureOf(from, rates.from, worth),
      exposureOf(to, rates.to, negate(worth)),
    ),
    maximumUsd: from.max_usd ?? defaultMaximumUsd,
    rates,
    rateIds: { from: from.rate_id!, to: to.rate_id! },
  };
}
/** Where nobody has set anything: what came by Lightning is converted where an operator says so. */
const usualMode = ({ fromCurrency }: Pick<ConversionAsk, 'fromCurrency'>): PairMode =>
  isByLightning(fromCurrency) ? 'off' : 'internal';

/** Whether what came by Lightning converts to bitcoin at present. */
export const isLightningConverted = async (db: Queryable): Promise<boolean> =>
  (
    await db.query<unknown[]>(
      `SELECT FROM conversion_pair WHERE from_currency = 'BTC_LN' AND to_currency = 'BTC' AND mode = 'internal'`,
    )
  ).length > 0;

export type PositionRow = { position: string | null; limit_usd: string | null; beyond: 'external' | 'off' | null };
export const exposureOf = ({ position, limit_usd, beyond }: PositionRow, rate: string, taken: string): Exposure => ({
  positionUsd: add(times(position ?? '0', rate, 18, 'down'), taken),
  limitUsd: limit_usd,
  beyond: beyond ?? 'off',
});

/** How long a claim may take. Its caller has given up by then. */
const claimSeconds = 20;
export const lostSql = `(status = 'initializing'
  AND updated_at < clock_timestamp() - interval '${claimSeconds} seconds')`;

/** Gives the key back of a claim that came to nothing, as if it had never been. */
export const dropClaim = (db: Queryable, id: string): Promise<unknown> =>
  db.query(`DELETE FROM conversion WHERE id = $1 AND status = 'initializing'`, [id]);

/** The conversions with these ids, as far as they exist, locked until the transaction ends. */
export const lockConversions = (tx: EntityManager, ids: readonly string[]): Promise<ConversionRow[]> =>
  tx.query<ConversionRow[]>('SELECT * FROM conversion WHERE id = ANY($1) ORDER BY id FOR UPDATE', [ids]);

/** One of them; null where there is none. */
export const lockConversion = async (tx: EntityManager, id: string): Promise<ConversionRow | null> =>
  (await lockConversions(tx, [id]))[0] ?? null;

export type ConversionPatch = Patch<
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

/** As `emitRecordEvent`. */
export const emitConversionEvent = (
  tx: EntityManager,
  row: ConversionRow,
  type: ConversionEventType,
  before: ConversionStatus,
): Promise<string> => emitRecordEvent(tx, row, type, (livemode) => viewConversion(row, livemode), before);

type FreeRow = { asset: string; treasury: string; owed: string; free: string };
/** What the treasury holds of each asset, what merchants are owed of it, and what that leaves, less what came for
 *  conversions that are not completed yet; of a frozen asset nothing. */
export const freeSql =
  'SELECT asset, treasury::text AS treasury, owed::text AS owed, free::text AS free FROM free_of($1::text[])';

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

/** Which of these currencies can be backed now: the treasury holds more of them than is owed, by more than dust. */
export async function liquidity(
  db: Queryable,
  currencies: readonly Currency[],
): Promise<ReadonlyMap<Currency, boolean>> {
  const rows = await db.query<FreeRow[]>(freeSql, [currencies]);
  return new Map(rows.map(({ asset, free }) => [asset, compare(free, assetOf(asset).dust) > 0]));
}

/** Lets the workflow of a conversion look again; starts it where it does not run. */
export const notifyConversion = (
  tx: EntityManager,
  conversion: Pick<ConversionRow, 'id' | 'merchant_id' | 'from_currency' | 'from_amount' | 'to_currency'>,
): Promise<unknown> =>
  requestSignal(tx, {
    workflow: 'conversion',
    workflowId: workflowIds.conversion(conversion.id),
    args: [conversion.id],
    signal: 'updated',
    attributes: {
      MerchantId: conversion.merchant_id,
      Currency: conversion.from_currency,
      summary: `Conversion of ${trim(conversion.from_amount)} ${conversion.from_currency} to ${conversion.to_currency}`,
    },
  });
