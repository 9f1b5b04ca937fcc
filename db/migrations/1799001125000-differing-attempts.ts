import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A transaction in a final block is over for its wallet, whatever nobody has decided about its money.
 *  docs/decisions/0095-what-fails-on-its-way-out.md */
export class DifferingAttempts1799001125000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE attempt ADD COLUMN differs_at timestamptz');
    await q.query('DROP INDEX attempt_one_open_from');
    await q.query(`CREATE UNIQUE INDEX attempt_one_open_from ON attempt (network, from_address)
      WHERE valid_from_height IS NOT NULL AND status IN ('stored', 'sent', 'mined') AND NOT is_restored
        AND (status <> 'mined' OR differs_at IS NULL)`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP INDEX attempt_one_open_from');
    await q.query(`CREATE UNIQUE INDEX attempt_one_open_from ON attempt (network, from_address)
      WHERE valid_from_height IS NOT NULL AND status IN ('stored', 'sent', 'mined') AND NOT is_restored`);
    await q.query('ALTER TABLE attempt DROP COLUMN differs_at');
  }
}
