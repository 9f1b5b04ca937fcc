import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When a payment by Lightning was called for last, and when two operators have given its unanswered call up.
 *  docs/decisions/0092-nothing-by-lightning-waits-without-an-end.md */
export class CallsGivenUp1799001110000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      ALTER TABLE lightning_payment ADD COLUMN called_at timestamptz, ADD COLUMN given_up_at timestamptz`);
    // Nobody knows when: not after now.
    await q.query('UPDATE lightning_payment SET called_at = clock_timestamp() WHERE calls > 0 AND outcome IS NULL');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE lightning_payment DROP COLUMN called_at, DROP COLUMN given_up_at');
  }
}
