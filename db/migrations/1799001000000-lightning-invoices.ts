import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Invoices of Lightning. docs/decisions/0062-rows-of-lightning-invoices.md */
export class LightningInvoices1799001000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      CREATE TABLE lightning_invoice (
        id char(24) PRIMARY KEY,
        payment_id char(24) NOT NULL REFERENCES payment (id) ON DELETE RESTRICT,
        -- What its money is booked in.
        currency text NOT NULL,
        -- Whole satoshi: less than one cannot be booked.
        asked_msat bigint NOT NULL CHECK (asked_msat > 0 AND asked_msat % 1000 = 0),
        expires_at timestamptz NOT NULL,
        state text NOT NULL DEFAULT 'planned'
          CHECK (state IN ('planned', 'open', 'held', 'taking', 'cancelling', 'taken', 'cancelled')),
        -- Stored before the node hears of it. One invoice for each hash, for ever.
        hash text UNIQUE CHECK (hash ~ '^[0-9a-f]{64}$'),
        invoice text CHECK (invoice ~ '^ln[0-9a-z]+$'),
        decision text CHECK (decision IN ('take', 'return')),
        why text,
        -- The payment waited for this money when it was decided to take it, and is settled by it.
        is_for_payment boolean NOT NULL DEFAULT false,
        decided_at timestamptz,
        taken_msat bigint CHECK (taken_msat > 0),
        over_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT lightning_invoice_text CHECK (
          (invoice IS NULL OR hash IS NOT NULL)
          AND (state NOT IN ('open', 'held') OR invoice IS NOT NULL)
          AND (state NOT IN ('taking', 'taken') OR hash IS NOT NULL)),
        CONSTRAINT lightning_invoice_decision CHECK (
          (state IN ('planned', 'open', 'held')) = (decision IS NULL)
          AND num_nonnulls(decision, why, decided_at) IN (0, 3)
          AND (state <> 'taking' OR decision = 'take')
          AND (state <> 'cancelling' OR decision = 'return')
          AND (NOT is_for_payment OR decision IS NOT DISTINCT FROM 'take')),
        CONSTRAINT lightning_invoice_end CHECK (
          (state = 'taken') = (taken_msat IS NOT NULL)
          AND (state IN ('taken', 'cancelled')) = (over_at IS NOT NULL))
      )`);
    await q.query(`
      CREATE INDEX lightning_invoice_payment ON lightning_invoice (payment_id);
      CREATE INDEX lightning_invoice_unfinished ON lightning_invoice (created_at) WHERE over_at IS NULL;
      -- A payer is shown one at a time.
      CREATE UNIQUE INDEX lightning_invoice_one_undecided ON lightning_invoice (payment_id) WHERE decision IS NULL;
      -- A payment is settled by one. What is being taken keeps its payment as it is.
      CREATE UNIQUE INDEX lightning_invoice_one_taken ON lightning_invoice (payment_id)
        WHERE is_for_payment AND state <> 'cancelled'`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE lightning_invoice');
  }
}
