import type { MigrationInterface, QueryRunner } from 'typeorm';

const statements = [
  `CREATE TABLE payout_batch (
    id char(24) PRIMARY KEY,
    merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
    status text NOT NULL CHECK (status IN ('awaiting_approval', 'queued', 'processing', 'completed', 'partially_completed', 'failed', 'cancelled')),
    state_version integer NOT NULL DEFAULT 1,
    label text, idempotency_key text, rows_hash text NOT NULL,
    row_count integer NOT NULL CHECK (row_count BETWEEN 1 AND 500),
    -- by currency, exact decimal strings
    totals jsonb NOT NULL, fees jsonb NOT NULL,
    created_by text NOT NULL, created_by_id char(24) NOT NULL,
    -- null: a second person must let it go
    approved_by text, approved_at timestamptz,
    -- everything that will be sent has been
    sent_at timestamptz,
    cancelled_at timestamptz, completed_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(), updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (merchant_id, idempotency_key)) WITH (fillfactor = 80)`,
  `CREATE INDEX payout_batch_newest ON payout_batch (merchant_id, created_at DESC, id DESC)`,
  `CREATE INDEX payout_batch_open ON payout_batch (id) WHERE status IN ('queued', 'processing')`,
  `CREATE TABLE payout_leg (
    id char(24) PRIMARY KEY,
    batch_id char(24) NOT NULL REFERENCES payout_batch ON DELETE RESTRICT, merchant_id char(24) NOT NULL,
    row_index integer NOT NULL,
    currency text NOT NULL, network text NOT NULL, address text NOT NULL, destination_tag text,
    -- amount leaves the balance, net_amount arrives
    amount numeric(60, 18) NOT NULL, network_fee numeric(60, 18) NOT NULL CHECK (network_fee >= 0),
    net_amount numeric(60, 18) NOT NULL CHECK (net_amount > 0),
    CHECK (amount = net_amount + network_fee),
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'processing', 'broadcast', 'completed', 'failed', 'refunded')),
    state_version integer NOT NULL DEFAULT 1,
    -- what sends it; several legs share one where a transaction pays many
    intent_id bigint REFERENCES intent, CHECK (intent_id IS NOT NULL OR status IN ('pending', 'failed', 'refunded')),
    tx_id text, merchant_message text,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (batch_id, row_index)) WITH (fillfactor = 70)`,
  `CREATE INDEX payout_leg_open ON payout_leg (batch_id) WHERE status IN ('pending', 'processing', 'broadcast')`,
  `CREATE INDEX payout_leg_intent ON payout_leg (intent_id) WHERE intent_id IS NOT NULL`,
  // An end is an end, and what is signed can no longer be called back.
  `CREATE FUNCTION guard_payout_leg() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF (NEW.batch_id, NEW.currency, NEW.address, NEW.destination_tag, NEW.amount, NEW.network_fee, NEW.net_amount)
          IS DISTINCT FROM (OLD.batch_id, OLD.currency, OLD.address, OLD.destination_tag, OLD.amount, OLD.network_fee, OLD.net_amount) THEN
        RAISE EXCEPTION 'what payout leg % pays may not change', OLD.id USING ERRCODE = 'CP012';
      END IF;
      IF NEW.status = OLD.status THEN RETURN NEW; END IF;
      IF OLD.status IN ('completed', 'failed', 'refunded')
        OR OLD.status = 'pending' AND NEW.status NOT IN ('processing', 'failed', 'refunded')
        OR OLD.status IN ('processing', 'broadcast') AND NEW.status NOT IN ('broadcast', 'completed', 'failed')
        OR NEW.state_version <= OLD.state_version THEN
        RAISE EXCEPTION 'payout leg % may not go from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'CP012';
      END IF;
      RETURN NEW;
    END $$`,
  // Per asset, the newest comparison of books and chain.
  `CREATE TABLE reconciliation (
    currency text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(), height bigint NOT NULL,
    ledger numeric(60, 18) NOT NULL, arriving numeric(60, 18) NOT NULL, leaving numeric(60, 18) NOT NULL, open numeric(60, 18) NOT NULL,
    chain numeric(60, 18) NOT NULL, unexplained numeric(60, 18) NOT NULL, details jsonb NOT NULL)`,
  `CREATE TRIGGER payout_leg_order BEFORE UPDATE ON payout_leg FOR EACH ROW EXECUTE FUNCTION guard_payout_leg()`,
];

export class MassPayouts1796100000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const statement of statements) await q.query(statement);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE payout_leg, payout_batch, reconciliation');
    await q.query('DROP FUNCTION guard_payout_leg');
  }
}
