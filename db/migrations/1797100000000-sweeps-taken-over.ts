import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SweepsTakenOver1797100000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    // Attempts up to this number were signed for other deposits: another one takes their nonce, or their coins.
    await q.query('ALTER TABLE intent ADD COLUMN void_through integer NOT NULL DEFAULT 0');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE intent DROP COLUMN void_through');
  }
}
