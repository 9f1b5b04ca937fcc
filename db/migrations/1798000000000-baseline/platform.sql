-- The service itself: switches, incidents, the outbox to Temporal, checks and counters.

-- What operators can turn off for everybody.
CREATE TABLE platform_switch (
  name text PRIMARY KEY,
  is_on boolean NOT NULL,
  reason text NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now()
);

-- What operators have to look at. The key only makes a repeat safe, and nothing reads it: one row per key for ever.
CREATE TABLE incident (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  key text NOT NULL UNIQUE,
  -- What it is about. The id of a wallet is <network>/<address>, of an asset its currency.
  subject_kind text NOT NULL CHECK (subject_kind IN ('payment', 'intent', 'withdrawal', 'refund', 'payout-batch',
    'payout-line', 'conversion', 'wallet', 'deposit', 'asset', 'network')),
  subject_id text NOT NULL,
  details jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  resolved_at timestamptz
);
CREATE INDEX incident_subject ON incident (subject_kind, subject_id);

-- The outbox to Temporal: a request is written with the change that needs it, and deleted once Temporal has it.
CREATE TABLE temporal_request (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('start', 'signal')),
  workflow text NOT NULL,
  workflow_id text NOT NULL,
  args jsonb NOT NULL DEFAULT '[]',
  signal text,
  attributes jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  claimed_until timestamptz,
  tries integer NOT NULL DEFAULT 0,
  last_error text,
  -- Whom a delivery goes to, <merchant>/<endpoint>; null for all other requests.
  receiver text,
  -- Requests of slow receivers come after all others.
  is_behind boolean NOT NULL DEFAULT false
);
CREATE INDEX temporal_request_order ON temporal_request (is_behind, id);
CREATE INDEX temporal_request_receiver ON temporal_request (receiver) WHERE receiver IS NOT NULL AND NOT is_behind;

-- Per asset, the newest comparison of the ledger with the chain.
CREATE TABLE reconciliation (
  currency text PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  height bigint NOT NULL,
  ledger numeric(60, 18) NOT NULL,
  arriving numeric(60, 18) NOT NULL,
  leaving numeric(60, 18) NOT NULL,
  open numeric(60, 18) NOT NULL,
  chain numeric(60, 18) NOT NULL,
  unexplained numeric(60, 18) NOT NULL,
  details jsonb NOT NULL
);

-- Runs of the invariant checks.
CREATE TABLE audit_run (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  violations jsonb NOT NULL,
  duration_ms integer NOT NULL
);

CREATE TABLE request_log (
  request_id text PRIMARY KEY,
  merchant_id char(24),
  reason text NOT NULL,
  details jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Counters of rate-limiter-flexible. They survive a restart of the API; a crash of PostgreSQL may lose them.
CREATE UNLOGGED TABLE rate_limit (
  key varchar(255) PRIMARY KEY,
  points integer NOT NULL DEFAULT 0,
  expire bigint
);

-- Places where tests make a process fail.
CREATE TABLE fail_point (
  name text PRIMARY KEY,
  action text NOT NULL,
  remaining integer NOT NULL
);

-- The text of db/functions/<file>.sql that is in force, by its SHA-256.
CREATE TABLE applied_function (
  file text PRIMARY KEY,
  hash text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
);
