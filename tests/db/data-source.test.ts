import { createDataSource } from '../../db/data-source';
import { freshDatabase, type Database } from '../setup/postgres';

/** How a process keeps its connections. */

let database: Database;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database?.drop());

it('a pause of a minute between two requests costs no new connection', async () => {
  const db = await createDataSource(database.url, { pool: 1, connectTimeoutMs: 30_000 }).initialize();
  const backend = async (): Promise<number> => (await db.query('SELECT pg_backend_pid() AS pid'))[0].pid;
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  try {
    const first = await backend();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await backend()).toBe(first);
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(await backend()).not.toBe(first);
  } finally {
    jest.useRealTimers();
    await db.destroy();
  }
});
