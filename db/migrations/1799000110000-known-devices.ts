import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Browsers that somebody has completed a login in: wrong passwords from elsewhere do not count against them. */
export class KnownDevices1799000110000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(
      `CREATE TABLE known_device (
         -- Keyed hash of the token that the browser holds.
         token_hash text NOT NULL,
         user_id char(24) NOT NULL REFERENCES dashboard_user,
         created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
         expires_at timestamptz NOT NULL,
         PRIMARY KEY (token_hash, user_id)
       )`,
    );
    await q.query('CREATE INDEX known_device_user ON known_device (user_id, created_at DESC)');
    await q.query('CREATE INDEX known_device_expiry ON known_device (expires_at)');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE known_device');
  }
}
