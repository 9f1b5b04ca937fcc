import type { MigrationInterface, QueryRunner } from 'typeorm';

const statements = [
  // Each deposit counts at the rate of the quote in force when it was first seen. `quote_amount`: the whole price in
  // the coin at that quote; `rated_at`: the moment that the rate is of; `mined_at`: the time of its block.
  `ALTER TABLE deposit ADD COLUMN first_seen_height bigint, ADD COLUMN mined_at timestamptz,
     ADD COLUMN rated_at timestamptz, ADD COLUMN rate_id bigint REFERENCES rate,
     ADD COLUMN exchange_rate numeric(60, 18) CHECK (exchange_rate > 0),
     ADD COLUMN quote_amount numeric(60, 18) CHECK (quote_amount > 0)`,
  // `value_paid`: fiat, each deposit at its own rate; null: all of it at `exchange_rate`. `accepted_share`: of the
  // price, where less was accepted.
  `ALTER TABLE payment ADD COLUMN quote_amount numeric(60, 18) CHECK (quote_amount > 0),
     ADD COLUMN quoted_at timestamptz, ADD COLUMN value_paid numeric(78, 36),
     ADD COLUMN accepted_share numeric(42, 40) CHECK (accepted_share > 0)`,
  // Quotes of a payment that are over: what came while one was in force may be noticed later.
  `CREATE TABLE payment_quote (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payment_id char(24) NOT NULL REFERENCES payment,
    currency text NOT NULL, rate_id bigint NOT NULL REFERENCES rate, exchange_rate numeric(60, 18) NOT NULL,
    quote_amount numeric(60, 18) NOT NULL, quoted_at timestamptz NOT NULL, ended_at timestamptz NOT NULL)`,
  'CREATE INDEX payment_quote_payment ON payment_quote (payment_id)',
  'CREATE INDEX payment_quote_rate ON payment_quote (rate_id)',
  'CREATE INDEX deposit_rate ON deposit (rate_id) WHERE rate_id IS NOT NULL',
  `CREATE INDEX deposit_inputs ON deposit USING gin (inputs) WHERE status IN ('pool', 'orphaned')`,
  `UPDATE payment SET quote_amount = amount, quoted_at = created_at,
          accepted_share = least(accepted_amount / amount, 1), value_paid = amount_paid * exchange_rate,
          quote_expires_at = least(quote_expires_at, expires_at) WHERE amount IS NOT NULL`,
  `UPDATE deposit d SET first_seen_height = coalesce(d.height, c.height) FROM chain_cursor c WHERE c.network = d.network`,
  `UPDATE deposit d SET rated_at = date_trunc('milliseconds', d.first_seen_at),
          rate_id = p.rate_id, exchange_rate = p.exchange_rate, quote_amount = p.amount
     FROM payment p
    WHERE p.id = coalesce(d.child_payment_id, d.payment_id) AND d.currency = p.currency AND p.exchange_rate IS NOT NULL
      AND d.status IN ('pool', 'mined', 'confirmed')`,
  'ALTER TABLE payment DROP COLUMN rate_frozen, DROP COLUMN accepted_amount',
];

export class DepositRates1798330000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const statement of statements) await q.query(statement);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query(`ALTER TABLE payment ADD COLUMN rate_frozen boolean NOT NULL DEFAULT false,
      ADD COLUMN accepted_amount numeric(60, 18) CHECK (accepted_amount > 0)`);
    await q.query(
      `UPDATE payment SET accepted_amount = trunc(accepted_share * amount, 18) WHERE accepted_share IS NOT NULL`,
    );
    await q.query('UPDATE payment SET rate_frozen = amount_paid > 0');
    await q.query('DROP INDEX deposit_inputs');
    await q.query('DROP TABLE payment_quote');
    await q.query(
      `ALTER TABLE payment DROP COLUMN quote_amount, DROP COLUMN quoted_at, DROP COLUMN value_paid,
         DROP COLUMN accepted_share`,
    );
    await q.query(`ALTER TABLE deposit DROP COLUMN first_seen_height, DROP COLUMN mined_at, DROP COLUMN rated_at,
      DROP COLUMN rate_id, DROP COLUMN exchange_rate, DROP COLUMN quote_amount`);
  }
}
