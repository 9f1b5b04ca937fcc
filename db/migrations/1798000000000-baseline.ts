import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The files of this folder's `1798000000000-baseline`, by feature: a table comes after those that it refers to. */
const features = [
  'merchants',
  'accounts',
  'platform',
  'rates',
  'conversions',
  'chains',
  'payments',
  'sending',
  'ledger',
  'webhooks',
  'screening',
  'refunds',
  'withdrawals',
  'payouts',
] as const;

/** Every table as of the first release. Functions and triggers are in db/functions. */
export class Baseline1798000000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    if (await q.hasTable('merchant'))
      throw new Error(
        'This database was made before the first release, by migrations that no longer exist. Use an empty database' +
          ' (in the sandbox: npm run reset).',
      );
    for (const feature of features)
      await q.query(readFileSync(join(__dirname, '1798000000000-baseline', `${feature}.sql`), 'utf8'));
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP SCHEMA public CASCADE');
    await q.query('CREATE SCHEMA public');
  }
}
