import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The IPN secret before the last change signs too for a day, as that of an endpoint does. */
export class EarlierIpnSecret1799000950000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE merchant ADD COLUMN previous_ipn_secret_sealed text');
    await q.query('ALTER TABLE merchant ADD COLUMN previous_ipn_secret_until timestamptz');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE merchant DROP COLUMN previous_ipn_secret_sealed, DROP COLUMN previous_ipn_secret_until');
  }
}
