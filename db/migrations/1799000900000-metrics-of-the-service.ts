import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the metrics read: how deep the last reorganisation of a network was and when the follower saw it, and which
 *  webhook endpoints fail. */
export class MetricsOfTheService1799000900000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(
      'ALTER TABLE chain_cursor ADD COLUMN reorganised_at timestamptz, ADD COLUMN reorganised_depth integer',
    );
    await q.query('CREATE INDEX webhook_endpoint_failing ON webhook_endpoint (id) WHERE failing_since IS NOT NULL');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP INDEX webhook_endpoint_failing');
    await q.query('ALTER TABLE chain_cursor DROP COLUMN reorganised_at, DROP COLUMN reorganised_depth');
  }
}
