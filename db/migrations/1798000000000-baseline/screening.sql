-- Screening of where a payment's money came from.

-- Our own list of known addresses.
CREATE TABLE screening_list (
  network text NOT NULL,
  address text NOT NULL,
  category text NOT NULL,
  score integer NOT NULL CHECK (score BETWEEN 1 AND 100),
  source text NOT NULL,
  imported_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (network, address, source, category)
);
CREATE INDEX screening_list_source ON screening_list (source);

-- Every screening, with the evidence it was made from; the newest of a payment is valid.
CREATE TABLE aml_screen (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  payment_id char(24) NOT NULL REFERENCES payment,
  cause text NOT NULL CHECK (cause IN ('credit', 'merchant')),
  -- The run that made it: a repeat of the run finds it here.
  look text UNIQUE,
  status text NOT NULL CHECK (status IN ('clear', 'flagged', 'unavailable', 'skipped')),
  risk_score integer CHECK (risk_score BETWEEN 0 AND 100),
  risk_band text,
  severity text,
  categories text[],
  reason text,
  skip_cause text,
  checked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  providers text[] NOT NULL DEFAULT '{}',
  tx_ids text[] NOT NULL DEFAULT '{}',
  matches jsonb NOT NULL DEFAULT '[]',
  CHECK ((status IN ('clear', 'flagged')) = (risk_score IS NOT NULL)),
  CHECK ((status = 'skipped') = (skip_cause IS NOT NULL))
);
CREATE INDEX aml_screen_payment ON aml_screen (payment_id, id DESC);

-- Credited payments that wait for their screening.
CREATE TABLE aml_due (
  payment_id char(24) PRIMARY KEY REFERENCES payment,
  since timestamptz NOT NULL DEFAULT clock_timestamp()
);
