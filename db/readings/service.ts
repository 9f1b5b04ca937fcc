import { ratedAsSql } from '../functions/rated-as';
import type { Queryable } from '../query';
import type { Reading } from './reading';

/** Networks, the outbox, deliveries, prices and the books. */

/** What followers have read, of networks that are on: what is off stands still, and that is no fault. A reorganisation
 *  shows for an hour. */
export const readChains = (db: Queryable, networks: readonly string[]): Promise<Reading[]> =>
  db.query<Reading[]>(
    `SELECT reading.name, jsonb_build_object('network', c.network) AS labels, reading.value
       FROM chain_cursor c, LATERAL (VALUES
         ('payments_scan_lag_seconds', extract(epoch FROM clock_timestamp() - c.scanned_through)::float8),
         ('payments_scan_blocks_behind', (c.head_height - c.height)::float8),
         ('payments_node_stale_seconds', coalesce(extract(epoch FROM clock_timestamp() - c.stale_since), 0)::float8),
         ('payments_reorganisation_depth_blocks',
          CASE WHEN c.reorganised_at > now() - interval '1 hour' THEN c.reorganised_depth ELSE 0 END::float8)
       ) reading (name, value)
      WHERE c.network = ANY($1)`,
    [networks],
  );

/** What waits for Temporal, for merchants' servers and for the mail server. */
export const readWaiting = (db: Queryable): Promise<Reading[]> =>
  db.query<Reading[]>(
    `SELECT 'payments_outbox_age_seconds' AS name, '{}'::jsonb AS labels,
            coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0)::float8 AS value
       FROM temporal_request WHERE NOT is_behind
     UNION ALL SELECT 'payments_outbox_rows', '{}', count(*)::float8 FROM temporal_request
     UNION ALL SELECT 'payments_delivery_queue_age_seconds', '{}',
            coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0)::float8
       FROM delivery_queue WHERE NOT is_behind
     UNION ALL SELECT 'payments_delivery_queue_rows', '{}', count(*)::float8 FROM delivery_queue
     UNION ALL SELECT 'payments_open_deliveries', jsonb_build_object('status', status), count(*)::float8
       FROM delivery WHERE status IN ('pending', 'retrying') GROUP BY status
     UNION ALL SELECT 'payments_delivery_age_seconds', jsonb_build_object('status', status),
            extract(epoch FROM clock_timestamp() - min(created_at))::float8
       FROM delivery WHERE status IN ('pending', 'retrying') GROUP BY status
     UNION ALL SELECT 'payments_failing_endpoints', '{}', count(*)::float8
       FROM webhook_endpoint WHERE failing_since IS NOT NULL AND is_active
     UNION ALL SELECT 'payments_mail_waiting', '{}', count(*)::float8 FROM mail WHERE sent_at IS NULL
     UNION ALL SELECT 'payments_open', '{}', coalesce(sum(open_payments), 0)::float8 FROM merchant_counter
     UNION ALL SELECT 'payments_open_incidents', jsonb_build_object('kind', kind), count(*)::float8
       FROM incident WHERE resolved_at IS NULL GROUP BY kind`,
  );

/** Age of the oldest rate in use, and how far the exchanges of the newest one are apart: the highest price less the
 *  lowest one, as a share of the rate. `currencies`: of networks that are on. */
export const readRates = (db: Queryable, currencies: readonly string[]): Promise<Reading[]> =>
  db.query<Reading[]>(
    `SELECT 'payments_rate_age_seconds' AS name, jsonb_build_object('fiat', fiat) AS labels,
            extract(epoch FROM clock_timestamp() - min(taken_at))::float8 AS value
       FROM rate_latest WHERE currency = ANY($1) GROUP BY fiat
     UNION ALL SELECT 'payments_rate_spread_ratio', jsonb_build_object('currency', l.currency), (
              SELECT (max(price) - min(price)) / l.value FROM (
                SELECT (source->>'value')::numeric AS price FROM jsonb_array_elements(r.sources) source
                 WHERE source->>'refused' IS NULL) prices)::float8
       FROM rate_latest l JOIN rate r ON r.id = l.rate_id
      WHERE l.currency = ANY($1) AND l.fiat = 'USD' AND jsonb_array_length(r.sources) > 0`,
    [currencies],
  );

/** What the audit and the reconciliation found last, and what the platform holds by converting. */
export const readBooks = (db: Queryable): Promise<Reading[]> =>
  db.query<Reading[]>(
    `SELECT audit.name, '{}'::jsonb AS labels, audit.value FROM (
       SELECT violations, at FROM audit_run ORDER BY id DESC LIMIT 1) run, LATERAL (VALUES
         ('payments_audit_violations', jsonb_array_length(run.violations)::float8),
         ('payments_audit_age_seconds', extract(epoch FROM clock_timestamp() - run.at)::float8)
       ) audit (name, value)
     UNION ALL SELECT 'payments_reconciliation_age_seconds', jsonb_build_object('currency', currency),
            extract(epoch FROM clock_timestamp() - at)::float8 FROM reconciliation
     UNION ALL SELECT 'payments_unexplained_amount', jsonb_build_object('currency', currency), unexplained::float8
       FROM reconciliation
     UNION ALL SELECT 'payments_fx_position_usd', jsonb_build_object('asset', f.asset), (f.amount * r.value)::float8
       FROM fx_position f JOIN rate_latest r ON r.fiat = 'USD' AND r.currency = ${ratedAsSql('f.asset')}
     UNION ALL SELECT 'payments_fx_limit_usd', jsonb_build_object('asset', asset), limit_usd::float8
       FROM fx_position WHERE limit_usd IS NOT NULL`,
  );

/** Whether this connection is the one that reads for the metrics. It stays so for as long as it lives; others are
 *  refused meanwhile. */
export async function isReader(db: Queryable): Promise<boolean> {
  const [row] = await db.query<Array<{ isOurs: boolean }>>(
    `SELECT pg_try_advisory_lock(hashtext('metrics of the service')) AS "isOurs"`,
  );
  return row!.isOurs;
}
