-- What we send: an intent says what shall be sent, an attempt is one signed transaction of it. Invariants: 5.

CREATE TABLE wallet_sequence (
  network text NOT NULL,
  address text NOT NULL,
  next_nonce integer NOT NULL DEFAULT 0,
  frozen_reason text,
  frozen_at timestamptz,
  PRIMARY KEY (network, address),
  FOREIGN KEY (network, address) REFERENCES address
);

CREATE TABLE intent (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  ref text NOT NULL,
  network text NOT NULL,
  currency text NOT NULL,
  from_address text NOT NULL,
  -- [{address, units | null (all that is left after the fee)}]; base units as decimal strings.
  outputs jsonb NOT NULL,
  -- UTXO networks: the deposits it spends. Account networks: the deposits it moves.
  deposit_ids bigint[] NOT NULL DEFAULT '{}',
  -- The most that a transaction of it may pay per unit of work, and in all, native base units.
  -- domain/txmanager/fee-limits.ts says how both limits are chosen.
  max_unit_price numeric(60, 18) NOT NULL,
  fee_budget numeric(78, 0) NOT NULL,
  status text NOT NULL DEFAULT 'planned'
    CHECK (status IN ('planned', 'stored', 'sent', 'mined', 'final', 'failed', 'dead')),
  payment_id char(24),
  merchant_id char(24),
  -- Whose workflow processes it: domain/workflow-ids.ts says what an id is of.
  owner_kind text NOT NULL CHECK (owner_kind IN ('sweep', 'sweep-batch', 'refund', 'withdrawal', 'payout-batch',
    'conversion', 'consolidate')),
  owner_id text NOT NULL,
  -- Its end is in the ledger.
  booked boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  refusals integer NOT NULL DEFAULT 0,
  -- Attempts up to this number were signed for other deposits: another attempt takes their nonce, or their coins.
  void_through integer NOT NULL DEFAULT 0,
  UNIQUE (kind, ref)
);
CREATE INDEX intent_payment ON intent (payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX intent_open ON intent (network) WHERE status NOT IN ('final', 'failed', 'dead');
CREATE INDEX intent_owner ON intent (owner_kind, owner_id);

CREATE TABLE attempt (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  intent_id bigint NOT NULL REFERENCES intent,
  n integer NOT NULL,
  network text NOT NULL,
  tx_id text NOT NULL,
  raw text NOT NULL,
  from_address text NOT NULL,
  nonce integer,
  inputs text[] NOT NULL DEFAULT '{}',
  unit_price numeric(60, 18) NOT NULL,
  max_fee_units numeric(78, 0) NOT NULL,
  moved_units numeric(78, 0) NOT NULL,
  -- What each output of the intent gets in this attempt: [{address, units}].
  outputs jsonb NOT NULL,
  status text NOT NULL DEFAULT 'stored' CHECK (status IN ('stored', 'sent', 'mined', 'final', 'replaced')),
  block_hash text,
  height bigint,
  success boolean,
  fee_units numeric(78, 0),
  missing_at_height bigint,
  created_at timestamptz NOT NULL DEFAULT now(),
  sent_at timestamptz,
  final_at timestamptz,
  UNIQUE (network, tx_id),
  UNIQUE (intent_id, n)
);
CREATE INDEX attempt_open ON attempt (network) WHERE status IN ('stored', 'sent', 'mined');
CREATE INDEX attempt_height ON attempt (network, height) WHERE height IS NOT NULL;
CREATE UNIQUE INDEX attempt_one_mined ON attempt (network, from_address, nonce)
  WHERE nonce IS NOT NULL AND status IN ('mined', 'final');
-- What is not final of a wallet, and what of it no node was given yet.
CREATE INDEX attempt_open_from ON attempt (network, from_address) WHERE status IN ('stored', 'sent', 'mined');
CREATE INDEX attempt_unsent ON attempt (network, from_address, nonce)
  WHERE sent_at IS NULL AND status IN ('stored', 'sent');
CREATE INDEX attempt_nonce ON attempt (network, from_address, nonce);
-- The lowest nonce of a wallet that is in no block is looked up before each bump.
CREATE INDEX attempt_open_nonce ON attempt (network, from_address, nonce)
  WHERE nonce IS NOT NULL AND status IN ('stored', 'sent');

-- Accounts whose tokens one transaction of the gas wallet moves: each delegates with a nonce of its own.
CREATE TABLE attempt_account (
  attempt_id bigint NOT NULL REFERENCES attempt,
  network text NOT NULL,
  address text NOT NULL,
  nonce integer NOT NULL,
  -- Base units; 0: the account delegates, and what it held has gone meanwhile.
  units numeric(78, 0) NOT NULL CHECK (units >= 0),
  deposit_ids bigint[] NOT NULL,
  PRIMARY KEY (attempt_id, address),
  FOREIGN KEY (network, address) REFERENCES address
);
CREATE INDEX attempt_account_address ON attempt_account (network, address);

-- A row locks a coin; it is deleted, and the coin free again, only when its intent is dead.
CREATE TABLE coin_lock (
  deposit_id bigint PRIMARY KEY REFERENCES deposit,
  intent_id bigint NOT NULL REFERENCES intent
);

-- Nothing of a frozen currency leaves; '*' freezes all of them.
CREATE TABLE egress_freeze (
  currency text PRIMARY KEY,
  reason text NOT NULL,
  frozen_at timestamptz NOT NULL DEFAULT now()
);

-- Locked while sweeps to one settlement address are planned, so that all that is ready goes into one batch.
CREATE TABLE sweep_group (
  merchant_id char(24) NOT NULL REFERENCES merchant,
  currency text NOT NULL,
  settlement_address text NOT NULL,
  PRIMARY KEY (merchant_id, currency, settlement_address)
);

-- A payment's part in a sweep of many payments.
CREATE TABLE sweep_share (
  intent_id bigint NOT NULL REFERENCES intent,
  payment_id char(24) NOT NULL REFERENCES payment,
  position integer NOT NULL,
  deposit_ids bigint[] NOT NULL,
  -- Base units: what came, and what of it goes to the merchant's own address (custody external).
  brought_units numeric(78, 0) NOT NULL CHECK (brought_units > 0),
  net_units numeric(78, 0) CHECK (net_units BETWEEN 0 AND brought_units),
  -- Its part of the chain's fee, in native base units, once the transaction is final.
  fee_units numeric(78, 0) CHECK (fee_units >= 0),
  -- It is no longer a part: left out, or the batch has failed.
  dropped_at timestamptz,
  dropped_because text,
  PRIMARY KEY (intent_id, payment_id),
  UNIQUE (intent_id, position)
);
CREATE INDEX sweep_share_payment ON sweep_share (payment_id);
