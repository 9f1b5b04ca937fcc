import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import type { DataSource } from 'typeorm';
import { createDataSource } from '../db/data-source';
import type { Queryable } from '../db/query';
import type { Reading } from '../db/readings/reading';
import { readIntents, readLanes, readOutgoing, readUnconfirmed } from '../db/readings/sending';
import { readLightning } from '../db/readings/lightning';
import { isReader, readBooks, readChains, readRates, readWaiting } from '../db/readings/service';
import { assetsOn, type NetworkId } from '../domain/chains/assets';
import type { Config } from '../domain/config';
import type { MoreMetrics } from './metrics';

type Metric = readonly [name: string, help: string, labels?: readonly string[]];

/** Every metric that is read from the database. */
const metrics: readonly Metric[] = [
  ['payments_scan_lag_seconds', 'How far the follower is behind the clock', ['network']],
  ['payments_scan_blocks_behind', 'How many blocks the follower is behind the head', ['network']],
  ['payments_node_stale_seconds', 'For how long the node knows nothing of now; 0: it is fresh', ['network']],
  [
    'payments_reorganisation_depth_blocks',
    'Blocks that the last reorganisation took at most; 0 after an hour',
    ['network'],
  ],
  [
    'payments_unconfirmed_age_seconds',
    'Age of the oldest transaction without a block; out: of ours, in: of payers',
    ['network', 'direction'],
  ],
  ['payments_intents', 'Outgoing transactions under way', ['network', 'status']],
  ['payments_intent_age_seconds', 'Age of the oldest outgoing transaction under way', ['network', 'status']],
  ['payments_fee_budget_used_ratio', 'Share of its fee budget that an open transaction has used, at most', ['network']],
  ['payments_lanes', 'Hot and gas wallets, by what holds them up', ['network', 'state']],
  [
    'payments_limit_used_ratio',
    'Share of a limit on outgoing money that is used; merchant: of who is nearest',
    ['scope', 'limit'],
  ],
  ['payments_frozen_assets', 'Assets of which nothing may leave'],
  ['payments_withdrawals_waiting', 'Withdrawals that nothing has paid for five minutes'],
  ['payments_open_conversions', 'Conversions that have not ended', ['status']],
  ['payments_outbox_age_seconds', 'Age of the oldest request that Temporal has not acknowledged'],
  ['payments_outbox_rows', 'Requests that Temporal has not acknowledged'],
  [
    'payments_delivery_queue_age_seconds',
    'Age of the oldest first attempt at a webhook, those behind all others aside',
  ],
  ['payments_delivery_queue_rows', 'First attempts at webhooks that wait or are under way'],
  ['payments_open_deliveries', 'Events not delivered yet', ['status']],
  ['payments_delivery_age_seconds', 'Age of the oldest event not delivered yet', ['status']],
  ['payments_failing_endpoints', 'Webhook endpoints whose last attempt failed'],
  ['payments_mail_waiting', 'Mails not sent yet'],
  ['payments_open', 'Payments that have not ended'],
  ['payments_open_incidents', 'Incidents that nobody has resolved', ['kind']],
  ['payments_rate_age_seconds', 'Age of the oldest rate in use', ['fiat']],
  ['payments_rate_spread_ratio', 'Highest less lowest price of the sources, as a share of the rate', ['currency']],
  ['payments_audit_violations', 'Violations that the last audit found'],
  ['payments_audit_age_seconds', 'Time since the last audit'],
  ['payments_reconciliation_age_seconds', 'Time since ledger and chain were compared', ['currency']],
  ['payments_unexplained_amount', 'What the chain has beyond the ledger and nothing explains', ['currency']],
  ['payments_lightning_look_age_seconds', 'Time since the Lightning node was last heard of'],
  ['payments_lightning_blocks_behind', 'How many blocks the Lightning node is behind the follower of Bitcoin'],
  ['payments_lightning_capacity_btc', 'What channels that are up can carry, in: to us, out: to others', ['direction']],
  ['payments_lightning_invoices', 'Lightning invoices that have not ended', ['state']],
  ['payments_lightning_decided_age_seconds', 'Age of the oldest decision that the Lightning node has not carried out'],
  ['payments_lightning_taking_age_seconds', 'Age of the oldest decision to take money that is not booked'],
  ['payments_lightning_paying_age_seconds', 'For how long the oldest payment by Lightning has been processing'],
  ['payments_fx_position_usd', 'What the platform holds by converting, in dollars', ['asset']],
  ['payments_fx_limit_usd', 'Beyond it pairs that enlarge the position are executed elsewhere, or off', ['asset']],
];

