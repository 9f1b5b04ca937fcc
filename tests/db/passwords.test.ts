import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { createDataSource } from '../../db/data-source';
import { poolOf } from '../../db/query';
import { passwordsOf } from '../../db/roles/roles';
import { Bell } from '../../db/temporal/bell';
import { connectionsTo, freshDatabase, type Database } from '../setup/postgres';

/** B6: the password of a role is changed while its processes work. */

const role = `rotated_${randomBytes(6).toString('hex')}`;
let database: Database;
let owner: DataSource;
const open: DataSource[] = [];
beforeAll(async () => {
  database = await freshDatabase();
  owner = await connectionsTo(database.url).initialize();
  await owner.query(`CREATE ROLE ${role} LOGIN`);
});
beforeEach(() => setPassword('old'));
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.destroy()));
});
afterAll(async () => {
  await owner?.query(`DROP ROLE ${role}`);
  await owner?.destroy();
  await database?.drop();
});

const setPassword = (password: string): Promise<unknown> => owner.query(`ALTER ROLE ${role} PASSWORD '${password}'`);

/** The address of the database with what stands for the password in it. */
function addressWith(password: string): string {
  const url = new URL(database.url);
  url.username = role;
  url.password = password;
  return url.href;
}

async function connect(password: string): Promise<DataSource> {
  const db = createDataSource(addressWith(password), { pool: 4, connectTimeoutMs: 30_000 });
  open.push(await db.initialize());
  return db;
}

/** More connections at once than the pool has: the names that they signed in by. Rejects where one could not. */
async function fill(db: DataSource): Promise<string[]> {
  const asked = await Promise.allSettled([1, 2, 3].map(() => poolOf(db).connect()));
  const clients = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const names: string[] = [];
  for (const client of clients) names.push((await client.query('SELECT session_user AS name')).rows[0].name);
  for (const client of clients) client.release(true);
  for (const one of asked) if (one.status === 'rejected') throw one.reason;
  return names;
}

it.each(['old,new', 'new,old'])(
  'a process that knows %s opens connections before and after the change',
  async (both) => {
    const db = await connect(both);
    expect(await fill(db)).toEqual([role, role, role]);
    await setPassword('new');
    expect(await fill(db)).toEqual([role, role, role]);
  },
);

it('a process that knows one password alone cannot, and neither can two wrong ones', async () => {
  const db = await connect('old');
  await setPassword('new');
  await expect(fill(db)).rejects.toMatchObject({ code: '28P01' });
  await expect(connect('older,old')).rejects.toMatchObject({ code: '28P01' });
});

it('what listens to notifications connects again after the change', async () => {
  const bell = new Bell(addressWith('old,new'), 'rotation');
  const never = new AbortController().signal;
  /** The backend that it listens by, once that is another than `before`; a lost connection is noticed a wait later. */
  const listener = async (before?: number): Promise<number> => {
    for (const end = Date.now() + 30_000; Date.now() < end;) {
      await bell.wait(50, never);
      const [found] = await owner.query<Array<{ pid: number }>>(
        `SELECT pid FROM pg_stat_activity WHERE usename = $1 AND application_name = 'rotation' AND pid <> $2`,
        [role, before ?? 0],
      );
      if (found) return found.pid;
    }
    throw new Error('Nobody listens');
  };
  const first = await listener();
  await setPassword('new');
  await owner.query('SELECT pg_terminate_backend($1)', [first]);
  expect(await listener(first)).not.toBe(first);
  await bell.close();
});

it('a comma of a password itself is written as %2C', async () => {
  await setPassword('o,ld');
  expect(await fill(await connect('o%2Cld'))).toEqual([role, role, role]);
  await setPassword('n,ew');
  expect(await fill(await connect('o%2Cld,n%2Cew'))).toEqual([role, role, role]);
});

it('the migration step sets the first of several', () => {
  expect(passwordsOf({ DATABASE_PASSWORD_API: 'new,old', DATABASE_PASSWORD_CHAIN: 'one' })).toEqual({
    api: 'new',
    chain: 'one',
  });
});
