-- Conversions of one balance into another, from our own position or by an order at a swap provider.

CREATE TABLE conversion (
  id char(24) PRIMARY KEY,
  merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
  idempotency_key text,
  body_hash text NOT NULL,
  status text NOT NULL
    CHECK (status IN ('initializing', 'pending', 'processing', 'completed', 'failed', 'cancelled')),
  state_version integer NOT NULL DEFAULT 1,
  execution_mode text NOT NULL CHECK (execution_mode IN ('internal', 'external')),
  from_currency text NOT NULL,
  to_currency text NOT NULL,
  CHECK (from_currency <> to_currency),
  from_amount numeric(60, 18) NOT NULL CHECK (from_amount > 0),
  -- The quote that the conversion was executed at: all four values, or none.
  to_amount numeric(60, 18) CHECK (to_amount > 0),
  exchange_rate numeric(60, 24) CHECK (exchange_rate > 0),
  commission_amount numeric(60, 18) CHECK (commission_amount >= 0),
  net_from_amount numeric(60, 18) CHECK (net_from_amount > 0),
  CHECK (num_nulls(to_amount, exchange_rate, commission_amount, net_from_amount) IN (0, 4)),
  CHECK (commission_amount + net_from_amount = from_amount),
  CHECK (to_amount IS NOT NULL OR status IN ('initializing', 'failed', 'cancelled')),
  CHECK (to_amount IS NULL OR status <> 'cancelled'),
  from_rate_id bigint REFERENCES rate,
  to_rate_id bigint REFERENCES rate,
  -- Whether the source amount ever left the balance.
  is_debited boolean NOT NULL DEFAULT false,
  CHECK (is_debited = (status IN ('processing', 'completed')) OR status = 'failed'),
  -- External mode: what the provider promised, and what was credited.
  price_protection_pct numeric(10, 6),
  estimated_seconds integer,
  accepted_minimum numeric(60, 18),
  credit_amount numeric(60, 18) CHECK (credit_amount > 0),
  CHECK (credit_amount IS NULL OR status = 'completed'),
  merchant_message text,
  key_id char(24),
  created_by char(24),
  requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  completed_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 80);
-- An idempotency key belongs to one conversion; a conversion that ended before it moved money gives it back.
CREATE UNIQUE INDEX conversion_key ON conversion (merchant_id, idempotency_key)
  WHERE is_debited OR status IN ('initializing', 'pending');
CREATE INDEX conversion_newest ON conversion (merchant_id, created_at DESC, id DESC);
CREATE INDEX conversion_open ON conversion (status, updated_at)
  WHERE status IN ('initializing', 'pending', 'processing');
CREATE INDEX conversion_from_rate ON conversion (from_rate_id);
CREATE INDEX conversion_to_rate ON conversion (to_rate_id);
CREATE INDEX conversion_by_key ON conversion (key_id, created_at) WHERE key_id IS NOT NULL AND is_debited;

-- How a pair is converted; a pair without a row: internally. max_usd: the most that one conversion may be worth.
CREATE TABLE conversion_pair (
  from_currency text NOT NULL,
  to_currency text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('internal', 'external', 'off')),
  max_usd numeric(20, 2) CHECK (max_usd > 0),
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (from_currency, to_currency)
);

-- What the platform holds by converting: the sum of Q:fx, credits less debits. A conversion locks the rows of its two
-- assets. Where a position is worth more than its limit, a pair that would enlarge it is converted as `beyond` says.
CREATE TABLE fx_position (
  asset text PRIMARY KEY,
  amount numeric(60, 18) NOT NULL DEFAULT 0,
  limit_usd numeric(20, 2) CHECK (limit_usd >= 0),
  beyond text NOT NULL DEFAULT 'off' CHECK (beyond IN ('external', 'off')),
  changed_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

-- What a swap provider gave for two amounts of a pair; quotes are interpolated between them.
CREATE TABLE swap_rate (
  from_currency text NOT NULL,
  to_currency text NOT NULL,
  min_amount numeric(60, 18) NOT NULL CHECK (min_amount > 0),
  max_amount numeric(60, 18),
  low_amount numeric(60, 18) NOT NULL,
  low_output numeric(60, 18) NOT NULL,
  high_amount numeric(60, 18) NOT NULL,
  high_output numeric(60, 18) NOT NULL,
  CHECK (high_amount > low_amount),
  seconds integer,
  taken_at timestamptz NOT NULL,
  PRIMARY KEY (from_currency, to_currency)
) WITH (fillfactor = 50);

-- The provider's order behind an external conversion: one for ever. Merchants see neither its number nor its addresses.
CREATE TABLE swap_order (
  conversion_id char(24) PRIMARY KEY REFERENCES conversion ON DELETE RESTRICT,
  provider text NOT NULL,
  payout_address text NOT NULL,
  refund_address text NOT NULL,
  amount numeric(60, 18) NOT NULL CHECK (amount > 0),
  -- refused: the provider makes no order. worse: it would give less than was accepted.
  state text CHECK (state IN
    ('waiting', 'working', 'finished', 'failed', 'refunded', 'expired', 'unknown', 'refused', 'worse')),
  -- The provider's own word for the state.
  status text,
  order_id text,
  deposit_address text,
  promised numeric(60, 18),
  valid_until timestamptz,
  CHECK (num_nulls(order_id, deposit_address, promised, valid_until) IN (0, 4)),
  CHECK ((order_id IS NULL) = (state IS NULL OR state IN ('refused', 'worse'))),
  credited_deposit_ids bigint[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The transaction that the provider names as its payout.
  payout_tx_id text,
  UNIQUE (provider, order_id)
) WITH (fillfactor = 80);
