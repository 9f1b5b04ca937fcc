import type { MigrationInterface, QueryRunner } from 'typeorm';

export class DeliveryLog1797700000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('CREATE INDEX delivery_by_endpoint ON delivery (merchant_id, endpoint, n DESC)');
    await q.query('CREATE INDEX delivery_by_status ON delivery (merchant_id, status, n DESC)');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP INDEX delivery_by_endpoint');
    await q.query('DROP INDEX delivery_by_status');
  }
}
