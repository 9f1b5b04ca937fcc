import type { MigrationInterface, QueryRunner } from 'typeorm';

export class KeyLimits1797400500000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    // US dollars that it may convert within any 24 hours; null: no limit.
    await q.query('ALTER TABLE api_key ADD COLUMN daily_usd numeric(20, 2) CHECK (daily_usd >= 0)');
    await q.query(
      'CREATE INDEX conversion_by_key ON conversion (key_id, created_at) WHERE key_id IS NOT NULL AND is_debited',
    );
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP INDEX conversion_by_key');
    await q.query('ALTER TABLE api_key DROP COLUMN daily_usd');
  }
}
