import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `reopened`: a refund that had arrived may be on its way again, when a reorganisation has taken its transaction. */
const guardRefund = (
  reopened: boolean,
): string => `CREATE OR REPLACE FUNCTION guard_refund() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.status = OLD.status THEN RETURN NEW; END IF;
      IF OLD.status IN (${reopened ? '' : "'completed', "}'failed', 'cancelled')
        ${reopened ? "OR OLD.status = 'completed' AND NEW.status <> 'broadcast'" : ''}
        OR OLD.status IN ('processing', 'broadcast') AND NEW.status NOT IN ('broadcast', 'completed', 'failed')
        OR NEW.state_version <= OLD.state_version THEN
        RAISE EXCEPTION 'refund % may not go from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'CP012';
      END IF;
      RETURN NEW;
    END $$`;

const statements = [
  `ALTER TABLE refund ADD COLUMN claimed_at timestamptz`,
  `ALTER TABLE merchant ADD COLUMN refund_daily_cap_usd numeric(60, 18) CHECK (refund_daily_cap_usd >= 0)`,
  guardRefund(true),
  // Whether what was posted under a key is in force: not reversed, or reinstated.
  `CREATE FUNCTION journal_stands(wanted text) RETURNS boolean LANGUAGE sql STABLE AS $$
    WITH RECURSIVE chain AS (
      SELECT id, 0 AS steps FROM journal WHERE key = wanted
      UNION ALL SELECT j.id, c.steps + 1 FROM journal j JOIN chain c ON j.reverses = c.id)
    SELECT coalesce(max(steps) % 2 = 0, false) FROM chain $$`,
];

export class Claims1796400000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const statement of statements) await q.query(statement);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP FUNCTION journal_stands(text)');
    await q.query(guardRefund(false));
    await q.query('ALTER TABLE merchant DROP COLUMN refund_daily_cap_usd');
    await q.query('ALTER TABLE refund DROP COLUMN claimed_at');
  }
}
