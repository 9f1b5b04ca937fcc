import type { MigrationInterface, QueryRunner } from 'typeorm';

const statements = [
  // What a swap provider gave for two amounts of a pair: quotes are drawn between them.
  `CREATE TABLE swap_rate (
    from_currency text NOT NULL, to_currency text NOT NULL,
    min_amount numeric(60, 18) NOT NULL CHECK (min_amount > 0), max_amount numeric(60, 18),
    low_amount numeric(60, 18) NOT NULL, low_output numeric(60, 18) NOT NULL,
    high_amount numeric(60, 18) NOT NULL, high_output numeric(60, 18) NOT NULL, CHECK (high_amount > low_amount),
    seconds integer, taken_at timestamptz NOT NULL, PRIMARY KEY (from_currency, to_currency)) WITH (fillfactor = 50)`,
  // The order behind an external conversion; one for ever. What the provider calls it, and where its money goes, is nobody else's business.
  `CREATE TABLE swap_order (
    conversion_id char(24) PRIMARY KEY REFERENCES conversion ON DELETE RESTRICT,
    provider text NOT NULL, payout_address text NOT NULL, refund_address text NOT NULL,
    amount numeric(60, 18) NOT NULL CHECK (amount > 0),
    -- refused: it will make none. worse: it would give less than was accepted
    state text CHECK (state IN ('waiting', 'working', 'finished', 'failed', 'refunded', 'expired', 'unknown', 'refused', 'worse')),
    -- the provider's own word
    status text,
    order_id text, deposit_address text, promised numeric(60, 18), valid_until timestamptz,
    CHECK (num_nulls(order_id, deposit_address, promised, valid_until) IN (0, 4)),
    CHECK ((order_id IS NULL) = (state IS NULL OR state IN ('refused', 'worse'))),
    credited_deposit_ids bigint[] NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(), changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (provider, order_id)) WITH (fillfactor = 80)`,
  `ALTER TABLE conversion DROP COLUMN provider, DROP COLUMN provider_order_id`,
  `ALTER TABLE address ADD COLUMN conversion_id char(24) REFERENCES conversion ON DELETE RESTRICT`,
  `CREATE INDEX address_conversion ON address (conversion_id) WHERE conversion_id IS NOT NULL`,
];

export class Swaps1796300000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const statement of statements) await q.query(statement);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE address DROP COLUMN conversion_id');
    await q.query('DROP TABLE swap_order, swap_rate');
    await q.query(
      'ALTER TABLE conversion ADD COLUMN provider text, ADD COLUMN provider_order_id text, ADD UNIQUE (provider, provider_order_id)',
    );
  }
}
