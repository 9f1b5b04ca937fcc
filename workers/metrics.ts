import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';
import { observePool } from '../db/pool-metrics';
import type { Config } from '../domain/config';
import { openInternalPort, type InternalPort } from './internal-port';

/** Metrics beside those of every process: brought up to date for each scrape. */
export type MoreMetrics = (registry: Registry) => Readonly<{ update(): Promise<void>; close(): Promise<void> }>;

type Observed = Readonly<{
  config: Config;
  role: 'payments' | 'chain' | 'signer';
  db: DataSource;
  log: Logger;
  /** What the Temporal SDK says, in Prometheus' text format. */
  temporal: () => Promise<string>;
  more: readonly MoreMetrics[];
}>;

/** Serves the metrics of a worker, and whether PostgreSQL answers it. */
export async function serveMetrics({ config, role, db, log, temporal, more }: Observed): Promise<InternalPort> {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  collectDefaultMetrics({ register: registry });
  observePool(registry, db);
  const up = new Gauge({
    name: 'temporal_sdk_metrics_up',
    help: 'Whether the Temporal SDK gave its metrics to the scrape',
    registers: [registry],
  });
  const own = more.map((one) => one(registry));
  const port = await openInternalPort(
    { host: config.METRICS_HOST, port: config.METRICS_PORT },
    {
      contentType: registry.contentType,
      metrics: async () => {
        const [ofSdk] = await Promise.all([
          temporal().catch((error: Error) => {
            log.warn({ error: error.message }, 'The Temporal SDK did not give its metrics');
            return '';
          }),
          ...own.map((one) => one.update()),
        ]);
        up.set(ofSdk ? 1 : 0);
        return (await registry.metrics()) + ofSdk;
      },
      ready: () => db.query('SELECT 1'),
    },
  );
  return {
    url: port.url,
    close: async () => {
      await port.close();
      for (const one of own) await one.close();
    },
  };
}
