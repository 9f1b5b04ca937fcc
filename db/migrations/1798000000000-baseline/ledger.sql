-- The ledger: journals and their postings, guarded balances, and what merchants read of it. Invariants: 4, 6.

CREATE TABLE journal (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key text NOT NULL UNIQUE,
  -- What it is in the merchant's statement, and what it was posted for; null where it moves no merchant's balance.
  -- conversion: a debit of one asset and a credit of another.
  entry_type text CHECK (entry_type IN ('payment_credit', 'conversion', 'conversion_debit', 'conversion_credit',
    'conversion_refund', 'reserve', 'release', 'withdrawal', 'payout_leg', 'refund', 'network_fee', 'settlement_out',
    'reversal', 'adjustment')),
  source_type text
    CHECK (source_type IN ('payment', 'refund', 'conversion', 'withdrawal', 'massPayout', 'adjustment')),
  source_id text,
  content_hash text NOT NULL,
  reverses bigint UNIQUE REFERENCES journal,
  details jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK ((entry_type IS NULL) = (source_type IS NULL)),
  -- Only an adjustment has no source; what moves no balance names none.
  CHECK (CASE WHEN source_type IS NULL THEN source_id IS NULL
              ELSE source_id IS NOT NULL OR source_type = 'adjustment' END),
  CHECK ((entry_type = 'reversal') = (reverses IS NOT NULL))
);

CREATE TABLE posting (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  journal_id bigint NOT NULL REFERENCES journal ON DELETE RESTRICT,
  debit text NOT NULL,
  credit text NOT NULL,
  asset text NOT NULL,
  amount numeric(60, 18) NOT NULL CHECK (amount > 0),
  CHECK (debit <> credit)
);
CREATE INDEX posting_journal ON posting (journal_id);
CREATE INDEX posting_debit ON posting (debit, asset);
CREATE INDEX posting_credit ON posting (credit, asset);

CREATE TABLE balance (
  account text NOT NULL,
  asset text NOT NULL,
  amount numeric(60, 18) NOT NULL CHECK (amount >= 0),
  PRIMARY KEY (account, asset)
) WITH (fillfactor = 50);

-- What the treasury holds of an asset, and what is owed of it: the sum of few rows. Every journal adds a row, and waits
-- for nobody; `mergeHeld` makes one of many. Written by the trigger in functions/note_held.sql.
CREATE TABLE held_part (
  asset text NOT NULL,
  treasury numeric(60, 18) NOT NULL,
  owed numeric(60, 18) NOT NULL
);
CREATE INDEX held_part_asset ON held_part (asset);

-- A merchant's statement: one row per journal and asset that moves what can be spent or what is reserved. seq grows
-- with time; within one merchant and asset its order is the order in which the balances changed.
CREATE TABLE ledger_entry (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  journal_id bigint NOT NULL,
  merchant_id char(24) NOT NULL,
  asset text NOT NULL,
  type text NOT NULL CHECK (type IN ('payment_credit', 'conversion_debit', 'conversion_credit', 'conversion_refund',
    'reserve', 'release', 'withdrawal', 'payout_leg', 'refund', 'network_fee', 'settlement_out', 'reversal',
    'adjustment')),
  -- What was added to available, and to reserved.
  amount numeric(60, 18) NOT NULL,
  reserved_change numeric(60, 18) NOT NULL,
  balance_after numeric(60, 18) NOT NULL,
  reserved_after numeric(60, 18) NOT NULL,
  -- Fiat per unit when it was posted; null where no rate was fresh.
  fiat_currency text,
  fiat_rate numeric(60, 18),
  source_type text NOT NULL
    CHECK (source_type IN ('payment', 'refund', 'conversion', 'withdrawal', 'massPayout', 'adjustment')),
  source_id text,
  tx_id text,
  reversal_of bigint,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK (amount <> 0 OR reserved_change <> 0),
  UNIQUE (journal_id, merchant_id, asset)
);
CREATE INDEX ledger_entry_newest ON ledger_entry (merchant_id, seq);
CREATE INDEX ledger_entry_source ON ledger_entry (merchant_id, source_id) WHERE source_id IS NOT NULL;

-- Published proofs of liabilities.
CREATE TABLE liability_tree (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  root text NOT NULL,
  assets jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE liability_leaf (
  tree_id bigint NOT NULL REFERENCES liability_tree,
  merchant_id text NOT NULL,
  currency text NOT NULL,
  leaf jsonb NOT NULL,
  path jsonb NOT NULL,
  PRIMARY KEY (tree_id, merchant_id, currency)
);
