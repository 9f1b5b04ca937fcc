import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { DataSource } from 'typeorm';
import { assetsOn, type NetworkId } from '../../domain/chains/assets';
import type { LossReason } from './write-behind';

type Reading = { name: string; label: string; value: number };

/** How the service is doing, read from PostgreSQL in one statement. Values are seconds or counts. Parameters: the networks that are on,
 *  and their currencies; what is off stands still, and that is no fault. */
const readingsSql = `
  SELECT 'outbox_age' AS name, '' AS label, coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0)::float8 AS value FROM temporal_request WHERE NOT is_behind
  UNION ALL SELECT 'outbox_rows', '', count(*)::float8 FROM temporal_request
  UNION ALL SELECT 'queue_age', '', coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0)::float8
    FROM delivery_queue WHERE NOT is_behind
  UNION ALL SELECT 'queue_rows', '', count(*)::float8 FROM delivery_queue
  UNION ALL SELECT 'open_intents', network, count(*)::float8 FROM intent WHERE status NOT IN ('final', 'failed', 'dead') GROUP BY network
  UNION ALL SELECT 'scan_lag', network, extract(epoch FROM clock_timestamp() - scanned_through)::float8 FROM chain_cursor
    WHERE network = ANY($1)
  UNION ALL SELECT 'blocks_behind', network, (head_height - height)::float8 FROM chain_cursor WHERE network = ANY($1)
  UNION ALL SELECT 'open_deliveries', '', count(*)::float8 FROM delivery WHERE status IN ('pending', 'retrying')
  UNION ALL SELECT 'open_payments', '', coalesce(sum(open_payments), 0)::float8 FROM merchant_counter
  UNION ALL SELECT 'open_incidents', kind, count(*)::float8 FROM incident WHERE resolved_at IS NULL GROUP BY kind
  UNION ALL SELECT 'withdrawals_waiting', '', count(*)::float8 FROM withdrawal WHERE status = 'pending' AND updated_at < now() - interval '5 minutes'
  UNION ALL SELECT 'rate_age', fiat, extract(epoch FROM clock_timestamp() - min(taken_at))::float8 FROM rate_latest
    WHERE currency = ANY($2) GROUP BY fiat
  UNION ALL SELECT 'open_conversions', status, count(*)::float8 FROM conversion WHERE status IN ('initializing', 'processing') GROUP BY status
  UNION ALL SELECT 'fx_position', f.asset, (f.amount * r.value)::float8 FROM fx_position f
    JOIN rate_latest r ON r.currency = f.asset AND r.fiat = 'USD'
  UNION ALL SELECT 'fx_limit', asset, limit_usd::float8 FROM fx_position WHERE limit_usd IS NOT NULL
  UNION ALL (SELECT 'audit_violations', '', jsonb_array_length(violations)::float8 FROM audit_run ORDER BY id DESC LIMIT 1)
  UNION ALL (SELECT 'audit_age', '', extract(epoch FROM clock_timestamp() - at)::float8 FROM audit_run ORDER BY id DESC LIMIT 1)`;

/** name → [metric, help, label] */
const gauges: Readonly<Record<string, readonly [string, string, string?]>> = {
  outbox_age: ['payments_outbox_age_seconds', 'Age of the oldest request that Temporal has not acknowledged'],
  outbox_rows: ['payments_outbox_rows', 'Requests that Temporal has not acknowledged'],
  queue_age: [
    'payments_delivery_queue_age_seconds',
    'Age of the oldest first attempt at a webhook, those behind all others aside',
  ],
  queue_rows: ['payments_delivery_queue_rows', 'First attempts at webhooks that wait or are under way'],
  open_intents: ['payments_open_intents', 'Outgoing transactions under way', 'network'],
  scan_lag: ['payments_scan_lag_seconds', 'How far the follower is behind the clock', 'network'],
  blocks_behind: ['payments_scan_blocks_behind', 'How many blocks the follower is behind the head', 'network'],
  open_deliveries: ['payments_open_deliveries', 'Events not delivered yet'],
  open_payments: ['payments_open', 'Payments that have not ended'],
  open_incidents: ['payments_open_incidents', 'Incidents that nobody has resolved', 'kind'],
  withdrawals_waiting: ['payments_withdrawals_waiting', 'Withdrawals that nothing has paid for five minutes'],
  rate_age: ['payments_rate_age_seconds', 'Age of the oldest rate in use', 'fiat'],
  open_conversions: ['payments_open_conversions', 'Conversions that have not ended', 'status'],
  fx_position: ['payments_fx_position_usd', 'What the platform holds by converting, in dollars', 'asset'],
  fx_limit: [
    'payments_fx_limit_usd',
    'Beyond it pairs that enlarge the position are executed elsewhere, or off',
    'asset',
  ],
  audit_violations: ['payments_audit_violations', 'Violations that the last audit found'],
  audit_age: ['payments_audit_age_seconds', 'Time since the last audit'],
};

