import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { createDataSource } from '../../db/data-source';
import { functionFiles } from '../../db/functions';
import { migrate } from '../../db/migrate';
import { roles, type DatabaseRole } from '../../db/roles/roles';
import type { Mode } from '../../domain/mode';
import { root } from '../../sandbox/paths';
import { databaseFor, rolePassword } from '../../sandbox/services';
import { recordEvents } from './record';

export type Database = Readonly<{ url: string; drop(): Promise<void> }>;

/** Connections that wait for a machine that stands still for a moment. */
export const connectionsTo = (url: string): ReturnType<typeof createDataSource> =>
  createDataSource(url, { connectTimeoutMs: 30_000 });

/** What waits for others longer than the database lets it is tried again: nothing of it has happened. */
export async function patiently<T>(act: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await act();
    } catch (error) {
      if ((error as { code?: string }).code !== '55P03') throw error;
    }
}

/** The address of a database, as its owner has it, for a process of this role. Roles belong to the server: all suites
 *  and their stacks know them by the same passwords. */
export const urlFor: (ownerUrl: string, role: DatabaseRole) => string = databaseFor;

/** A new database with the newest schema, of its own for one suite. The first call of a run migrates a template; the
 *  rest copy it. That of a test instance is a copy which was marked again, as no service can. */
export async function freshDatabase(mode: Mode = 'live'): Promise<Database> {
  const database = await newDatabase(async (client, server) => `TEMPLATE ${await migratedTemplate(client, server)}`);
  if (mode === 'test')
    await connected(database.url, (client) =>
      client.query(`SET session_replication_role = replica; UPDATE instance SET mode = 'test'`),
    );
  return database;
}

/** A new database with nothing in it. */
export const emptyDatabase = (): Promise<Database> => newDatabase(() => Promise.resolve('TEMPLATE template0'));

async function newDatabase(from: (client: Client, server: string) => Promise<string>): Promise<Database> {
  const server = process.env.TEST_POSTGRES_URL;
  if (!server) throw new Error('TEST_POSTGRES_URL is missing: run through jest.config.cjs, project parts or e2e');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer(server, async (client) => client.query(`CREATE DATABASE ${name} ${await from(client, server)}`));
  return {
    url: withDatabase(server, name),
    async drop() {
      if (process.env['RECORD_EXAMPLES']) await connected(withDatabase(server, name), recordEvents);
      await administer(server, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    },
  };
}

/** The template for the migrations and functions as they are on disk; the first caller makes it. */
async function migratedTemplate(client: Client, server: string): Promise<string> {
  const hash = createHash('sha256');
  for (const folder of ['migrations', 'functions', 'roles'].map((name) => join(root, 'db', name)))
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort())
      if (/\.(ts|sql)$/.test(file)) hash.update(file).update(readFileSync(join(folder, file)));
  // Some texts are made of rules of the domain.
  for (const file of functionFiles()) hash.update(file.hash);
  const name = `template_${hash.digest('hex').slice(0, 16)}`;
  await client.query("SELECT pg_advisory_lock(hashtext('test template'))");
  try {
    const made = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (!made.rowCount) {
      const draft = `${name}_draft`;
      await client.query(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
      await client.query(`CREATE DATABASE ${draft}`);
      await migrate(
        withDatabase(server, draft),
        functionFiles(),
        Object.fromEntries(roles.map((role) => [role, rolePassword(server, role)])),
      );
      await client.query(`ALTER DATABASE ${draft} RENAME TO ${name}`);
    }
  } finally {
    await client.query("SELECT pg_advisory_unlock(hashtext('test template'))");
  }
  return name;
}

const administer = (server: string, act: (client: Client) => Promise<unknown>): Promise<void> =>
  connected(withDatabase(server, 'postgres'), act);

async function connected(url: string, act: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {}); // the query that waits gets the error as well
  await client.connect();
  try {
    await act(client);
  } finally {
    await client.end();
  }
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
