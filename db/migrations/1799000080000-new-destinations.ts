import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the signer itself knows of where money went: a schema in which no role has a right, and one function of the
 *  signer writes. */
export class NewDestinations1799000080000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('CREATE SCHEMA signer');
    await q.query(
      `CREATE TABLE signer.destination (
         network text NOT NULL,
         address text NOT NULL,
         first_seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
         PRIMARY KEY (network, address)
       )`,
    );
    // What was signed to destinations that were new: what an intent pays an address beyond its earlier attempts.
    await q.query(
      `CREATE TABLE signer.new_payment (
         id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
         intent_id bigint NOT NULL,
         address text NOT NULL,
         currency text NOT NULL,
         units numeric(78, 0) NOT NULL CHECK (units > 0),
         signed_at timestamptz NOT NULL DEFAULT clock_timestamp()
       )`,
    );
    await q.query('CREATE INDEX new_payment_day ON signer.new_payment (currency, signed_at)');
    await q.query('CREATE INDEX new_payment_intent ON signer.new_payment (intent_id)');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE signer.new_payment, signer.destination');
    await q.query('DROP SCHEMA signer');
  }
}
