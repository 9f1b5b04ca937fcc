import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The ledger account of a deposit is its allocation, and a recovery restores what was signed. Nothing is deployed
 *  yet, so names change in one step. */
export class Allocation1799000400000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      ALTER TABLE deposit RENAME COLUMN home TO allocation;
      ALTER TABLE deposit RENAME CONSTRAINT deposit_home_check TO deposit_allocation_check;
      ALTER TABLE journal DISABLE TRIGGER USER;
      UPDATE journal SET key = 'reallocate' || substr(key, 7) WHERE key LIKE 'rehome/%';
      ALTER TABLE journal ENABLE TRIGGER USER;
      DROP FUNCTION IF EXISTS take_back_signed(jsonb, text[]);
      DELETE FROM applied_function WHERE file = 'take_back_signed'`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query(`
      ALTER TABLE journal DISABLE TRIGGER USER;
      UPDATE journal SET key = 'rehome' || substr(key, 11) WHERE key LIKE 'reallocate/%';
      ALTER TABLE journal ENABLE TRIGGER USER;
      ALTER TABLE deposit RENAME CONSTRAINT deposit_allocation_check TO deposit_home_check;
      ALTER TABLE deposit RENAME COLUMN allocation TO home`);
  }
}
