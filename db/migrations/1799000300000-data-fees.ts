import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What of a price pays for data on another chain. docs/decisions/0033-data-fees.md */
export class DataFees1799000300000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const table of ['network_fee', 'attempt'])
      await q.query(
        `ALTER TABLE ${table} ADD COLUMN data_part numeric(60, 18) NOT NULL DEFAULT 0 CHECK (data_part >= 0)`,
      );
  }

  async down(q: QueryRunner): Promise<void> {
    for (const table of ['network_fee', 'attempt']) await q.query(`ALTER TABLE ${table} DROP COLUMN data_part`);
  }
}
