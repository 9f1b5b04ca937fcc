-- Keys, addresses, what the chains have shown, and what arrived.

CREATE TABLE extended_key (
  network text NOT NULL,
  role text NOT NULL CHECK (role IN ('deposit', 'treasury', 'gas')),
  xpub text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (network, role)
);

CREATE TABLE address (
  network text NOT NULL,
  address text NOT NULL,
  role text NOT NULL CHECK (role IN ('deposit', 'treasury', 'gas')),
  key_index integer NOT NULL CHECK (key_index >= 0),
  currency text,
  merchant_id char(24),
  payment_id char(24),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The conversion whose payout from the swap provider arrives here.
  conversion_id char(24) REFERENCES conversion ON DELETE RESTRICT,
  PRIMARY KEY (network, address),
  UNIQUE (network, role, key_index)
);
CREATE INDEX address_payment ON address (payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX address_conversion ON address (conversion_id) WHERE conversion_id IS NOT NULL;

-- How far each network has been followed.
CREATE TABLE chain_cursor (
  network text PRIMARY KEY,
  height bigint NOT NULL,
  hash text NOT NULL,
  head_height bigint NOT NULL,
  scanned_through timestamptz NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

CREATE TABLE chain_block (
  network text NOT NULL,
  height bigint NOT NULL,
  hash text NOT NULL,
  block_time timestamptz NOT NULL,
  PRIMARY KEY (network, height)
);

-- What arrived at an address of ours. On UTXO networks each row is also a coin.
CREATE TABLE deposit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  network text NOT NULL,
  tx_id text NOT NULL,
  out_index integer NOT NULL,
  address text NOT NULL,
  role text NOT NULL,
  payment_id char(24),
  child_payment_id char(24),
  currency text,
  amount numeric(60, 18) NOT NULL CHECK (amount >= 0),
  stated_amount numeric(60, 18) NOT NULL,
  is_dust boolean NOT NULL,
  status text NOT NULL CHECK (status IN ('pool', 'mined', 'confirmed', 'orphaned', 'replaced', 'void')),
  block_hash text,
  height bigint,
  inputs text[] NOT NULL DEFAULT '{}',
  first_seen_at timestamptz NOT NULL,
  first_seen_height bigint,
  -- The time of its block.
  mined_at timestamptz,
  confirmed_at timestamptz,
  missing_since timestamptz,
  -- Where the ledger has it. refunded: it belongs to a refund, on its way back or gone.
  home text CHECK (home IN ('own', 'capital', 'unsettled', 'unallocated', 'settled', 'refunded')),
  spent_by_tx text,
  spent_height bigint,
  -- Each deposit counts at the rate of the quote in force when it was first seen. quote_amount: the whole price in the
  -- coin at that quote; rated_at: the moment that the rate is of.
  rated_at timestamptz,
  rate_id bigint REFERENCES rate,
  exchange_rate numeric(60, 18) CHECK (exchange_rate > 0),
  quote_amount numeric(60, 18) CHECK (quote_amount > 0),
  UNIQUE (network, tx_id, out_index),
  FOREIGN KEY (network, address) REFERENCES address
);
CREATE INDEX deposit_payment ON deposit (payment_id);
CREATE INDEX deposit_child ON deposit (child_payment_id) WHERE child_payment_id IS NOT NULL;
CREATE INDEX deposit_depth ON deposit (network, height) WHERE status = 'mined';
CREATE INDEX deposit_height ON deposit (network, height) WHERE height IS NOT NULL;
CREATE INDEX deposit_pool ON deposit (network) WHERE status = 'pool';
CREATE INDEX deposit_inputs ON deposit USING gin (inputs) WHERE status IN ('pool', 'orphaned');
CREATE INDEX deposit_rate ON deposit (rate_id) WHERE rate_id IS NOT NULL;
CREATE INDEX deposit_address ON deposit (network, address);
CREATE INDEX deposit_treasury ON deposit (network, currency) WHERE role = 'treasury';
CREATE INDEX deposit_coins ON deposit (network, amount DESC, id)
  WHERE role = 'treasury' AND status = 'confirmed' AND spent_by_tx IS NULL;

-- What has come to an address of ours for good, and what has left it for good: one row per currency, however long its
-- history. arrived: confirmed deposits. moved, fees: of final transactions, in base units, by the currency of their
-- intents. Written by the triggers in functions/wallet_total.sql.
CREATE TABLE wallet_total (
  network text NOT NULL,
  address text NOT NULL,
  currency text NOT NULL,
  arrived numeric(60, 18) NOT NULL DEFAULT 0,
  moved numeric(78, 0) NOT NULL DEFAULT 0,
  fees numeric(78, 0) NOT NULL DEFAULT 0,
  PRIMARY KEY (network, address, currency)
);
