import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../sandbox/ports';
import { startPostgres } from '../../sandbox/parts/postgres';
import { running } from './running';

/** One PostgreSQL for all suites of a run; `freshDatabase` gives each its own database in it. A crash loses nothing
 *  that a test would miss, so it does not wait for the disk. */
export default async function globalSetup(): Promise<void> {
  if (process.env.TEST_POSTGRES_URL) return;
  const dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-tests-'));
  chmodSync(dataDir, 0o711);
  const postgres = await startPostgres({
    dataDir,
    port: await freePort(),
    password: 'tests',
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
  });
  process.env.TEST_POSTGRES_URL = postgres.url;
  running.push({ stop: () => postgres.stop(), dataDir });
}
