import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Of one wallet a recovery takes back all that was signed in the lost time, whatever has become of each: that only one
 *  is open is told by the chain, later. docs/decisions/0060-signing-what-expires.md */
export class RestoredAttempts1799000991000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE attempt ADD COLUMN is_restored boolean NOT NULL DEFAULT false');
    await q.query('DROP INDEX attempt_one_open_from');
    await q.query(`CREATE UNIQUE INDEX attempt_one_open_from ON attempt (network, from_address)
      WHERE valid_from_height IS NOT NULL AND status IN ('stored', 'sent', 'mined') AND NOT is_restored`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP INDEX attempt_one_open_from');
    await q.query(`CREATE UNIQUE INDEX attempt_one_open_from ON attempt (network, from_address)
      WHERE valid_from_height IS NOT NULL AND status IN ('stored', 'sent', 'mined')`);
    await q.query('ALTER TABLE attempt DROP COLUMN is_restored');
  }
}
