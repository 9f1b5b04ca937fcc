import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The language and the time zone that a user has chosen, for every browser that they sign in with. */
export class UserPreferences1799000230000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      ALTER TABLE dashboard_user
        ADD COLUMN language text CHECK (language IN ('en', 'de')),
        ADD COLUMN time_zone text CHECK (length(time_zone) BETWEEN 1 AND 64)`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE dashboard_user DROP COLUMN language, DROP COLUMN time_zone');
  }
}
