import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Operators look for orders and addresses without knowing whose they are. */
export class OperatorsSearch1799000150000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('CREATE INDEX payment_any_order ON payment (order_id) WHERE order_id IS NOT NULL');
    await q.query(
      'CREATE INDEX payment_any_merchant_order ON payment (merchant_order_id) WHERE merchant_order_id IS NOT NULL',
    );
    await q.query('CREATE INDEX withdrawal_address ON withdrawal (address)');
    await q.query('CREATE INDEX refund_address ON refund (address) WHERE address IS NOT NULL');
    await q.query('CREATE INDEX payout_leg_address ON payout_leg (address)');
    await q.query('CREATE INDEX incident_open ON incident (kind) WHERE resolved_at IS NULL');
    await q.query('CREATE INDEX merchant_name ON merchant (lower(name) text_pattern_ops)');
  }

  async down(q: QueryRunner): Promise<void> {
    for (const name of [
      'payment_any_order',
      'payment_any_merchant_order',
      'withdrawal_address',
      'refund_address',
      'payout_leg_address',
      'incident_open',
      'merchant_name',
    ])
      await q.query(`DROP INDEX ${name}`);
  }
}
