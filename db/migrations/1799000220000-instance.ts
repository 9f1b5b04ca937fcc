import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whether this is the database of a live or of a test instance, for good: one row, which the migration step writes. */
export class Instance1799000220000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      CREATE TABLE instance (
        id boolean PRIMARY KEY DEFAULT true CHECK (id),
        mode text NOT NULL CHECK (mode IN ('live', 'test')),
        created_at timestamptz NOT NULL DEFAULT now()
      );
      -- Before there were modes every instance was live.
      INSERT INTO instance (mode) SELECT 'live' WHERE EXISTS (SELECT FROM merchant)`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE instance');
  }
}