type Answered = Readonly<{ method: string; route: string; status: number; seconds: number }>;

/** A parser of HTTP knows three dozen methods, and a caller chooses. */
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

/** What Prometheus reads. Labels are names of this code (routes, networks, kinds) and never what a caller wrote: the
 *  number of series is bounded. The database is asked at most every `cacheMs`, however often it is scraped. */
export class Metrics {
  readonly registry = new Registry();
  private readonly durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from request to answer, by route',
    labelNames: ['route'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5],
    registers: [this.registry],
  });
  private readonly answers = new Counter({
    name: 'http_requests_total',
    help: 'Requests answered, by method, route and status',
    labelNames: ['method', 'route', 'status'],
    registers: [this.registry],
  });
  readonly streams = new Gauge({ name: 'api_event_streams', help: 'Open event streams', registers: [this.registry] });
  /** By why: `full`: too many waited to be written; `failed`: PostgreSQL did not take them. */
  readonly lostRequests = new Counter({
    name: 'api_request_log_lost_total',
    help: 'Requests that are missing in the request log of their merchant',
    labelNames: ['reason'],
    registers: [this.registry],
  });
  private readonly up = new Gauge({
    name: 'payments_database_up',
    help: 'Whether PostgreSQL answered the scrape',
    registers: [this.registry],
  });
  private readonly byName = new Map<string, Gauge>();
  private readAt = 0;

  constructor(
    private readonly db: DataSource,
    private readonly networks: readonly NetworkId[],
    private readonly cacheMs = 5000,
  ) {
    collectDefaultMetrics({ register: this.registry });
    for (const reason of ['full', 'failed'] satisfies LossReason[]) this.lostRequests.inc({ reason }, 0);
    for (const [name, [metric, help, label]] of Object.entries(gauges))
      this.byName.set(
        name,
        new Gauge({ name: metric, help, labelNames: label ? [label] : [], registers: [this.registry] }),
      );
  }

  /** Counts an answer. `route`: the path of the declaration, or `none`. */
  note({ method, route, status, seconds }: Answered): void {
    this.durations.observe({ route }, seconds);
    this.answers.inc({ method: methods.includes(method) ? method : 'other', route, status });
  }

  async text(): Promise<string> {
    if (Date.now() - this.readAt >= this.cacheMs) {
      this.readAt = Date.now();
      await this.read();
    }
    return this.registry.metrics();
  }

  private async read(): Promise<void> {
    let readings: Reading[] = [];
    const own = assetsOn(this.networks).map(({ currency }) => currency);
    try {
      readings = await this.db.query<Reading[]>(readingsSql, [this.networks, own]);
      this.up.set(1);
    } catch {
      // Told by the gauge; a scrape must not fail with the database.
      this.up.set(0);
    }
    for (const gauge of this.byName.values()) gauge.reset();
    for (const { name, label, value } of readings) {
      const labelName = gauges[name]?.[2];
      if (labelName) this.byName.get(name)?.set({ [labelName]: label }, value);
      else this.byName.get(name)?.set(value);
    }
  }
}
