import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Since when each user holds each right (users of before: since they were made); and a mass payout above a limit names
 *  the two people who let it go. */
export class TwoPeople1799000020000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`CREATE TABLE user_right (
      user_id char(24) NOT NULL REFERENCES dashboard_user,
      name text NOT NULL,
      since timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (user_id, name)
    )`);
    await q.query(`INSERT INTO user_right (user_id, name, since)
      SELECT u.id, held.name, u.created_at FROM dashboard_user u, unnest(
        CASE u.role WHEN 'merchant_member' THEN u.permissions ELSE ARRAY[u.role] END) AS held (name)
       WHERE u.is_active AND u.removed_at IS NULL ON CONFLICT DO NOTHING`);
    await q.query(`ALTER TABLE payout_batch ADD needs_second_person boolean NOT NULL DEFAULT false,
      ADD approved_by_id char(24)`);
    await q.query(`ALTER TABLE payout_batch ADD CONSTRAINT payout_batch_second_person CHECK (NOT needs_second_person
      OR approved_at IS NULL OR approved_by_id IS NOT NULL AND approved_by_id <> created_by_id)`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE payout_batch DROP approved_by_id, DROP needs_second_person');
    await q.query('DROP TRIGGER IF EXISTS dashboard_user_rights ON dashboard_user');
    await q.query('DROP TABLE user_right');
  }
}
