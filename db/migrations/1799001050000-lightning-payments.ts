import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What our Lightning node pays. docs/decisions/0083-withdrawals-by-lightning.md */
export class LightningPayments1799001050000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      CREATE TABLE lightning_payment (
        -- One row for each hash, for ever: nobody has an invoice paid twice.
        hash text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'),
        -- What the signer's cap for new destinations counts it by.
        id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
        withdrawal_id char(24) NOT NULL UNIQUE REFERENCES withdrawal (id) ON DELETE RESTRICT,
        invoice text NOT NULL CHECK (invoice ~ '^ln[0-9a-z]+$'),
        -- Whole satoshi: less than one cannot be booked.
        amount_msat bigint NOT NULL CHECK (amount_msat > 0 AND amount_msat % 1000 = 0),
        -- The most that nodes on the way may take.
        fee_limit_msat bigint NOT NULL CHECK (fee_limit_msat >= 0),
        expires_at timestamptz NOT NULL,
        -- Calls to the node that were begun, and those of them that have had no answer.
        calls smallint NOT NULL DEFAULT 0,
        unanswered smallint NOT NULL DEFAULT 0,
        outcome text CHECK (outcome IN ('paid', 'failed')),
        -- It proves that the payee has the money.
        preimage text CHECK (preimage ~ '^[0-9a-f]{64}$'),
        fee_msat bigint CHECK (fee_msat >= 0),
        over_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT lightning_payment_calls CHECK (unanswered BETWEEN 0 AND calls),
        CONSTRAINT lightning_payment_end CHECK (
          (outcome IS NULL) = (over_at IS NULL)
          AND num_nonnulls(preimage, fee_msat) = CASE WHEN outcome = 'paid' THEN 2 ELSE 0 END)
      )`);
    await q.query('CREATE INDEX lightning_payment_open ON lightning_payment (created_at) WHERE outcome IS NULL');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE lightning_payment');
  }
}
