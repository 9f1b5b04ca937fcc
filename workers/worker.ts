import { Client, Connection } from '@temporalio/client';
import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  type TelemetryOptions,
  type WorkerOptions,
} from '@temporalio/worker';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pino, { type Logger } from 'pino';
import type { DataSource } from 'typeorm';
import { createDataSource } from '../db/data-source';
import { faultOfMode } from '../db/instance';
import { logEvents } from '../db/webhooks/emitted';
import { armFailPoints } from '../db/fail-point';
import { ConfigError, parseConfig, type Config, type ProcessName } from '../domain/config';
import { logOf, logOptions } from '../domain/log';
import { isTracing } from '../domain/tracing';
import { translateFailures } from './failures';
import { heartbeat } from './heartbeat';
import { inWorkflow } from './in-workflow';
import { serveMetrics, type MoreMetrics } from './metrics';
import { registerSearchAttributes } from './search-attributes';
import { temporalMetrics } from './temporal-metrics';
import { traceInterceptor } from './tracing/client';
import { inTrace, traceSinks } from './tracing/in-trace';
import { startTracing } from './tracing/start';

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

type Role = Extract<ProcessName, 'payments' | 'chain' | 'signer'>;

/** Starts a worker process: configuration, log, database, Temporal, health; then the workers that `assemble` makes,
 *  until SIGTERM, which drains them. Ends with 1 on a configuration that cannot run. `withoutTemporal` starts what
 *  works while Temporal is away. */
export async function runProcess(
  role: Role,
  assemble: (process: Process) => Promise<WorkerOptions[]>,
  withoutTemporal: (process: Omit<Process, 'connection' | 'client'>) => void = () => undefined,
): Promise<void> {
  const config = configOf(role);
  const tracing = await startTracing(config, `crypto-payments-${role}`);
  const log = pino(logOptions(config.LOG_LEVEL, { role }));
  tracing?.reportTo(log);
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'Unhandled rejection'));
  const ofTemporal = config.METRICS_PORT ? await temporalMetrics(role) : undefined;
  installRuntime(log, ofTemporal?.telemetry);

  const db = await databaseOf(config, role, log);
  if (config.FAIL_POINTS) armFailPoints(db);
  logEvents(db, logOf(log, 'events', config.LOG_LEVELS));
  const stops: Array<() => void | Promise<void>> = [];
  const onStop = (action: () => void | Promise<void>): void => void stops.push(action);
  const more: MoreMetrics[] = [];
  const onMetrics = (one: MoreMetrics): void => void more.push(one);
  withoutTemporal({ config, log, db, onStop, onMetrics });
  const { connection, client } = await temporalOf(config, log);

  const assembled = await assemble({ config, log, db, connection, client, onStop, onMetrics }).catch((error: Error) => {
    log.fatal({ error: error.message }, 'The worker cannot start');
    process.exit(1);
  });
  const workers = await Promise.all(assembled.map((worker) => created(worker, connection, config.TEMPORAL_NAMESPACE)));
  const internal = ofTemporal
    ? await serveMetrics({ config, role, db, log, temporal: ofTemporal.text, more })
    : undefined;
  const code = await runUntilStopped(workers, log);
  for (const action of stops) await action();
  await internal?.close();
  await client.connection.close();
  await connection.close();
  await db.destroy();
  await tracing?.stop();
  log.info({}, 'Stopped');
  process.exit(code);
}

/** The configuration of this process; one that cannot run ends it with 1. */
function configOf(role: Role): Config {
  try {
    return parseConfig(process.env, (path) => readFileSync(path, 'utf8'), role);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}

/** Before anything of the SDK runs: its log lines are ours, and signals are for us. */
function installRuntime(log: Logger, telemetry: TelemetryOptions | undefined): void {
  Runtime.install({
    telemetryOptions: telemetry,
    logger: new DefaultLogger('WARN', ({ level, message, meta }) =>
      log.warn({ temporal: level, ...safe(meta) }, message),
    ),
    shutdownSignals: [],
  });
}

/** The database, waited for. One of another mode ends the process with 1. */
async function databaseOf(config: Config, role: Role, log: Logger): Promise<DataSource> {
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
  return db;
}

/** Temporal, waited for, with the search attributes of our workflows. */
async function temporalOf(config: Config, log: Logger): Promise<Pick<Process, 'connection' | 'client'>> {
  const options = {
    address: config.TEMPORAL_ADDRESS,
    tls: config.TEMPORAL_TLS || undefined,
    apiKey: config.TEMPORAL_API_KEY || undefined,
  };
  const connection = await patiently(log, 'Temporal', () => NativeConnection.connect(options));
  const client = new Client({
    connection: await patiently(log, 'Temporal', () => Connection.connect(options)),
    namespace: config.TEMPORAL_NAMESPACE,
    interceptors: { workflow: isTracing() ? [traceInterceptor] : [] },
  });
  await patiently(log, 'Temporal search attributes', () =>
    registerSearchAttributes(client.connection, client.options.namespace),
  );
  return { connection, client };
}

const everywhere = [heartbeat, inWorkflow, translateFailures];

const created = (worker: WorkerOptions, connection: NativeConnection, namespace: string): Promise<Worker> =>
  Worker.create({
    connection,
    namespace,
    stickyQueueScheduleToStartTimeout: '1s',
    // What goes on for ever is told at once that this worker ends; every other activity ends by itself.
    shutdownGraceTime: 0,
    shutdownForceTime: '15s',
    interceptors: {
      activity: isTracing() ? [inTrace, ...everywhere] : everywhere,
      // The bundle has it already.
      workflowModules: worker.workflowsPath ? [require.resolve('../workflows/tracing')] : [],
    },
    sinks: traceSinks,
    ...worker,
  });

/** Runs the workers until a signal drains them, or one fails. Resolves to the code that the process ends with. */
async function runUntilStopped(workers: readonly Worker[], log: Logger): Promise<number> {
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'Draining');
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  log.info({ queues: workers.map((worker) => worker.options.taskQueue) }, 'Ready');
  try {
    await Promise.all(workers.map((worker) => worker.run()));
    return 0;
  } catch (error) {
    log.error({ err: error }, 'A worker has failed');
    return 1;
  }
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

/** The workflow code of this build: bundled ahead by the build, or from its sources. */
export function workflowSource(): Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'> {
  const codePath = join(__dirname, '..', 'workflow-bundle.js');
  return existsSync(codePath) ? { workflowBundle: { codePath } } : { workflowsPath: require.resolve('../workflows') };
}
