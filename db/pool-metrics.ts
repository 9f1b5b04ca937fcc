import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { poolOf } from './query';

type Connected = Parameters<Parameters<Pool['connect']>[0]>;

/** Connections of a process to PostgreSQL, by what they do, and how long a statement waited for one. */
export function observePool(registry: Registry, db: DataSource): void {
  const pool = poolOf(db);
  new Gauge({
    name: 'database_pool_connections',
    help: 'Connections to PostgreSQL by state; waiting: statements that have none',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'idle' }, pool.idleCount);
      this.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
      this.set({ state: 'waiting' }, pool.waitingCount);
    },
  });
  const waits = new Histogram({
    name: 'database_pool_wait_seconds',
    help: 'Time until a statement had a connection to PostgreSQL',
    buckets: [0.001, 0.01, 0.1, 0.5, 1, 2, 5],
    registers: [registry],
  });
  const connect = pool.connect.bind(pool);
  const timed = (callback?: (...connected: Connected) => void) => {
    const end = waits.startTimer();
    if (!callback) return connect().finally(end);
    return connect((...connected) => {
      end();
      callback(...connected);
    });
  };
  pool.connect = timed as Pool['connect'];
}
