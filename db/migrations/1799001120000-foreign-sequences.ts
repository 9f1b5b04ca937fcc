import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How far somebody else has used the sequence of an account. docs/decisions/0094-void-by-ledgers-alone.md */
export class ForeignSequences1799001120000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE wallet_sequence ADD COLUMN foreign_sequence bigint');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP FUNCTION IF EXISTS withdraw_absence(text, text[])');
    await q.query('ALTER TABLE wallet_sequence DROP COLUMN foreign_sequence');
  }
}
