-- Payments and the log of their states.

CREATE TABLE payment (
  id char(24) PRIMARY KEY,
  merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
  slug text NOT NULL UNIQUE,
  status text NOT NULL CHECK (status IN ('AWAITING_CURRENCY', 'WAITING', 'PARTIALLY_PAID', 'CROSS_CHAIN_PENDING',
    'CONFIRMING', 'CONFIRMED', 'SWEEP_QUEUED', 'SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED')),
  state_version integer NOT NULL DEFAULT 1,
  exceptions text[] NOT NULL DEFAULT '{}',
  source text NOT NULL CHECK (source IN ('api', 'platform', 'widget')),
  idempotency_key text,
  merchant_order_id text,
  customer_id text,
  extra_id text,
  metadata json,
  order_id text,
  ipn_callback_url text,
  invoice_callback_url text,
  invoice_cancel_url text,
  fiat_amount numeric(60, 18) NOT NULL CHECK (fiat_amount > 0),
  fiat_currency text NOT NULL,
  fee_bearer text NOT NULL,
  fee_bps integer NOT NULL,
  tolerance_pct numeric(5, 2) NOT NULL,
  underpaid_policy text NOT NULL,
  -- The quote; all null until a currency is locked.
  currency text,
  network text,
  amount numeric(60, 18) CHECK (amount > 0),
  exchange_rate numeric(60, 18) CHECK (exchange_rate > 0),
  commission_amount numeric(60, 18),
  network_fee_amount numeric(60, 18),
  fee_amount numeric(60, 18),
  net_amount numeric(60, 18),
  rate_id bigint REFERENCES rate,
  native_rate numeric(60, 18),
  -- The whole price in the coin at the quote in force.
  quote_amount numeric(60, 18) CHECK (quote_amount > 0),
  quoted_at timestamptz,
  quote_expires_at timestamptz,
  required_confirmations integer,
  deposit_address text,
  settlement_address text,
  custody text,
  expires_at timestamptz NOT NULL,
  expires_in integer NOT NULL,
  -- What happened since.
  amount_paid numeric(60, 18) NOT NULL DEFAULT 0,
  -- Fiat, each deposit at its own rate; null: all of it at exchange_rate.
  value_paid numeric(78, 36),
  tx_ids text[] NOT NULL DEFAULT '{}',
  settled_fee_amount numeric(60, 18),
  settled_net_amount numeric(60, 18),
  settled_stamp_incomplete boolean NOT NULL DEFAULT false,
  sweep_state text CHECK (sweep_state IN ('queued', 'broadcast', 'confirmed')),
  sweep_tx_id text,
  address_role text NOT NULL DEFAULT 'primary' CHECK (address_role IN ('primary', 'repeat')),
  parent_payment_id char(24) REFERENCES payment,
  child_deposit_id bigint UNIQUE,
  original_currency text,
  original_amount numeric(60, 18),
  confirmed_at timestamptz,
  settled_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- The share of the price that counts as all of it, since less was accepted by the merchant or by policy.
  accepted_share numeric(42, 40) CHECK (accepted_share > 0),
  -- The merchant's setting when the payment was made; null: never.
  auto_accept_cross_chain_hours integer,
  -- Another asset that came: its price when it was noticed, and when it is accepted without a decision.
  cross_offer jsonb,
  cross_chain_auto_accept_at timestamptz,
  CHECK ((currency IS NULL) = (amount IS NULL)),
  UNIQUE (merchant_id, idempotency_key)
) WITH (fillfactor = 80);
-- Every filter of the payment list finds its rows in the order of the list.
CREATE INDEX payment_newest ON payment (merchant_id, created_at DESC, id DESC);
CREATE INDEX payment_status ON payment (merchant_id, status, created_at DESC, id DESC);
CREATE INDEX payment_currency ON payment (merchant_id, currency, created_at DESC, id DESC);
CREATE INDEX payment_order ON payment (merchant_id, order_id, created_at DESC, id DESC) WHERE order_id IS NOT NULL;
CREATE INDEX payment_merchant_order ON payment (merchant_id, merchant_order_id, created_at DESC, id DESC)
  WHERE merchant_order_id IS NOT NULL;
CREATE INDEX payment_open ON payment (id) WHERE status NOT IN ('SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED');
CREATE INDEX payment_pending ON payment (merchant_id, currency) WHERE status IN ('CONFIRMED', 'SWEEP_QUEUED');
CREATE INDEX payment_parent ON payment (parent_payment_id) WHERE parent_payment_id IS NOT NULL;
-- A rate is pruned only where no payment was quoted with it, which PostgreSQL looks up for each rate.
CREATE INDEX payment_rate ON payment (rate_id) WHERE rate_id IS NOT NULL;

-- Quotes of a payment that are over: a deposit that came while one was in force may be noticed later.
CREATE TABLE payment_quote (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  payment_id char(24) NOT NULL REFERENCES payment,
  currency text NOT NULL,
  rate_id bigint NOT NULL REFERENCES rate,
  exchange_rate numeric(60, 18) NOT NULL,
  quote_amount numeric(60, 18) NOT NULL,
  quoted_at timestamptz NOT NULL,
  ended_at timestamptz NOT NULL
);
CREATE INDEX payment_quote_payment ON payment_quote (payment_id);
CREATE INDEX payment_quote_rate ON payment_quote (rate_id);

CREATE TABLE payment_event (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  payment_id char(24) NOT NULL REFERENCES payment,
  state_version integer NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  from_status text,
  to_status text NOT NULL,
  cause text NOT NULL,
  details jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX payment_event_payment ON payment_event (payment_id, id);
