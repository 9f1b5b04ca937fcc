import { actBatches, type ActFilter, type ActRow } from '../access/audit-log';
import { inBatches } from '../batches';
import type { Queryable } from '../query';

/** The audit log of the whole platform, for operators. */

export type PlatformActRow = ActRow & { merchant_id: string | null; merchant_name: string | null };
export type PlatformActFilter = ActFilter & Readonly<{ merchantId?: string }>;

/** Acts of everybody, newest first, older than `cursor`. */
export const allActs = (
  db: Queryable,
  filter: PlatformActFilter & Readonly<{ cursor?: string | undefined; limit: number }>,
): Promise<PlatformActRow[]> =>
  db.query<PlatformActRow[]>(
    `SELECT l.id::text, l.at, l.actor_kind, l.actor_id, l.actor_name, l.action, l.target, l.before, l.after, l.ip,
            l.request_id, l.merchant_id, m.name AS merchant_name
       FROM audit_log l LEFT JOIN merchant m ON m.id = l.merchant_id
      WHERE ($1::text IS NULL OR l.merchant_id = $1)
        AND ($2::text IS NULL OR l.actor_id = $2 OR l.actor_name = lower($2))
        AND ($3::text IS NULL OR l.action = $3) AND ($4::timestamptz IS NULL OR l.at >= $4)
        AND ($5::timestamptz IS NULL OR l.at < $5) AND ($6::bigint IS NULL OR l.id < $6)
      ORDER BY l.id DESC LIMIT $7`,
    [
      filter.merchantId ?? null,
      filter.actor ?? null,
      filter.action ?? null,
      filter.from ?? null,
      filter.to ?? null,
      filter.cursor ?? null,
      filter.limit,
    ],
  );

/** All that a filter finds, newest first, a batch at a time. */
export const exportAllActs = (db: Queryable, filter: PlatformActFilter) =>
  inBatches(actBatches, (cursor, limit) => allActs(db, { ...filter, cursor, limit }));
