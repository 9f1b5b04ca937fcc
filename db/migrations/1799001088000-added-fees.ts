import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What of a network fee its receiver bears above the quote. docs/decisions/0082-who-pays-for-a-new-account.md */
export class AddedFees1799001088000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const table of ['withdrawal', 'refund', 'payout_leg'])
      await q.query(
        `ALTER TABLE ${table} ADD COLUMN added_fee numeric(60, 18),
           ADD CONSTRAINT ${table}_added_fee CHECK (added_fee > 0 AND added_fee <= network_fee) NOT VALID`,
      );
  }

  async down(q: QueryRunner): Promise<void> {
    for (const table of ['withdrawal', 'refund', 'payout_leg'])
      await q.query(`ALTER TABLE ${table} DROP COLUMN added_fee`);
  }
}
