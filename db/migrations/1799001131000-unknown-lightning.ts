import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What our Lightning node took or paid and no row is for, and how far its lists were read.
 *  docs/decisions/0096-lightning-money-beside-the-rows.md */
export class UnknownLightning1799001131000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      CREATE TABLE lightning_mark (
        kind text PRIMARY KEY CHECK (kind IN ('invoice', 'payment')),
        through bigint NOT NULL CHECK (through >= 0)
      )`);
    await q.query(`
      CREATE TABLE lightning_unknown (
        kind text NOT NULL CHECK (kind IN ('invoice', 'payment')),
        hash text NOT NULL CHECK (hash ~ '^[0-9a-f]{64}$'),
        -- open: it may still bring or cost something.
        state text NOT NULL CHECK (state IN ('open', 'done')),
        -- What it brought, or cost with what nodes on the way took.
        msat bigint NOT NULL CHECK (msat >= 0),
        memo text NOT NULL,
        found_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (kind, hash)
      )`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE lightning_unknown, lightning_mark');
  }
}
