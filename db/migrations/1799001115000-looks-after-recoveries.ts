import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When the Lightning node was asked about an invoice that a recovery has brought back.
 *  docs/decisions/0093-what-the-node-has-said.md */
export class LooksAfterRecoveries1799001115000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE lightning_invoice ADD COLUMN looked_at timestamptz');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE lightning_invoice DROP COLUMN looked_at');
  }
}
