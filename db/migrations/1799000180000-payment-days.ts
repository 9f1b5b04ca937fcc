import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the payments of a day came to, so that a look at a month reads its days and not its payments. */
export class PaymentDays1799000180000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    // Processes of the version before write payments until this step has ended: what they write is counted once.
    await q.query('LOCK TABLE payment IN SHARE ROW EXCLUSIVE MODE');
    await q.query(`
      CREATE TABLE payment_day (
        merchant_id char(24) NOT NULL REFERENCES merchant,
        -- In UTC, of the creation: as the bare dates of the list of payments.
        day date NOT NULL,
        fiat_currency text NOT NULL,
        created bigint NOT NULL,
        paid bigint NOT NULL,
        settled bigint NOT NULL,
        created_fiat numeric(96, 36) NOT NULL,
        paid_fiat numeric(96, 36) NOT NULL,
        settled_fiat numeric(96, 36) NOT NULL,
        partially_paid bigint NOT NULL,
        cross_chain_pending bigint NOT NULL,
        underpaid bigint NOT NULL,
        overpaid bigint NOT NULL,
        paid_late bigint NOT NULL,
        wrong_currency bigint NOT NULL,
        reorged bigint NOT NULL,
        PRIMARY KEY (merchant_id, day, fiat_currency)
      ) WITH (fillfactor = 50)`);
    await q.query(`
      INSERT INTO payment_day
        SELECT p.merchant_id, (p.created_at AT TIME ZONE 'UTC')::date, p.fiat_currency, count(*),
               count(*) FILTER (WHERE f.is_paid), count(*) FILTER (WHERE p.status = 'SETTLED'),
               sum(p.fiat_amount), coalesce(sum(f.received) FILTER (WHERE f.is_paid), 0),
               coalesce(sum(f.received) FILTER (WHERE p.status = 'SETTLED'), 0),
               count(*) FILTER (WHERE p.status = 'PARTIALLY_PAID'),
               count(*) FILTER (WHERE p.status = 'CROSS_CHAIN_PENDING'),
               count(*) FILTER (WHERE 'underpaid' = ANY(p.exceptions)),
               count(*) FILTER (WHERE 'overpaid' = ANY(p.exceptions)),
               count(*) FILTER (WHERE 'paidLate' = ANY(p.exceptions)),
               count(*) FILTER (WHERE 'wrongCurrency' = ANY(p.exceptions)),
               count(*) FILTER (WHERE 'reorged' = ANY(p.exceptions))
          FROM payment p CROSS JOIN LATERAL (
            SELECT p.status IN ('CONFIRMING', 'CONFIRMED', 'SWEEP_QUEUED', 'SETTLED') AS is_paid,
                   coalesce(p.value_paid, p.amount_paid * p.exchange_rate, 0) AS received) f
         GROUP BY 1, 2, 3`);
    await q.query(`
      CREATE INDEX payment_exception ON payment (merchant_id, created_at DESC, id DESC) WHERE exceptions <> '{}'`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP INDEX payment_exception');
    await q.query('DROP TABLE payment_day');
  }
}
