import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { connectionTo } from './connection';
import { migrations } from './migrations';

/** How long a connection that nobody uses stays open. Until a new one has its catalogue and its plans, PostgreSQL takes
 *  30 ms of CPU more for it: too much for each pause between requests. Shorter than what firewalls and load balancers
 *  forget an idle connection after, some four minutes: they would leave one that answers nothing. */
const idleMs = 120_000;

/** A connection pool with the limits of Invariants 6: no statement over 10 s, no lock wait over 3 s. An idle client
 *  that loses its server is reported to `onLost` and replaced, never thrown into the process. Call `initialize()`
 *  before use. */
export const createDataSource = (
  url: string,
  options: {
    pool?: number;
    name?: string;
    onLost?: (error: Error) => void;
    connectTimeoutMs?: number;
    /** Its connections stay open while idle, with the locks of their sessions. */
    keepsIdle?: boolean;
  } = {},
): DataSource =>
  new DataSource({
    type: 'postgres',
    url,
    migrations,
    migrationsTableName: 'migration',
    poolErrorHandler:
      options.onLost ?? ((error: Error) => console.error(`PostgreSQL connection lost: ${error.message}`)),
    applicationName: options.name ?? 'crypto-payments',
    extra: {
      ...ownConnection(url),
      max: options.pool ?? 10,
      connectionTimeoutMillis: options.connectTimeoutMs ?? 2000,
      idleTimeoutMillis: options.keepsIdle ? 0 : idleMs,
      statement_timeout: 10_000,
      lock_timeout: 3000,
      idle_in_transaction_session_timeout: 30_000,
      keepAlive: true,
    },
  });

/** TypeORM takes an address apart by itself, with one password; what is said here goes over that. */
const ownConnection = (url: string): object => {
  const config = connectionTo(url);
  return config.connectionString === undefined ? { connectionString: undefined, ...config } : {};
};
