import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Networks with the same addresses draw their key indexes from one sequence.
 *  docs/decisions/0032-one-sequence-of-addresses.md */
export class SharedAddresses1799000290000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(
      `ALTER TABLE extended_key ADD COLUMN sequence_of text;
       UPDATE extended_key SET sequence_of = network;
       ALTER TABLE extended_key ALTER COLUMN sequence_of SET NOT NULL;
       -- The same account as an address that a payment has on another network, where nobody was asked to pay.
       ALTER TABLE address ADD COLUMN is_elsewhere boolean NOT NULL DEFAULT false;
       DROP FUNCTION IF EXISTS register_key(text, text, text, integer);
       DELETE FROM applied_function WHERE file = 'register_key'`,
    );
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query(
      `DROP VIEW IF EXISTS live_key;
       ALTER TABLE extended_key DROP COLUMN sequence_of;
       ALTER TABLE address DROP COLUMN is_elsewhere`,
    );
  }
}
