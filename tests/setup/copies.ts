import { Client } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';

/** Copies of a test's database on its own server: what a backup and a restore do, as far as rows go. */
export function copiesOf(databaseUrl: string): Readonly<{ backUp(): Promise<void>; restore(): Promise<void> }> {
  const name = new URL(databaseUrl).pathname.slice(1);
  const url = new URL(process.env.TEST_POSTGRES_URL!);
  url.pathname = '/postgres';

  /** Acts on the server with nobody connected to the database. */
  async function alone(statements: readonly string[]): Promise<void> {
    const server = new Client({ connectionString: url.href });
    await server.connect();
    await server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await server.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    for (const statement of statements) await server.query(statement);
    await server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    await server.end();
    // The connections of its pools hear that they are lost.
    await sleep(100);
  }
  return {
    backUp: () => alone([`CREATE DATABASE ${name}_backup TEMPLATE ${name}`]),
    restore: () =>
      alone([
        `ALTER DATABASE ${name} RENAME TO ${name}_gone`,
        `DROP DATABASE ${name}_gone`,
        `ALTER DATABASE ${name}_backup RENAME TO ${name}`,
      ]),
  };
}
