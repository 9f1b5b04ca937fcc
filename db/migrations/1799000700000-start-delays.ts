import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A request may start its workflow with a delay. docs/decisions/0042-workflows-start-when-there-is-news.md */
export class StartDelays1799000700000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE temporal_request ADD COLUMN start_at timestamptz');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE temporal_request DROP COLUMN start_at');
  }
}
