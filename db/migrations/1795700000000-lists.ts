import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Every filter of the payment list finds its rows in the order of the list. `payment_rate`: a rate is pruned only where no payment
 *  was quoted with it, which PostgreSQL looks up for each rate. */
const statements = [
  `DROP INDEX payment_status`,
  `CREATE INDEX payment_status ON payment (merchant_id, status, created_at DESC, id DESC)`,
  `CREATE INDEX payment_currency ON payment (merchant_id, currency, created_at DESC, id DESC)`,
  `CREATE INDEX payment_order ON payment (merchant_id, order_id, created_at DESC, id DESC) WHERE order_id IS NOT NULL`,
  `CREATE INDEX payment_merchant_order ON payment (merchant_id, merchant_order_id, created_at DESC, id DESC)
    WHERE merchant_order_id IS NOT NULL`,
  `CREATE INDEX payment_rate ON payment (rate_id) WHERE rate_id IS NOT NULL`,
];

export class Lists1795700000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const statement of statements) await q.query(statement);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP INDEX payment_rate, payment_merchant_order, payment_order, payment_currency, payment_status');
    await q.query('CREATE INDEX payment_status ON payment (merchant_id, status, created_at DESC)');
  }
}
