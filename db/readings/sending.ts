import { lanesOf } from '../txmanager/blockers';
import type { Queryable } from '../query';
import type { Reading } from './reading';

/** What is on its way out, by network. */

const open = `status NOT IN ('final', 'failed', 'dead')`;

/** Intents by status with the age of the oldest, and what the dearest of them has of its fee budget. An attempt counts
 *  with what it paid, or may pay. */
export const readIntents = (db: Queryable): Promise<Reading[]> =>
  db.query<Reading[]>(
    `WITH under_way AS (
       SELECT network, status, count(*) AS n, min(created_at) AS oldest FROM intent WHERE ${open}
        GROUP BY network, status)
     SELECT 'payments_intents' AS name, jsonb_build_object('network', network, 'status', status) AS labels,
            n::float8 AS value FROM under_way
     UNION ALL SELECT 'payments_intent_age_seconds', jsonb_build_object('network', network, 'status', status),
            extract(epoch FROM clock_timestamp() - oldest)::float8 FROM under_way
     UNION ALL SELECT 'payments_fee_budget_used_ratio', jsonb_build_object('network', i.network),
            max(coalesce(a.fee_units, a.max_fee_units) / i.fee_budget)::float8
       FROM intent i JOIN attempt a ON a.intent_id = i.id
      WHERE i.${open} AND a.status NOT IN ('replaced', 'expired') AND i.fee_budget > 0 GROUP BY i.network`,
  );

/** How long the oldest transaction without a block waits: of ours, and of payers where a network shows its pool. */
export const readUnconfirmed = (db: Queryable): Promise<Reading[]> =>
  db.query<Reading[]>(
    `SELECT 'payments_unconfirmed_age_seconds' AS name,
            jsonb_build_object('network', network, 'direction', 'out') AS labels,
            extract(epoch FROM clock_timestamp() - min(sent_at))::float8 AS value
       FROM attempt WHERE status = 'sent' AND sent_at IS NOT NULL GROUP BY network
     UNION ALL SELECT 'payments_unconfirmed_age_seconds',
            jsonb_build_object('network', network, 'direction', 'in'),
            extract(epoch FROM clock_timestamp() - min(first_seen_at))::float8
       FROM deposit WHERE status = 'pool' GROUP BY network`,
  );

/** Hot wallets and gas wallets by what holds them up. */
export async function readLanes(db: Queryable, networks: readonly string[]): Promise<Reading[]> {
  const counts = new Map<string, number>();
  for (const { network, frozenReason, isBlocked } of await lanesOf(db, networks)) {
    const state = frozenReason !== null ? 'frozen' : isBlocked ? 'blocked' : 'open';
    for (const one of ['open', 'blocked', 'frozen']) {
      const key = `${network} ${one}`;
      counts.set(key, (counts.get(key) ?? 0) + (one === state ? 1 : 0));
    }
  }
  return [...counts].map(([key, value]) => {
    const [network, state] = key.split(' ') as [string, string];
    return { name: 'payments_lanes', labels: { network, state }, value };
  });
}

/** Withdrawals and conversions that have not ended, and what may still leave: the share of each limit that is used, of
 *  the platform and of the merchant who is nearest to theirs. */
export const readOutgoing = (db: Queryable): Promise<Reading[]> =>
  db.query<Reading[]>(
    `WITH used AS (
       SELECT merchant_id, coalesce(sum(usd) FILTER (WHERE released_at IS NULL), 0) AS usd,
              count(*) FILTER (WHERE admitted_at > now() - interval '1 hour') AS n
         FROM egress_admission WHERE admitted_at > now() - interval '24 hours' GROUP BY merchant_id),
     limits AS (
       SELECT l.scope, min(l.daily_usd) AS usd, min(l.hourly_count) AS n FROM egress_limit l
        WHERE l.id >= coalesce((SELECT max(a.id) FROM egress_limit a
                                 WHERE a.scope = l.scope AND a.active_at <= now()), 0) GROUP BY l.scope),
     shares AS (
       SELECT 'platform' AS scope, l.usd AS usd_limit, l.n AS n_limit, u.usd, u.n
         FROM limits l, (SELECT coalesce(sum(usd), 0) AS usd, coalesce(sum(n), 0) AS n FROM used) u
        WHERE l.scope = 'platform'
       UNION ALL SELECT 'merchant', l.usd, l.n, u.usd, u.n
         FROM used u JOIN limits l ON l.scope IN (u.merchant_id, 'platform/' || u.merchant_id))
     SELECT 'payments_limit_used_ratio' AS name, jsonb_build_object('scope', scope, 'limit', 'daily_usd') AS labels,
            max(usd / nullif(usd_limit, 0))::float8 AS value FROM shares WHERE usd_limit > 0 GROUP BY scope
     UNION ALL SELECT 'payments_limit_used_ratio', jsonb_build_object('scope', scope, 'limit', 'hourly_count'),
            max(n::numeric / n_limit)::float8 FROM shares WHERE n_limit > 0 GROUP BY scope
     UNION ALL SELECT 'payments_frozen_assets', '{}', count(*)::float8 FROM egress_freeze
     UNION ALL SELECT 'payments_withdrawals_waiting', '{}', count(*)::float8 FROM withdrawal
      WHERE status = 'pending' AND updated_at < now() - interval '5 minutes'
     UNION ALL SELECT 'payments_open_conversions', jsonb_build_object('status', status), count(*)::float8
       FROM conversion WHERE status IN ('initializing', 'processing') GROUP BY status`,
  );
