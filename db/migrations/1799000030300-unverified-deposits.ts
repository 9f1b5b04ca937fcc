import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A deposit that could not be verified is asked for later: those after it do not wait for it. */
export class UnverifiedDeposits1799000030300 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(
      'ALTER TABLE deposit ADD COLUMN verify_tries integer NOT NULL DEFAULT 0, ADD COLUMN verify_after timestamptz',
    );
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE deposit DROP COLUMN verify_tries, DROP COLUMN verify_after');
  }
}
