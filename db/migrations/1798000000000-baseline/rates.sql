-- Prices of currencies and of network fees.

CREATE TABLE rate (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  currency text NOT NULL,
  fiat text NOT NULL,
  value numeric(60, 18) NOT NULL CHECK (value > 0),
  sources jsonb NOT NULL,
  taken_at timestamptz NOT NULL
);
CREATE INDEX rate_history ON rate (currency, fiat, taken_at DESC);

CREATE TABLE rate_latest (
  currency text NOT NULL,
  fiat text NOT NULL,
  rate_id bigint NOT NULL REFERENCES rate,
  value numeric(60, 18) NOT NULL,
  taken_at timestamptz NOT NULL,
  PRIMARY KEY (currency, fiat)
) WITH (fillfactor = 50);

-- The last reading of the rate sources: when it began, and which currencies had a dollar price in it. One row.
CREATE TABLE rate_look (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  started_at timestamptz NOT NULL,
  currencies text[] NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE network_fee (
  network text PRIMARY KEY,
  unit_price numeric(60, 18) NOT NULL CHECK (unit_price > 0),
  tip_price numeric(60, 18) NOT NULL,
  taken_at timestamptz NOT NULL
) WITH (fillfactor = 50);
