import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a deposit inherited from transactions that its own replaced: each part counts at the rate of the moment when it
 *  was first seen. The rest of the deposit is what its own row says. */
export class DepositParts1799000100000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(
      `CREATE TABLE deposit_part (
         deposit_id bigint NOT NULL REFERENCES deposit,
         n integer NOT NULL CHECK (n > 0),
         amount numeric(60, 18) NOT NULL CHECK (amount > 0),
         first_seen_at timestamptz NOT NULL,
         first_seen_height bigint,
         -- As of a deposit.
         rated_at timestamptz,
         rate_id bigint REFERENCES rate,
         exchange_rate numeric(60, 18) CHECK (exchange_rate > 0),
         quote_amount numeric(60, 18) CHECK (quote_amount > 0),
         PRIMARY KEY (deposit_id, n)
       )`,
    );
    await q.query('CREATE INDEX deposit_part_rate ON deposit_part (rate_id) WHERE rate_id IS NOT NULL');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE deposit_part');
  }
}
