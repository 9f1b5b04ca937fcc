import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Why an intent was not signed when the signer last looked; merchants are told in domain/txmanager/waits.ts. */
export class Waits1799000181000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      ALTER TABLE intent ADD COLUMN waits_for text
        CHECK (waits_for IN ('limit', 'paused', 'held', 'funds', 'network', 'checked'))`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE intent DROP COLUMN waits_for');
  }
}
