import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';

type Connected = Parameters<Parameters<Pool['connect']>[0]>;

/** Connections of a process to PostgreSQL, by what they do, and how long a statement waited for one. */
export function observePool(registry: Registry, db: DataSource): void {
  const pool = (db.driver as unknown as { master: Pool }).master;
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
  // TypeORM asks the pool with a callback alone.
  const connect = pool.connect.bind(pool) as (callback: (...connected: Connected) => void) => void;
  pool.connect = ((callback: (...connected: Connected) => void): void => {
    const end = waits.startTimer();
    connect((...connected) => {
      end();
      callback(...connected);
    });
  }) as Pool['connect'];
}
