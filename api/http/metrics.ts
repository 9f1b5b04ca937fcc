import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { DataSource } from 'typeorm';
import { observePool } from '../../db/pool-metrics';
import type { LossReason } from './write-behind';

type Answered = Readonly<{ method: string; route: string; status: number; seconds: number }>;

/** A parser of HTTP knows three dozen methods, and a caller chooses. */
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

/** What Prometheus reads of an API process. Labels are names of this code (routes, statuses) and never what a caller
 *  wrote: the number of series is bounded. What the database knows is read by the payments worker. */
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

  constructor(db: DataSource) {
    collectDefaultMetrics({ register: this.registry });
    observePool(this.registry, db);
    for (const reason of ['full', 'failed'] satisfies LossReason[]) this.lostRequests.inc({ reason }, 0);
  }

  /** Counts an answer. `route`: the path of the declaration, or `none`. */
  note({ method, route, status, seconds }: Answered): void {
    this.durations.observe({ route }, seconds);
    this.answers.inc({ method: methods.includes(method) ? method : 'other', route, status });
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }
}
