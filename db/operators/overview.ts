import type { NetworkId } from '../../domain/chains/assets';
import type { Queryable } from '../query';

/** How the platform is doing. Every statement reads what is open now, or a window of time by an index, so that its cost
 *  does not grow with the age of the database. */

export type OpenIncidents = { kind: string; count: number; oldestAt: Date };
export const openIncidents = (db: Queryable): Promise<OpenIncidents[]> =>
  db.query<OpenIncidents[]>(
    `SELECT kind, count(*)::int AS count, min(created_at) AS "oldestAt" FROM incident WHERE resolved_at IS NULL
      GROUP BY kind ORDER BY kind`,
  );

export type NetworkState = {
  network: string;
  height: string;
  headHeight: string;
  lagSeconds: number;
  staleReason: string | null;
  staleSince: Date | null;
  tracesOffSince: Date | null;
  openIntents: number;
};
export const networkStates = (db: Queryable, on: readonly NetworkId[]): Promise<NetworkState[]> =>
  db.query<NetworkState[]>(
    `SELECT c.network, c.height::text AS height, c.head_height::text AS "headHeight",
            extract(epoch FROM clock_timestamp() - c.scanned_through)::float8 AS "lagSeconds",
            c.stale_reason AS "staleReason", c.stale_since AS "staleSince", c.traces_off_since AS "tracesOffSince",
            (SELECT count(*)::int FROM intent i WHERE i.network = c.network
                AND i.status NOT IN ('final', 'failed', 'dead')) AS "openIntents"
       FROM chain_cursor c WHERE c.network = ANY($1) ORDER BY c.network`,
    [on],
  );

export type Backlog = {
  outboxRows: number;
  outboxAgeSeconds: number;
  openDeliveries: number;
  openPayments: number;
  openRequests: number;
  auditViolations: number | null;
  auditedAt: Date | null;
  waitingRegistrations: number;
};
/** What waits to be done. `outboxAgeSeconds`: of the oldest request to Temporal, those of slow receivers aside. */
export async function backlog(db: Queryable): Promise<Backlog> {
  const [row] = await db.query<Backlog[]>(
    `SELECT (SELECT count(*)::int FROM temporal_request) AS "outboxRows",
            (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0)::float8
               FROM temporal_request WHERE NOT is_behind) AS "outboxAgeSeconds",
            (SELECT count(*)::int FROM delivery WHERE status IN ('pending', 'retrying')) AS "openDeliveries",
            (SELECT coalesce(sum(open_payments), 0)::int FROM merchant_counter) AS "openPayments",
            (SELECT count(*)::int FROM operator_request WHERE state = 'open' AND expires_at > clock_timestamp())
              AS "openRequests",
            (SELECT count(*)::int FROM merchant WHERE approval = 'waiting') AS "waitingRegistrations",
            newest.violations AS "auditViolations", newest.at AS "auditedAt"
       FROM (SELECT) one LEFT JOIN (
         SELECT jsonb_array_length(violations) AS violations, at FROM audit_run ORDER BY id DESC LIMIT 1) newest
         ON true`,
  );
  return row!;
}

export type Volume = {
  fiatCurrency: string;
  created: number;
  settled: number;
  createdAmount: string;
  settledAmount: string;
};
/** Payments made since the time that `firstId` begins with, by the currency of their price: ids grow with time. */
export const volumesSince = (db: Queryable, firstId: string): Promise<Volume[]> =>
  db.query<Volume[]>(
    `SELECT fiat_currency AS "fiatCurrency", count(*)::int AS created,
            (count(*) FILTER (WHERE status = 'SETTLED'))::int AS settled,
            trim_scale(sum(fiat_amount))::text AS "createdAmount",
            trim_scale(coalesce(sum(fiat_amount) FILTER (WHERE status = 'SETTLED'), 0))::text AS "settledAmount"
       FROM payment WHERE id >= $1::char(24) GROUP BY fiat_currency ORDER BY fiat_currency`,
    [firstId],
  );