/** The labels of them all: a series is there only while there is something to count. */
export const readingLabels = metrics.flatMap(([, , labels = []]) => labels);

/** Metrics of the service as a whole, read from the database by one process: of several payments workers, the one whose
 *  connection has the lock. At most once in `cacheMs`, however often they are scraped. */
export class Readings {
  private readonly gauges = new Map<string, Gauge>();
  private readonly up: Gauge;
  private readonly reader: Gauge;
  private readonly readers: ReadonlyArray<(db: Queryable) => Promise<Reading[]>>;
  private readAt = 0;

  /** `db`: one connection that nobody else uses and that is never closed while idle. */
  constructor(
    private readonly db: DataSource,
    registry: Registry,
    networks: readonly NetworkId[],
    private readonly log: Pick<Logger, 'warn'>,
    private readonly cacheMs = 5000,
  ) {
    const registers = [registry];
    for (const [name, help, labelNames = []] of metrics)
      this.gauges.set(name, new Gauge({ name, help, labelNames, registers }));
    this.up = new Gauge({
      name: 'payments_database_up',
      help: 'Whether PostgreSQL answered the scrape',
      registers,
    });
    this.reader = new Gauge({
      name: 'payments_reader',
      help: 'Whether this process reads the metrics of the service as a whole',
      registers,
    });
    const currencies = assetsOn(networks).map(({ currency }) => currency);
    this.readers = [
      (one) => readChains(one, networks),
      readIntents,
      readUnconfirmed,
      (one) => readLanes(one, networks),
      readOutgoing,
      readWaiting,
      (one) => readRates(one, currencies),
      readBooks,
      readLightning,
    ];
  }

  /** Brings the gauges up to date. Never rejects: a scrape must not fail with the database, whose gauge says so. */
  async update(): Promise<void> {
    if (Date.now() - this.readAt < this.cacheMs) return;
    this.readAt = Date.now();
    let readings: Reading[] = [];
    try {
      readings = await this.read();
      this.up.set(1);
    } catch (error) {
      this.log.warn({ error: (error as Error).message }, 'The metrics of the service could not be read');
      this.up.set(0);
      this.reader.set(0);
    }
    for (const gauge of this.gauges.values()) {
      gauge.reset();
      gauge.remove({}); // one without labels would say 0
    }
    for (const { name, labels, value } of readings) this.gauges.get(name)!.set(labels, value);
  }

  private async read(): Promise<Reading[]> {
    if (!this.db.isInitialized) await this.db.initialize();
    const isOurs = await isReader(this.db);
    this.reader.set(isOurs ? 1 : 0);
    if (!isOurs) return [];
    const all: Reading[] = [];
    for (const read of this.readers) all.push(...(await read(this.db)));
    return all;
  }
}

/** The metrics of the service as a whole, with a connection of their own. */
export function readingsOf(config: Config, log: Logger): MoreMetrics {
  const db = createDataSource(config.DATABASE_URL, {
    pool: 1,
    name: 'metrics',
    keepsIdle: true,
    onLost: (error) => log.warn({ error: error.message }, 'The PostgreSQL connection of the metrics is lost'),
  });
  return (registry) => {
    const readings = new Readings(db, registry, config.networks, log);
    return {
      update: () => readings.update(),
      close: async () => {
        if (db.isInitialized) await db.destroy();
      },
    };
  };
}
