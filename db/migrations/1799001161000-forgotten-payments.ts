import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What our Lightning node has under way by its last word, and since when it does not know that any more.
 *  docs/decisions/0099-what-a-node-may-still-do.md */
export class ForgottenPayments1799001161000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      ALTER TABLE lightning_payment ADD COLUMN under_way_at timestamptz, ADD COLUMN forgotten_at timestamptz`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE lightning_payment DROP COLUMN under_way_at, DROP COLUMN forgotten_at');
  }
}
