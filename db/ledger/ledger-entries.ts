import type { DataSource } from 'typeorm';
import { inBatches } from '../batches';
import type { Queryable } from '../query';
import type { RowOf } from '../entity';
import type { ledgerEntryEntity } from './entities';

/** A row of an account statement. Decimal strings; `seq` grows with time. */
export type EntryRow = Readonly<Omit<RowOf<typeof ledgerEntryEntity>, 'journal_id' | 'merchant_id'> & { id: string }>;

/** Contract: G7. `dateFrom` inclusive, `dateTo` exclusive; `cursor`: the seq of the last entry of the page before. */
export type EntryFilter = Readonly<{
  currency?: string;
  type?: string;
  sourceType?: string;
  sourceId?: string;
  dateFrom?: Date;
  dateTo?: Date;
  cursor?: string;
}>;

const idOf = (seq: string): string => `left(encode(sha256(convert_to('ledger/' || ${seq}, 'UTF8')), 'hex'), 24)`;

/** A merchant's entries, newest first, at most `limit`. */
export const entriesOf = (db: Queryable, merchantId: string, filter: EntryFilter, limit: number): Promise<EntryRow[]> =>
  db.query<EntryRow[]>(
    `SELECT ${idOf('e.seq')} AS id, e.seq::text AS seq, e.asset, e.type, trim_scale(e.amount)::text AS amount,
            trim_scale(e.reserved_change)::text AS reserved_change, trim_scale(e.balance_after)::text AS balance_after,
            trim_scale(e.reserved_after)::text AS reserved_after,
            e.fiat_currency, trim_scale(e.fiat_rate)::text AS fiat_rate,
            e.source_type, e.source_id, e.tx_id, ${idOf('e.reversal_of')} AS reversal_of, e.created_at
       FROM ledger_entry e
      WHERE e.merchant_id = $1 AND ($2::text IS NULL OR e.asset = $2) AND ($3::text IS NULL OR e.type = $3)
        AND ($4::text IS NULL OR e.source_type = $4) AND ($5::text IS NULL OR e.source_id = $5)
        AND ($6::timestamptz IS NULL OR e.created_at >= $6) AND ($7::timestamptz IS NULL OR e.created_at < $7)
        AND ($8::bigint IS NULL OR e.seq < $8)
      ORDER BY e.seq DESC LIMIT $9`,
    [
      merchantId,
      filter.currency ?? null,
      filter.type ?? null,
      filter.sourceType ?? null,
      filter.sourceId ?? null,
      filter.dateFrom ?? null,
      filter.dateTo ?? null,
      filter.cursor ?? null,
      limit,
    ],
  );

/** Every entry that the filter finds, newest first. What is posted meanwhile is newer, and not there. */
export const exportEntries = (db: Queryable, merchantId: string, filter: EntryFilter) =>
  inBatches({ size: 500, from: filter.cursor, cursorOf: ({ seq }: EntryRow) => seq }, (cursor, size) =>
    entriesOf(db, merchantId, { ...filter, cursor }, size),
  );

/** What a currency had at both ends of a period, and what came and went between; decimal strings. The filter's type and
 *  source choose lines, and change nothing here. */
export type StatementTotal = Readonly<{
  currency: string;
  opening: string;
  openingReserved: string;
  came: string;
  went: string;
  closing: string;
  closingReserved: string;
}>;

/** A period of an account statement, its lines oldest first, as of one moment; null where it has more than `most`. */
export const statementOf = (
  db: DataSource,
  merchantId: string,
  filter: EntryFilter,
  most: number,
): Promise<{ totals: StatementTotal[]; lines: EntryRow[] } | null> =>
  db.transaction('REPEATABLE READ', async (tx) => {
    const lines = await entriesOf(tx, merchantId, filter, most + 1);
    if (lines.length > most) return null;
    const totals = await tx.query<StatementTotal[]>(
      `SELECT asset AS currency, trim_scale(coalesce(sum(amount) FILTER (WHERE is_before), 0))::text AS opening,
              trim_scale(coalesce(sum(reserved_change) FILTER (WHERE is_before), 0))::text AS "openingReserved",
              trim_scale(coalesce(sum(amount) FILTER (WHERE NOT is_before AND amount > 0), 0))::text AS came,
              trim_scale(coalesce(sum(amount) FILTER (WHERE NOT is_before AND amount < 0), 0))::text AS went,
              trim_scale(sum(amount))::text AS closing, trim_scale(sum(reserved_change))::text AS "closingReserved"
         FROM (SELECT asset, amount, reserved_change, $3::timestamptz IS NOT NULL AND created_at < $3 AS is_before
           FROM ledger_entry
                WHERE merchant_id = $1 AND ($2::text IS NULL OR asset = $2)
                  AND ($4::timestamptz IS NULL OR created_at < $4)) e
        GROUP BY asset ORDER BY asset`,
      [merchantId, filter.currency ?? null, filter.dateFrom ?? null, filter.dateTo ?? null],
    );
    return { totals, lines: lines.reverse() };
  });
