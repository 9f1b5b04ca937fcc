import { createServer, STATUS_CODES, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import gracefulShutdown from 'http-graceful-shutdown';
import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';
import { createCodecs } from '../chains/codecs';
import { createMailer } from '../commands/mail/mailer';
import type { Config } from '../domain/config';
import { newId } from '../domain/ids';
import { logOf } from '../domain/log';
import { requireMode } from '../db/instance';
import { createDataSource } from '../db/data-source';
import { armFailPoints } from '../db/fail-point';
import { logEvents } from '../db/webhooks/emitted';
import { RateLimits } from '../db/access/rate-limits';
import { clearEnded } from '../db/access/sessions';
import { swapConversions } from '../commands/conversions/provider-quote';
import { openInternalPort, type InternalPort } from '../workers/internal-port';
import { createApp } from './http/app';
import { leaveEarlierKeys } from './access/earlier-keys';
import { Sessions } from './access/sessions';
import type { ApiDeps } from './http/deps';
import { FreshRates } from './conversions/fresh-rates';
import { endStreams } from './http/event-stream';
import { Keys } from './access/keys';
import { createLogger } from './http/logger';
import { Metrics } from './http/metrics';
import { createRequestLog } from './http/request-log';
import { PaymentChanges } from './payments/payment-changes';
import { PaymentCommands } from './payments/payment-commands';
import { routes } from './routes';

/** The wiring of one API process: the only file of the API that knows the chains' codecs. */

export type RunningApi = Readonly<{
  url: string;
  /** Where metrics are; null without METRICS_PORT. */
  internalUrl: string | null;
  server: Server;
  deps: ApiDeps;
  close(): Promise<void>;
}>;

/** Starts the API on API_HOST and API_PORT (0: a free one) as soon as PostgreSQL answers. */
export async function startApi(config: Config, logger: Logger = createLogger(config.LOG_LEVEL)): Promise<RunningApi> {
  const db = createDataSource(config.DATABASE_URL, {
    pool: config.DATABASE_POOL,
    name: 'api',
    connectTimeoutMs: config.DATABASE_WAIT_MS,
    onLost: (error) => logger.warn({ err: error }, 'PostgreSQL connection lost'),
  });
  await connectPatiently(db, logger);
  await requireMode(db, config.MODE).catch(async (error: unknown) => {
    await db.destroy();
    throw error;
  });
  if (config.FAIL_POINTS) armFailPoints(db);
  logEvents(db, logOf(logger, 'events', config.LOG_LEVELS));
  const limits = new RateLimits(db);
  const metrics = new Metrics(db);
  const deps: ApiDeps = {
    config,
    db,
    codecs: createCodecs(config.chain),
    limits,
    keys: new Keys(db, config.SECRETS_KEY, logger),
    sessions: new Sessions(db, config.SECRETS_KEY),
    mailer: createMailer(config),
    commands: new PaymentCommands(config, logger),
    changes: new PaymentChanges(db, config, logger),
    freshRates: new FreshRates(db),
    external: swapConversions(db, config.RATE_MAX_AGE_SECONDS),
    metrics,
    requestLog: createRequestLog(db, metrics, logger),
    logger,
    lifecycle: { isDraining: false },
  };
  const internal = await openMetrics(deps);
  const leaveKeys = (): void => {
    leaveEarlierKeys(db, config.SECRETS_KEY, logger).catch((error: unknown) =>
      logger.warn({ err: error }, 'Secrets were not sealed anew'),
    );
  };
  const cleaner = setInterval(() => {
    leaveKeys();
    Promise.all([limits.clear(), clearEnded(db)]).catch((error: unknown) =>
      logger.warn({ err: error }, 'What has ended was not removed'),
    );
  }, 600_000);
  cleaner.unref();

  const handle = createApp(routes, deps).callback();
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 1000, keepAliveTimeout: 65_000 },
    (request, response) => void handle(request, response),
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return;
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
    const body = JSON.stringify({ error: STATUS_CODES[status] });
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nX-Request-Id: ${newId()}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(config.API_PORT, config.API_HOST, resolve);
  });
  leaveKeys();
  const { port } = server.address() as AddressInfo;
  const host = config.API_HOST.includes(':') ? `[${config.API_HOST}]` : config.API_HOST;

  return {
    url: `http://${host}:${port}`,
    internalUrl: internal?.url ?? null,
    server,
    deps,
    async close() {
      clearInterval(cleaner);
      await end(server, deps, internal);
    },
  };
}

/** Answers what is under way, writes what waits to be written, and lets go of everything. */
async function end(server: Server, deps: ApiDeps, internal: InternalPort | null): Promise<void> {
  deps.lifecycle.isDraining = true;
  endStreams();
  if (server.listening) {
    server.closeIdleConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  const { changes, commands, requestLog, mailer, db } = deps;
  await Promise.allSettled([changes.close(), commands.close(), internal?.close(), requestLog.flush()]);
  mailer.close();
  await db.destroy();
}

/** The metrics have a port of their own, so that no caller of the API can ask for them. */
async function openMetrics({ config, metrics, db, lifecycle }: ApiDeps): Promise<InternalPort | null> {
  if (!config.METRICS_PORT) return null;
  return openInternalPort(
    { host: config.METRICS_HOST, port: config.METRICS_PORT },
    {
      contentType: metrics.registry.contentType,
      metrics: () => metrics.text(),
      ready: async () => {
        if (lifecycle.isDraining) throw new Error('draining');
        await db.query('SELECT 1');
      },
    },
  );
}

async function connectPatiently(db: DataSource, logger: Logger): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await db.initialize();
      return;
    } catch (error) {
      if (tries % 30 === 0) logger.warn({ err: error }, 'PostgreSQL does not answer yet; trying again every second');
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

/** While nobody new is sent here, requests that are on their way may still arrive: until so many looks in a row have
 *  found none, and no longer than `graceMs`. Each look comes after the process has read what had arrived, however busy
 *  it is. */
const quietLooks = 5;
const lookMs = 100;
const graceMs = 5000;

async function untilQuiet(server: Server): Promise<void> {
  let arrived = 0;
  server.on('request', () => (arrived += 1));
  const end = Date.now() + graceMs;
  for (let quiet = 0; quiet < quietLooks && Date.now() < end;) {
    const before = arrived;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
    quiet = arrived > before ? 0 : quiet + 1;
  }
}

/** Lets SIGTERM and SIGINT end the process when every request under way is answered. */
export function drainOnSignal({ server, deps, close }: RunningApi, logger: Logger): void {
  gracefulShutdown(server, {
    timeout: 25_000,
    preShutdown: async (signal) => {
      logger.info({ signal }, 'Draining');
      deps.lifecycle.isDraining = true;
      endStreams();
      await untilQuiet(server);
    },
    onShutdown: close,
    finally: () => logger.info('Stopped'),
  });
}
