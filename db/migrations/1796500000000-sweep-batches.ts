import type { MigrationInterface, QueryRunner } from 'typeorm';

const statements = [
  // Whoever plans sweeps to one settlement address holds its row, so that all that is ready goes into one batch.
  `CREATE TABLE sweep_group (
    merchant_id char(24) NOT NULL REFERENCES merchant, currency text NOT NULL, settlement_address text NOT NULL,
    PRIMARY KEY (merchant_id, currency, settlement_address))`,
  // A payment's part in a sweep of many.
  `CREATE TABLE sweep_share (
    intent_id bigint NOT NULL REFERENCES intent, payment_id char(24) NOT NULL REFERENCES payment, position integer NOT NULL,
    deposit_ids bigint[] NOT NULL,
    -- base units: what came, and what of it the merchant's own address gets (custody external)
    brought_units numeric(78, 0) NOT NULL CHECK (brought_units > 0), net_units numeric(78, 0) CHECK (net_units BETWEEN 0 AND brought_units),
    -- its part of the chain's fee, in native base units, once the transaction is final
    fee_units numeric(78, 0) CHECK (fee_units >= 0),
    -- it is no part any more: left out, or the batch has failed
    dropped_at timestamptz, dropped_because text,
    PRIMARY KEY (intent_id, payment_id), UNIQUE (intent_id, position))`,
  `CREATE INDEX sweep_share_payment ON sweep_share (payment_id)`,
  `ALTER TABLE intent ADD COLUMN refusals integer NOT NULL DEFAULT 0`,
];

export class SweepBatches1796500000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const statement of statements) await q.query(statement);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE intent DROP COLUMN refusals');
    await q.query('DROP TABLE sweep_share, sweep_group');
  }
}
