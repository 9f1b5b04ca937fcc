import type { MigrationInterface, QueryRunner } from 'typeorm';

const statements = [
  `CREATE TABLE conversion (
    id char(24) PRIMARY KEY,
    merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
    idempotency_key text, body_hash text NOT NULL,
    status text NOT NULL CHECK (status IN ('initializing', 'pending', 'processing', 'completed', 'failed', 'cancelled')),
    state_version integer NOT NULL DEFAULT 1,
    execution_mode text NOT NULL CHECK (execution_mode IN ('internal', 'external')),
    from_currency text NOT NULL, to_currency text NOT NULL, CHECK (from_currency <> to_currency),
    from_amount numeric(60, 18) NOT NULL CHECK (from_amount > 0),
    -- the quote that it was made at; all of it or nothing
    to_amount numeric(60, 18) CHECK (to_amount > 0), exchange_rate numeric(60, 24) CHECK (exchange_rate > 0),
    commission_amount numeric(60, 18) CHECK (commission_amount >= 0), net_from_amount numeric(60, 18) CHECK (net_from_amount > 0),
    CHECK (num_nulls(to_amount, exchange_rate, commission_amount, net_from_amount) IN (0, 4)),
    CHECK (commission_amount + net_from_amount = from_amount),
    CHECK (to_amount IS NOT NULL OR status IN ('initializing', 'failed', 'cancelled')),
    CHECK (to_amount IS NULL OR status <> 'cancelled'),
    from_rate_id bigint REFERENCES rate, to_rate_id bigint REFERENCES rate,
    -- whether its source amount ever left the balance
    is_debited boolean NOT NULL DEFAULT false,
    CHECK (is_debited = (status IN ('processing', 'completed')) OR status = 'failed'),
    -- external mode: what its provider promised, and what was credited
    price_protection_pct numeric(10, 6), estimated_seconds integer, accepted_minimum numeric(60, 18),
    provider text, provider_order_id text, credit_amount numeric(60, 18) CHECK (credit_amount > 0),
    CHECK (credit_amount IS NULL OR status = 'completed'),
    merchant_message text, key_id char(24), created_by char(24),
    requested_at timestamptz NOT NULL DEFAULT clock_timestamp(), completed_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(), updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (provider, provider_order_id)) WITH (fillfactor = 80)`,
  // A key is taken by one conversion; by one that ended before it moved money it is not taken any more.
  `CREATE UNIQUE INDEX conversion_key ON conversion (merchant_id, idempotency_key)
    WHERE is_debited OR status IN ('initializing', 'pending')`,
  `CREATE INDEX conversion_newest ON conversion (merchant_id, created_at DESC, id DESC)`,
  `CREATE INDEX conversion_open ON conversion (status, updated_at) WHERE status IN ('initializing', 'pending', 'processing')`,
  `CREATE INDEX conversion_from_rate ON conversion (from_rate_id)`,
  `CREATE INDEX conversion_to_rate ON conversion (to_rate_id)`,
  // An end is an end, and what was debited completes or fails.
  `CREATE FUNCTION guard_conversion() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF OLD.status = 'completed' AND NEW.credit_amount IS DISTINCT FROM OLD.credit_amount THEN
        RAISE EXCEPTION 'conversion % is completed', OLD.id USING ERRCODE = 'CP013';
      END IF;
      IF NEW.status = OLD.status THEN RETURN NEW; END IF;
      IF OLD.status IN ('completed', 'failed', 'cancelled')
        OR OLD.status = 'initializing' AND NEW.status NOT IN ('pending', 'failed', 'cancelled')
        OR OLD.status = 'pending' AND NEW.status NOT IN ('processing', 'completed', 'failed')
        OR OLD.status = 'processing' AND NEW.status NOT IN ('completed', 'failed')
        OR OLD.is_debited AND NOT NEW.is_debited OR NEW.state_version <= OLD.state_version THEN
        RAISE EXCEPTION 'conversion % may not go from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'CP013';
      END IF;
      RETURN NEW;
    END $$`,
  `CREATE TRIGGER conversion_order BEFORE UPDATE ON conversion FOR EACH ROW EXECUTE FUNCTION guard_conversion()`,
  // How a pair is converted; a pair without a row: internally. max_usd: the most that one conversion is worth.
  `CREATE TABLE conversion_pair (
    from_currency text NOT NULL, to_currency text NOT NULL, mode text NOT NULL CHECK (mode IN ('internal', 'external', 'off')),
    max_usd numeric(20, 2) CHECK (max_usd > 0), changed_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (from_currency, to_currency))`,
  // What the platform holds by converting: the sum of Q:fx, credits less debits. Its row is the lock of whoever converts from or to the
  // asset. Where a position is worth more than its limit, pairs that would enlarge it go the way that is named here.
  `CREATE TABLE fx_position (
    asset text PRIMARY KEY, amount numeric(60, 18) NOT NULL DEFAULT 0, limit_usd numeric(20, 2) CHECK (limit_usd >= 0),
    beyond text NOT NULL DEFAULT 'off' CHECK (beyond IN ('external', 'off')), changed_at timestamptz NOT NULL DEFAULT now()) WITH (fillfactor = 50)`,
  `CREATE INDEX balance_asset ON balance (asset)`,
  // The last look at the sources of rates: when it began, and which currencies it found a price in dollars for. One row.
  `CREATE TABLE rate_look (only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one), started_at timestamptz NOT NULL, currencies text[] NOT NULL)
    WITH (fillfactor = 50)`,
];

export class Conversions1796200000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const statement of statements) await q.query(statement);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP INDEX balance_asset');
    await q.query('DROP TABLE rate_look, fx_position, conversion_pair, conversion');
    await q.query('DROP FUNCTION guard_conversion');
  }
}
