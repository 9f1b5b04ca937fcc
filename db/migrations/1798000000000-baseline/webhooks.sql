-- Events of a merchant, and their deliveries.

CREATE TABLE event (
  id char(24) PRIMARY KEY,
  merchant_id char(24) NOT NULL REFERENCES merchant,
  seq bigint NOT NULL,
  type text NOT NULL,
  entity_id char(24) NOT NULL,
  state_version integer NOT NULL,
  data json NOT NULL,
  previous jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (merchant_id, seq),
  UNIQUE (entity_id, state_version, type)
);
CREATE INDEX event_age ON event USING brin (created_at);

CREATE TABLE webhook_endpoint (
  id char(24) PRIMARY KEY,
  merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
  url text NOT NULL,
  -- '*', 'payment.*' or exact types.
  enabled_events text[] NOT NULL CHECK (cardinality(enabled_events) > 0),
  description text,
  is_active boolean NOT NULL DEFAULT true,
  disabled_reason text CHECK (disabled_reason IN ('gone', 'failing')),
  secret_sealed text NOT NULL,
  previous_secret_sealed text,
  previous_secret_until timestamptz,
  -- The first failed attempt since the last success.
  failing_since timestamptz,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK (disabled_reason IS NULL OR NOT is_active)
);
CREATE INDEX webhook_endpoint_active ON webhook_endpoint (merchant_id) WHERE is_active;
CREATE INDEX webhook_endpoint_newest ON webhook_endpoint (merchant_id, id DESC);

-- An event on its way to one endpoint. endpoint: 'ipn' for the payment's own callback, else the webhook endpoint's id.
CREATE TABLE delivery (
  id char(24) PRIMARY KEY,
  event_id char(24) NOT NULL REFERENCES event,
  merchant_id char(24) NOT NULL,
  endpoint text NOT NULL,
  url text NOT NULL,
  status text NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'succeeded', 'retrying', 'failed', 'cancelled')),
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- The order of the log.
  n bigint GENERATED ALWAYS AS IDENTITY,
  -- Attempts of earlier rounds; each round has the whole schedule.
  attempts_before integer NOT NULL DEFAULT 0,
  UNIQUE (event_id, endpoint)
);
CREATE INDEX delivery_open ON delivery (created_at) WHERE status IN ('pending', 'retrying');
CREATE INDEX delivery_newest ON delivery (merchant_id, n DESC);
CREATE INDEX delivery_by_endpoint ON delivery (merchant_id, endpoint, n DESC);
CREATE INDEX delivery_by_status ON delivery (merchant_id, status, n DESC);
CREATE INDEX delivery_age ON delivery USING brin (created_at);

CREATE TABLE delivery_attempt (
  delivery_id char(24) NOT NULL REFERENCES delivery,
  n integer NOT NULL,
  at timestamptz NOT NULL,
  duration_ms integer NOT NULL,
  status_code integer,
  response_body text,
  error text,
  PRIMARY KEY (delivery_id, n)
);

-- Endpoints that did not answer well within a second when last asked. endpoint: as in delivery.
CREATE TABLE slow_receiver (
  merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE CASCADE,
  endpoint text NOT NULL,
  since timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (merchant_id, endpoint)
);
