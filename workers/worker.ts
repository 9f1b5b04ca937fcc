import { Client, Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pino, { type Logger } from 'pino';
import type { DataSource } from 'typeorm';
import { createDataSource } from '../db/data-source';
import { faultOfMode } from '../db/instance';
import { armFailPoints } from '../db/fail-point';
import { ConfigError, parseConfig, type Config } from '../domain/config';
import { searchAttributes } from '../workflows/messages';
import { translateFailures } from './failures';
import { heartbeat } from './heartbeat';
import { serveMetrics, type MoreMetrics } from './metrics';
import { temporalMetrics } from './temporal-metrics';

/** What a worker's process is made of. */
export type Process = Readonly<{
  config: Config;
  log: Logger;
  db: DataSource;
  connection: NativeConnection;
  client: Client;
  /** Runs when the process is told to end, before its connections close. */
  onStop(action: () => void | Promise<void>): void;
  /** Serves more metrics beside those of every process. */
  onMetrics(more: MoreMetrics): void;
}>;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Starts a worker process: configuration, log, database, Temporal, health; then the workers that `assemble` makes,
 *  until SIGTERM, which drains them. Ends with 1 on a configuration that cannot run. `withoutTemporal` starts what
 *  works while Temporal is away. */
export async function runProcess(
  role: 'payments' | 'chain' | 'signer',
  assemble: (process: Process) => Promise<WorkerOptions[]>,
  withoutTemporal: (process: Omit<Process, 'connection' | 'client'>) => void = () => undefined,
): Promise<void> {
  let config: Config;
  try {
    config = parseConfig(process.env, (path) => readFileSync(path, 'utf8'), role);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
  const log = pino({ level: config.LOG_LEVEL, base: { role }, redact: ['*.seed', '*.secret', '*.authorization'] });
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'Unhandled rejection'));
  const ofTemporal = config.METRICS_PORT ? await temporalMetrics(role) : undefined;
  Runtime.install({
    telemetryOptions: ofTemporal?.telemetry,
    logger: new DefaultLogger('WARN', ({ level, message, meta }) =>
      log.warn({ temporal: level, ...safe(meta) }, message),
    ),
    shutdownSignals: [],
  });

  const db = createDataSource(config.DATABASE_URL, {
    pool: config.DATABASE_POOL,
    name: `worker-${role}`,
    onLost: (error) => log.warn({ error: error.message }, 'A PostgreSQL connection is lost'),
  });
  await patiently(log, 'PostgreSQL', () => db.initialize());
  const ofMode = await patiently(log, 'PostgreSQL', () => faultOfMode(db, config.MODE));
  if (ofMode !== null) {
    console.error(ofMode);
    process.exit(1);
  }
  armFailPoints({ enabled: config.FAIL_POINTS, db });
  const stops: Array<() => void | Promise<void>> = [];
  const onStop = (action: () => void | Promise<void>): void => void stops.push(action);
  const more: MoreMetrics[] = [];
  const onMetrics = (one: MoreMetrics): void => void more.push(one);
  withoutTemporal({ config, log, db, onStop, onMetrics });
  const options = {
    address: config.TEMPORAL_ADDRESS,
    tls: config.TEMPORAL_TLS || undefined,
    apiKey: config.TEMPORAL_API_KEY || undefined,
  };
  const connection = await patiently(log, 'Temporal', () => NativeConnection.connect(options));
  const client = new Client({
    connection: await patiently(log, 'Temporal', () => Connection.connect(options)),
    namespace: config.TEMPORAL_NAMESPACE,
  });
  await patiently(log, 'Temporal search attributes', () => registerSearchAttributes(client));

  const assembled = await assemble({ config, log, db, connection, client, onStop, onMetrics }).catch((error: Error) => {
    log.fatal({ error: error.message }, 'The worker cannot start');
    process.exit(1);
  });
  const workers = await Promise.all(
    assembled.map((worker) =>
      Worker.create({
        connection,
        namespace: config.TEMPORAL_NAMESPACE,
        stickyQueueScheduleToStartTimeout: '1s',
        shutdownGraceTime: '5s',
        shutdownForceTime: '15s',
        interceptors: { activity: [heartbeat, translateFailures] },
        ...worker,
      }),
    ),
  );
  const internal = ofTemporal
    ? await serveMetrics({ config, role, db, log, temporal: ofTemporal.text, more })
    : undefined;

  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'Draining');
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  log.info({ queues: assembled.map((worker) => worker.taskQueue) }, 'Ready');
  let code = 0;
  try {
    await Promise.all(workers.map((worker) => worker.run()));
  } catch (error) {
    log.error({ err: error }, 'A worker has failed');
    code = 1;
  }
  for (const action of stops) await action();
  await internal?.close();
  await client.connection.close();
  await connection.close();
  await db.destroy();
  log.info({}, 'Stopped');
  process.exit(code);
}

/** What the SDK attaches to its log lines may hold functions and big integers. */
const safe = (meta: unknown): object => {
  const { error, workflowId, activityType, taskQueue } = (meta ?? {}) as Record<string, unknown>;
  return { error: error instanceof Error ? error.message : undefined, workflowId, activityType, taskQueue };
};

/** Something that comes back sooner or later: asked again every second, with one line when it is away and one when it
 *  is back. */
async function patiently<T>(log: Logger, what: string, attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      const result = await attempt();
      if (tries) log.info({ tries }, `${what} is back`);
      return result;
    } catch (error) {
      if (tries === 0) log.warn({ error: (error as Error).message }, `${what} does not answer; trying on`);
      await pause(1000);
    }
  }
}

/** Adds the search attributes that the namespace does not have; another process may be doing the same. */
async function registerSearchAttributes(client: Client): Promise<void> {
  const { namespace } = client.options;
  const names = Object.keys(searchAttributes);
  const service = client.connection.operatorService;
  const known = await service.listSearchAttributes({ namespace });
  const missing = names.filter((name) => !(name in (known.customAttributes ?? {})));
  if (!missing.length) return;
  const keyword = temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD;
  await service
    .addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(missing.map((name) => [name, keyword])) })
    .catch(async (error: unknown) => {
      const now = await service.listSearchAttributes({ namespace });
      if (missing.some((name) => !(name in (now.customAttributes ?? {})))) throw error;
    });
}

/** The workflow code of this build: bundled ahead by the build, or from its sources. */
export function workflowSource(): Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'> {
  const codePath = join(__dirname, '..', 'workflow-bundle.js');
  return existsSync(codePath) ? { workflowBundle: { codePath } } : { workflowsPath: require.resolve('../workflows') };
}
