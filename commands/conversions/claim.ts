import { asBalanceError, byClock, contentHash, StaleRecord } from '../../db/records';
import type { Queryable } from '../../db/query';
import {
  lostSql,
  type PairTerms,
  moveConversion,
  type ConversionPatch,
  lockConversion,
  emitConversionEvent,
} from '../../db/conversions/conversions';

import type { DataSource, EntityManager } from 'typeorm';
import type {
  ConversionAsk,
  ConversionQuote,
  ConversionRow,
  ConversionStatus,
  ExecutionMode,
} from '../../domain/conversions/conversion';
import { newId } from '../../domain/ids';
import { DomainError } from '../../domain/errors';

type ConversionBy = Readonly<{ keyId: string } | { userId: string }>;
/** One that somebody asks to execute. `idempotencyKey` null: no other can be the same. */
export type NewConversion = ConversionAsk &
  Readonly<{ merchantId: string; mode: ExecutionMode; idempotencyKey: string | null; by: ConversionBy }>;
const hashOf = (ask: ConversionAsk): string => contentHash([ask.fromCurrency, ask.toCurrency, ask.fromAmount]);

/** The conversion that stands for a key already, to be answered again; null: the key is free, also where what had it
 *  was interrupted. Throws CONVERSION_IN_PROGRESS, and IDEMPOTENCY_KEY_CONSUMED where the key has moved money for
 *  something else, or for what then failed. Invariants: 5. */
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
    `INSERT INTO conversion (id, merchant_id, idempotency_key, body_hash, status, execution_mode, from_currency,
       to_currency, from_amount, key_id, created_by)
     VALUES ($1, $2, $3, $4, 'initializing', $5, $6, $7, $8, $9, $10)
     ON CONFLICT (merchant_id, idempotency_key) WHERE is_debited OR status IN ('initializing', 'pending') DO NOTHING
       RETURNING *`,
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
export const priced = (quote: ConversionQuote, terms: Pick<PairTerms, 'rateIds'>): ConversionPatch => ({
  to_amount: quote.toAmount,
  exchange_rate: quote.exchangeRate,
  commission_amount: quote.commissionAmount,
  net_from_amount: quote.netFromAmount,
  from_rate_id: terms.rateIds.from,
  to_rate_id: terms.rateIds.to,
});
/** Moves a claim that nobody has ended meanwhile; it stays locked until the transaction ends. Throws
 *  CONVERSION_IN_PROGRESS where somebody has. */
export async function moveClaim(
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

/** The result of a posting; where the balance does not cover it, CONVERSION_FAILED. */
export const asConversionError = <Result>(posting: Promise<Result>): Promise<Result> =>
  asBalanceError(posting, 'CONVERSION_FAILED', 'The balance does not cover this conversion');

/** Ends a claim that no money has moved for, with the words that its merchant reads; its key is free again. Nothing
 *  where it has ended already. */
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
  await emitConversionEvent(tx, ended, `conversion.${status}`, row.status);
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
