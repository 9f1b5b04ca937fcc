import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which key of SECRETS_KEY has hashed an API key: once none is left of an earlier one, that may go. */
export class HashedBy1799000940000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE api_key ADD COLUMN hashed_by text');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE api_key DROP COLUMN hashed_by');
  }
}
