import { ConfigError } from '../domain/config';
import type { Mode } from '../domain/mode';
import type { Queryable } from './query';

/** Whether the database is a live or a test instance's. It says so itself: rows tell their readers by it. */

/** An SQL expression: whether this is a live instance. */
export const livemodeSql = `(SELECT mode = 'live' FROM instance)`;

/** Of a database that is migrated. */
export async function modeOf(db: Queryable): Promise<Mode> {
  const [row] = await db.query<Array<{ mode: Mode }>>('SELECT mode FROM instance');
  return row!.mode;
}

/** Whether this is a live instance: what events say as `livemode`. */
export const isLive = async (db: Queryable): Promise<boolean> => (await modeOf(db)) === 'live';

/** Why an instance of this mode may not run on this database; null: it may. */
export async function faultOfMode(db: Queryable, mode: Mode): Promise<string | null> {
  const of = await modeOf(db);
  return of === mode
    ? null
    : `MODE=${mode}, but this database belongs to a ${of} instance: each instance has its own database, seed and ` +
        'secrets, see docs/operations/test-instance.md';
}

/** Throws ConfigError where the database was made in the other mode. */
export async function requireMode(db: Queryable, mode: Mode): Promise<void> {
  const fault = await faultOfMode(db, mode);
  if (fault !== null) throw new ConfigError(fault);
}

/** Marks a new database, for good; throws ConfigError where it was marked otherwise. */
export async function recordMode(db: Queryable, mode: Mode): Promise<void> {
  await db.query('INSERT INTO instance (mode) VALUES ($1) ON CONFLICT DO NOTHING', [mode]);
  await requireMode(db, mode);
}
