import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Payments are looked for by their price, and refunds by their status, newest first. */
export class PricesAndRefunds1799000270000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('CREATE INDEX payment_price ON payment (merchant_id, fiat_amount, created_at DESC, id DESC)');
    await q.query('CREATE INDEX refund_status ON refund (merchant_id, status, created_at DESC, id DESC)');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP INDEX payment_price');
    await q.query('DROP INDEX refund_status');
  }
}
