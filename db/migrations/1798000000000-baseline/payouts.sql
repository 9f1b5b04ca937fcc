-- Mass payouts: a batch, and a leg for each payment of it.

CREATE TABLE payout_batch (
  id char(24) PRIMARY KEY,
  merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
  status text NOT NULL CHECK (status IN ('awaiting_approval', 'queued', 'processing', 'completed',
    'partially_completed', 'failed', 'cancelled')),
  state_version integer NOT NULL DEFAULT 1,
  label text,
  idempotency_key text,
  rows_hash text NOT NULL,
  row_count integer NOT NULL CHECK (row_count BETWEEN 1 AND 500),
  -- By currency, exact decimal strings.
  totals jsonb NOT NULL,
  fees jsonb NOT NULL,
  created_by text NOT NULL,
  created_by_id char(24) NOT NULL,
  -- null: a second person must approve it.
  approved_by text,
  approved_at timestamptz,
  -- When everything that will be sent had been.
  sent_at timestamptz,
  cancelled_at timestamptz,
  completed_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (merchant_id, idempotency_key)
) WITH (fillfactor = 80);
CREATE INDEX payout_batch_newest ON payout_batch (merchant_id, created_at DESC, id DESC);
CREATE INDEX payout_batch_open ON payout_batch (id) WHERE status IN ('queued', 'processing');

CREATE TABLE payout_leg (
  id char(24) PRIMARY KEY,
  batch_id char(24) NOT NULL REFERENCES payout_batch ON DELETE RESTRICT,
  merchant_id char(24) NOT NULL,
  row_index integer NOT NULL,
  currency text NOT NULL,
  network text NOT NULL,
  address text NOT NULL,
  destination_tag text,
  -- amount leaves the balance, net_amount arrives.
  amount numeric(60, 18) NOT NULL,
  network_fee numeric(60, 18) NOT NULL CHECK (network_fee >= 0),
  net_amount numeric(60, 18) NOT NULL CHECK (net_amount > 0),
  CHECK (amount = net_amount + network_fee),
  status text NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'processing', 'broadcast', 'completed', 'failed', 'refunded')),
  state_version integer NOT NULL DEFAULT 1,
  -- The intent that sends it; several legs share one where a transaction pays many.
  intent_id bigint REFERENCES intent,
  CHECK (intent_id IS NOT NULL OR status IN ('pending', 'failed', 'refunded')),
  tx_id text,
  merchant_message text,
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (batch_id, row_index)
) WITH (fillfactor = 70);
CREATE INDEX payout_leg_open ON payout_leg (batch_id) WHERE status IN ('pending', 'processing', 'broadcast');
CREATE INDEX payout_leg_intent ON payout_leg (intent_id) WHERE intent_id IS NOT NULL;
