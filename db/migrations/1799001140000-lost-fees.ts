import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What of a refund's network fee earlier tries have burned of its deposits.
 *  docs/decisions/0097-what-a-failed-try-has-burned.md */
export class LostFees1799001140000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(
      `ALTER TABLE refund ADD COLUMN lost_fee numeric(60, 18),
         ADD CONSTRAINT refund_lost_fee CHECK (lost_fee > 0 AND lost_fee <= network_fee) NOT VALID`,
    );
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE refund DROP COLUMN lost_fee');
  }
}
