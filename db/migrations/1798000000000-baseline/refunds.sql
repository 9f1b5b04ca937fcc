-- Refunds of payments.

CREATE TABLE refund (
  id char(24) PRIMARY KEY,
  merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
  payment_id char(24) NOT NULL REFERENCES payment ON DELETE RESTRICT,
  idempotency_key text,
  body_hash text NOT NULL,
  status text NOT NULL CHECK (status IN ('awaiting_address', 'awaiting_approval', 'pending', 'processing', 'broadcast',
    'completed', 'failed', 'cancelled')),
  state_version integer NOT NULL DEFAULT 1,
  type text NOT NULL CHECK (type IN ('full', 'partial', 'overpaid', 'underpaid')),
  currency text NOT NULL,
  network text NOT NULL,
  -- balance: credited money, held in the ledger. deposit: never credited, sent back from the address that it came to.
  source text NOT NULL CHECK (source IN ('balance', 'deposit')),
  deposit_ids bigint[] NOT NULL DEFAULT '{}',
  CHECK ((source = 'deposit') = (cardinality(deposit_ids) > 0)),
  fee_bearer text NOT NULL CHECK (fee_bearer IN ('merchant', 'payer')),
  -- amount: what counts against the payment. gross: what is held for it. net: what its address gets.
  amount numeric(60, 18) NOT NULL CHECK (amount > 0),
  network_fee numeric(60, 18) NOT NULL CHECK (network_fee >= 0),
  gross_amount numeric(60, 18) NOT NULL CHECK (gross_amount >= amount),
  net_amount numeric(60, 18) NOT NULL CHECK (net_amount > 0),
  fiat_amount numeric(60, 18) NOT NULL,
  fiat_currency text NOT NULL,
  address text,
  destination_tag text,
  reason text,
  reference text,
  merchant_message text,
  key_id char(24),
  created_by char(24),
  -- The person who counts as the one who asked, whether by a page or by a key; null while nobody is known.
  asked_by char(24),
  -- Above a limit: approved by somebody else than asked_by.
  needs_second_person boolean NOT NULL DEFAULT false,
  approved_by char(24),
  approved_at timestamptz,
  tx_id text,
  completed_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When the payer named the address.
  claimed_at timestamptz,
  CHECK (gross_amount = net_amount + network_fee),
  CHECK (address IS NOT NULL OR status IN ('awaiting_address', 'cancelled')),
  CONSTRAINT refund_second_person CHECK (NOT needs_second_person OR approved_at IS NULL
    OR asked_by IS NOT NULL AND approved_by IS NOT NULL AND approved_by <> asked_by),
  UNIQUE (merchant_id, idempotency_key)
) WITH (fillfactor = 80);
CREATE INDEX refund_payment ON refund (payment_id);
CREATE INDEX refund_newest ON refund (merchant_id, created_at DESC, id DESC);
CREATE INDEX refund_open ON refund (id) WHERE status IN ('pending', 'processing', 'broadcast');
