-- Withdrawals, the whitelist of addresses and IPs, and the limits on everything that leaves.

CREATE TABLE withdrawal (
  id char(24) PRIMARY KEY,
  merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
  idempotency_key text NOT NULL,
  body_hash text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'awaiting_approval', 'processing', 'broadcast', 'completed',
    'failed', 'cancelled')),
  state_version integer NOT NULL DEFAULT 1,
  currency text NOT NULL,
  network text NOT NULL,
  fee_mode text NOT NULL CHECK (fee_mode IN ('deduct', 'add')),
  -- amount: as requested. gross: what is held for it. net: what its address gets.
  amount numeric(60, 18) NOT NULL CHECK (amount > 0),
  network_fee numeric(60, 18) NOT NULL CHECK (network_fee >= 0),
  gross_amount numeric(60, 18) NOT NULL CHECK (gross_amount >= amount),
  net_amount numeric(60, 18) NOT NULL CHECK (net_amount > 0),
  address text NOT NULL,
  destination_tag text,
  note text,
  merchant_message text,
  requested_by char(24) NOT NULL,
  requested_by_name text NOT NULL,
  -- Above a limit: approved by another person than the one who requested it.
  needs_approval boolean NOT NULL,
  approved_by char(24),
  approved_by_name text,
  approved_at timestamptz,
  tx_id text,
  broadcast_at timestamptz,
  completed_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK (gross_amount = net_amount + network_fee),
  CHECK (approved_at IS NOT NULL OR status IN ('awaiting_approval', 'cancelled')),
  CHECK (NOT needs_approval OR approved_by <> requested_by),
  UNIQUE (merchant_id, idempotency_key)
) WITH (fillfactor = 80);
CREATE INDEX withdrawal_newest ON withdrawal (merchant_id, created_at DESC, id DESC);
CREATE INDEX withdrawal_open ON withdrawal (id) WHERE status IN ('pending', 'processing', 'broadcast');

-- Addresses that money may be sent to, and IPs that it may be sent from.
CREATE TABLE whitelist_entry (
  id char(24) PRIMARY KEY,
  merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
  type text NOT NULL CHECK (type IN ('wallet', 'ip')),
  currency text,
  address text,
  destination_tag text,
  ip text,
  label text,
  created_by text NOT NULL,
  created_by_id char(24) NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  active_at timestamptz NOT NULL,
  removed_at timestamptz,
  removed_by_id char(24),
  CHECK (CASE type WHEN 'wallet' THEN currency IS NOT NULL AND address IS NOT NULL AND ip IS NULL
                   ELSE ip IS NOT NULL AND currency IS NULL AND address IS NULL AND destination_tag IS NULL END)
);
CREATE UNIQUE INDEX whitelist_entry_listed
  ON whitelist_entry (merchant_id, type, currency, address, destination_tag, ip)
  NULLS NOT DISTINCT WHERE removed_at IS NULL;

-- The most that may leave. scope: 'platform' or a merchant. The newest active limit counts, and every limit that was
-- set since and is tighter. null: no limit.
CREATE TABLE egress_limit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  scope text NOT NULL,
  daily_usd numeric(60, 18) CHECK (daily_usd >= 0),
  hourly_count integer CHECK (hourly_count >= 0),
  approval_usd numeric(60, 18) CHECK (approval_usd >= 0),
  set_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  active_at timestamptz NOT NULL
);
CREATE INDEX egress_limit_scope ON egress_limit (scope, id);

-- What the limits have admitted, once per withdrawal, batch or refund, at its value then.
CREATE TABLE egress_admission (
  kind text NOT NULL,
  ref char(24) NOT NULL,
  merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
  usd numeric(60, 18) NOT NULL CHECK (usd >= 0),
  admitted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  signed_at timestamptz,
  released_at timestamptz,
  PRIMARY KEY (kind, ref)
);
CREATE INDEX egress_admission_merchant ON egress_admission (merchant_id, admitted_at);
CREATE INDEX egress_admission_time ON egress_admission (admitted_at);
CREATE INDEX egress_admission_signed ON egress_admission (signed_at) WHERE signed_at IS NOT NULL;
