import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Open payments that somebody has paid, however many wait: each look for lost workflows reads them all. */
export class PaymentsWithMoney1799001089000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`CREATE INDEX payment_with_money ON payment (id) WHERE status NOT IN
      ('SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED', 'WAITING', 'AWAITING_CURRENCY')`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP INDEX payment_with_money');
  }
}
