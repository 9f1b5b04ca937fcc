-- Merchants and their settlement wallets.

CREATE TABLE merchant (
  id char(24) PRIMARY KEY,
  name text NOT NULL CHECK (name <> ''),
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
  display_currency text NOT NULL DEFAULT 'USD',
  fee_bearer text NOT NULL DEFAULT 'merchant' CHECK (fee_bearer IN ('customer', 'merchant')),
  fee_bps integer NOT NULL DEFAULT 40 CHECK (fee_bps BETWEEN 1 AND 5000),
  underpayment_tolerance_pct numeric(5, 2) NOT NULL DEFAULT 1 CHECK (underpayment_tolerance_pct BETWEEN 0 AND 50),
  underpaid_policy text NOT NULL DEFAULT 'hold' CHECK (underpaid_policy IN ('hold', 'accept', 'refund')),
  callback_domains text[] NOT NULL DEFAULT '{}',
  default_expires_in integer CHECK (default_expires_in BETWEEN 60 AND 172800),
  open_payments_quota integer CHECK (open_payments_quota > 0),
  ipn_enabled boolean NOT NULL DEFAULT true,
  ipn_secret_sealed text NOT NULL,
  publishable_key text NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  previous_publishable_key text UNIQUE,
  previous_publishable_key_until timestamptz,
  auto_accept_cross_chain_hours integer NOT NULL DEFAULT 0 CHECK (auto_accept_cross_chain_hours BETWEEN 0 AND 720),
  whitelist_delay_hours integer NOT NULL DEFAULT 0 CHECK (whitelist_delay_hours BETWEEN 0 AND 720),
  -- No new whitelist entry is active before this time: the end of a longer delay that was shortened since.
  whitelist_not_before timestamptz,
  refund_daily_cap_usd numeric(60, 18) CHECK (refund_daily_cap_usd >= 0)
);

-- The one hot row of a merchant: locked last, and held for one statement. Invariants: 6.
CREATE TABLE merchant_counter (
  merchant_id char(24) PRIMARY KEY REFERENCES merchant ON DELETE RESTRICT,
  event_seq bigint NOT NULL DEFAULT 0,
  open_payments integer NOT NULL DEFAULT 0 CHECK (open_payments >= 0)
) WITH (fillfactor = 50);

-- Where a merchant's money goes when a payment settles: one active wallet per currency.
CREATE TABLE merchant_wallet (
  id char(24) PRIMARY KEY,
  merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
  currency text NOT NULL,
  settlement_address text NOT NULL,
  destination_tag text,
  custody text NOT NULL CHECK (custody IN ('platform', 'external')),
  is_active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  deactivated_at timestamptz
);
CREATE UNIQUE INDEX merchant_wallet_active ON merchant_wallet (merchant_id, currency) WHERE is_active;

-- Every state that a wallet has had; written by the trigger in functions/note_wallet.sql.
CREATE TABLE merchant_wallet_history (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  wallet_id char(24) NOT NULL REFERENCES merchant_wallet,
  settlement_address text NOT NULL,
  destination_tag text,
  custody text NOT NULL,
  is_active boolean NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX merchant_wallet_history_wallet ON merchant_wallet_history (wallet_id, id);
