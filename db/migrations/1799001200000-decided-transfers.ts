import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a transfer really moved that differs from what was signed, and what two operators have said of it.
 *  docs/decisions/0103-what-nobody-could-end.md */
export class DecidedTransfers1799001200000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      ALTER TABLE attempt
        ADD COLUMN moves jsonb,
        ADD COLUMN decision text,
        ADD COLUMN decided_by char(24)`);
    await q.query(`
      ALTER TABLE attempt ADD CONSTRAINT attempt_decided CHECK (
        decision IS NULL AND decided_by IS NULL
        OR decision IN ('paid', 'failed') AND decided_by IS NOT NULL AND moves IS NOT NULL AND differs_at IS NOT NULL)
        NOT VALID`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query(`ALTER TABLE attempt DROP CONSTRAINT attempt_decided, DROP COLUMN decided_by, DROP COLUMN decision,
      DROP COLUMN moves`);
  }
}
