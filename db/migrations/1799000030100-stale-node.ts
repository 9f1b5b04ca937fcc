import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Since when, and why, what the node of a network says is not of now. */
export class StaleNode1799000030100 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE chain_cursor ADD COLUMN stale_reason text, ADD COLUMN stale_since timestamptz');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE chain_cursor DROP COLUMN stale_reason, DROP COLUMN stale_since');
  }
}
