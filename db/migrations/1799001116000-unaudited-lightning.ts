import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What ended by Lightning and was not held against the word of the node yet: at first, all of it.
 *  docs/decisions/0093-what-the-node-has-said.md */
export class UnauditedLightning1799001116000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      CREATE TABLE lightning_unaudited (
        kind text NOT NULL CHECK (kind IN ('invoice', 'payment')),
        hash text NOT NULL,
        tries smallint NOT NULL DEFAULT 0,
        PRIMARY KEY (kind, hash)
      )`);
    await q.query(`
      INSERT INTO lightning_unaudited (kind, hash)
        SELECT 'invoice', hash FROM lightning_invoice WHERE over_at IS NOT NULL AND hash IS NOT NULL
        UNION ALL SELECT 'payment', hash FROM lightning_payment WHERE over_at IS NOT NULL`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE lightning_unaudited');
  }
}
