import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Deposits that no transfer tells of: what an address holds beyond its rows, at a block. */
export class FoundByBalance1799000030000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(
      `ALTER TABLE deposit ADD COLUMN found_by text NOT NULL DEFAULT 'transfer'
         CONSTRAINT deposit_found_by CHECK (found_by IN ('transfer', 'balance'))`,
    );
    // Transfers that were read after their money had been found by balance: they bring nothing new.
    await q.query(
      `CREATE TABLE identified_transfer (
         network text NOT NULL,
         tx_id text NOT NULL,
         out_index integer NOT NULL,
         height bigint NOT NULL,
         deposit_id bigint NOT NULL REFERENCES deposit ON DELETE CASCADE,
         amount numeric(60, 18) NOT NULL CHECK (amount > 0),
         identified_at timestamptz NOT NULL DEFAULT clock_timestamp(),
         PRIMARY KEY (network, tx_id, out_index, deposit_id)
       )`,
    );
    await q.query('CREATE INDEX identified_transfer_deposit ON identified_transfer (deposit_id)');
    await q.query('CREATE INDEX identified_transfer_height ON identified_transfer (network, height)');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE identified_transfer');
    await q.query('ALTER TABLE deposit DROP COLUMN found_by');
  }
}
