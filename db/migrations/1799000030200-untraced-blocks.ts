import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Blocks of which a node told less than their transfers, and looks at balances that make up for it. */
export class UntracedBlocks1799000030200 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE chain_cursor ADD COLUMN traces_off_since timestamptz');
    // balance_height, balance_through: the newest look at its native balance, and the moment that it was of.
    await q.query('ALTER TABLE address ADD COLUMN balance_height bigint, ADD COLUMN balance_through timestamptz');
    await q.query(
      `CREATE TABLE untraced_block (
         network text NOT NULL,
         hash text NOT NULL,
         height bigint NOT NULL,
         reason text NOT NULL,
         tries integer NOT NULL DEFAULT 1,
         next_try_at timestamptz NOT NULL,
         created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
         -- Every address that was watched in it was looked at by balance since.
         scanned_at timestamptz,
         PRIMARY KEY (network, hash)
       )`,
    );
    await q.query('CREATE INDEX untraced_block_unscanned ON untraced_block (network, height) WHERE scanned_at IS NULL');
    await q.query('CREATE INDEX untraced_block_due ON untraced_block (network, next_try_at)');
    // A look at the balance of every address: it covers the blocks up to height, and is at after_address.
    await q.query(
      `CREATE TABLE balance_scan (
         network text PRIMARY KEY,
         height bigint NOT NULL,
         after_address text NOT NULL DEFAULT '',
         started_at timestamptz NOT NULL DEFAULT clock_timestamp()
       )`,
    );
    // Single holdings to look at with each block, up to until_height.
    await q.query(
      `CREATE TABLE balance_due (
         network text NOT NULL,
         address text NOT NULL,
         currency text NOT NULL,
         reason text NOT NULL,
         until_height bigint NOT NULL,
         looked_height bigint,
         PRIMARY KEY (network, address, currency),
         FOREIGN KEY (network, address) REFERENCES address
       )`,
    );
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE balance_due, balance_scan, untraced_block');
    await q.query('ALTER TABLE address DROP COLUMN balance_height, DROP COLUMN balance_through');
    await q.query('ALTER TABLE chain_cursor DROP COLUMN traces_off_since');
  }
}
