import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When the node was asked last about what has ended by Lightning: those that stay take turns.
 *  docs/decisions/0099-what-a-node-may-still-do.md */
export class ComparedLightning1799001160000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE lightning_unaudited ADD COLUMN compared_at timestamptz');
    // A payment that failed was taken off by the first look, though its invoice may still be paid.
    await q.query(`
      INSERT INTO lightning_unaudited (kind, hash)
        SELECT 'payment', hash FROM lightning_payment WHERE outcome = 'failed' AND expires_at > now()
      ON CONFLICT DO NOTHING`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE lightning_unaudited DROP COLUMN compared_at');
  }
}
