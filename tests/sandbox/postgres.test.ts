import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from '../../sandbox/ports';
import { startPostgres } from '../../sandbox/parts/postgres';
import { freshDatabase } from '../setup/postgres';

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('PostgreSQL of the sandbox', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-postgres-'));
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  it('keeps every acknowledged row over kill -9 and over a stop, on the same port', async () => {
    chmodSync(dataDir, 0o700); // as mkdtemp makes it: the server's user cannot enter it
    const postgres = await startPostgres({ dataDir, port: await freePort(), password: 'p@ss word' });
    try {
      await ask(postgres.url, 'CREATE TABLE kept (n int)');
      for (let round = 1; round <= 3; round++) {
        await ask(postgres.url, `INSERT INTO kept VALUES (${round})`);
        if (round === 3) await postgres.stop();
        else await postgres.kill9();
        expect(postgres.pid()).toBeUndefined();
        await postgres.start();
        expect(await ask(postgres.url, 'SELECT count(*)::int AS n FROM kept')).toEqual([{ n: round }]);
      }
    } finally {
      await postgres.stop();
    }
  });

  it('gives each suite a migrated database of its own', async () => {
    const [one, two] = await Promise.all([freshDatabase(), freshDatabase()]);
    try {
      await ask(one.url, 'CREATE TABLE only_here (n int)');
      expect(await ask(two.url, "SELECT to_regclass('only_here') AS found")).toEqual([{ found: null }]);
      expect(await ask(two.url, 'SELECT count(*) > 0 AS migrated FROM migration')).toEqual([{ migrated: true }]);
    } finally {
      await Promise.all([one.drop(), two.drop()]);
    }
  });
});
