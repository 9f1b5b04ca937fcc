import type { MigrationInterface, QueryRunner } from 'typeorm';

const withdrawal = [
  `CREATE TABLE withdrawal (
    id char(24) PRIMARY KEY,
    merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
    idempotency_key text NOT NULL, body_hash text NOT NULL,
    status text NOT NULL CHECK (status IN ('pending', 'awaiting_approval', 'processing', 'broadcast', 'completed', 'failed', 'cancelled')),
    state_version integer NOT NULL DEFAULT 1,
    currency text NOT NULL, network text NOT NULL,
    fee_mode text NOT NULL CHECK (fee_mode IN ('deduct', 'add')),
    -- amount: as it was asked for; gross: what is held for it; net: what its address gets
    amount numeric(60, 18) NOT NULL CHECK (amount > 0),
    network_fee numeric(60, 18) NOT NULL CHECK (network_fee >= 0),
    gross_amount numeric(60, 18) NOT NULL CHECK (gross_amount >= amount),
    net_amount numeric(60, 18) NOT NULL CHECK (net_amount > 0),
    address text NOT NULL, destination_tag text, note text, merchant_message text,
    requested_by char(24) NOT NULL, requested_by_name text NOT NULL,
    -- above a limit: let go by somebody else than who asked for it
    needs_approval boolean NOT NULL, approved_by char(24), approved_by_name text, approved_at timestamptz,
    tx_id text, broadcast_at timestamptz, completed_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(), updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK (gross_amount = net_amount + network_fee),
    CHECK (approved_at IS NOT NULL OR status IN ('awaiting_approval', 'cancelled')),
    CHECK (NOT needs_approval OR approved_by <> requested_by),
    UNIQUE (merchant_id, idempotency_key)) WITH (fillfactor = 80)`,
  `CREATE INDEX withdrawal_newest ON withdrawal (merchant_id, created_at DESC, id DESC)`,
  `CREATE INDEX withdrawal_open ON withdrawal (id) WHERE status IN ('pending', 'processing', 'broadcast')`,
  // An end is an end, and what is signed can no longer be called back.
  `CREATE FUNCTION guard_withdrawal() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.status = OLD.status THEN RETURN NEW; END IF;
      IF OLD.status IN ('completed', 'failed', 'cancelled')
        OR OLD.status IN ('processing', 'broadcast') AND NEW.status NOT IN ('broadcast', 'completed', 'failed')
        OR NEW.state_version <= OLD.state_version THEN
        RAISE EXCEPTION 'withdrawal % may not go from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'CP012';
      END IF;
      RETURN NEW;
    END $$`,
  `CREATE TRIGGER withdrawal_order BEFORE UPDATE ON withdrawal FOR EACH ROW EXECUTE FUNCTION guard_withdrawal()`,
];

const policy = [
  // What may leave, at the most; scope: 'platform' or a merchant. The newest that is active counts, and what was set since, where it
  // is tighter. null: no limit.
  `CREATE TABLE egress_limit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, scope text NOT NULL,
    daily_usd numeric(60, 18) CHECK (daily_usd >= 0), hourly_count integer CHECK (hourly_count >= 0), approval_usd numeric(60, 18) CHECK (approval_usd >= 0),
    set_by text NOT NULL, created_at timestamptz NOT NULL DEFAULT clock_timestamp(), active_at timestamptz NOT NULL)`,
  `CREATE INDEX egress_limit_scope ON egress_limit (scope, id)`,
  // What was let out of a balance, once per withdrawal, batch or refund, at its value then.
  `CREATE TABLE egress_admission (
    kind text NOT NULL, ref char(24) NOT NULL, merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
    usd numeric(60, 18) NOT NULL CHECK (usd >= 0),
    admitted_at timestamptz NOT NULL DEFAULT clock_timestamp(), signed_at timestamptz, released_at timestamptz,
    PRIMARY KEY (kind, ref))`,
  `CREATE INDEX egress_admission_merchant ON egress_admission (merchant_id, admitted_at)`,
  `CREATE INDEX egress_admission_time ON egress_admission (admitted_at)`,
  `CREATE INDEX egress_admission_signed ON egress_admission (signed_at) WHERE signed_at IS NOT NULL`,
  // Refunds on their way when limits came: their value is unknown and counts as nothing.
  `INSERT INTO egress_admission (kind, ref, merchant_id, usd, admitted_at)
    SELECT 'refund', id, merchant_id, 0, created_at FROM refund WHERE status NOT IN ('completed', 'failed', 'cancelled')`,
];

const treasury = [
  `CREATE INDEX deposit_treasury ON deposit (network, currency) WHERE role = 'treasury'`,
  `CREATE INDEX attempt_from ON attempt (network, from_address)`,
];

export class Egress1796000000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const statement of [...withdrawal, ...policy, ...treasury]) await q.query(statement);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP INDEX deposit_treasury, attempt_from');
    await q.query('DROP TABLE egress_admission, egress_limit, withdrawal');
    await q.query('DROP FUNCTION guard_withdrawal');
  }
}
