import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What our Lightning node pays may be for a refund too. docs/decisions/0087-refunds-by-lightning.md */
export class LightningRefunds1799001087000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      ALTER TABLE lightning_payment
        ALTER COLUMN withdrawal_id DROP NOT NULL,
        ADD COLUMN refund_id char(24) UNIQUE REFERENCES refund (id) ON DELETE RESTRICT,
        ADD CONSTRAINT lightning_payment_owner CHECK (num_nonnulls(withdrawal_id, refund_id) = 1)`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query(`
      ALTER TABLE lightning_payment
        DROP CONSTRAINT lightning_payment_owner, DROP COLUMN refund_id, ALTER COLUMN withdrawal_id SET NOT NULL`);
  }
}
