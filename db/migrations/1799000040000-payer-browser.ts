import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Browsers that became the payer's by an act, and the refund addresses that were left in them. */
export class PayerBrowser1799000040000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(
      `CREATE TABLE payer_browser (
         payment_id char(24) NOT NULL REFERENCES payment,
         -- Keyed hash of the token that the browser holds.
         browser text NOT NULL,
         marked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
         network text,
         address text,
         destination_tag text,
         address_at timestamptz,
         PRIMARY KEY (payment_id, browser),
         CHECK ((address IS NULL) = (network IS NULL) AND (address IS NULL) = (address_at IS NULL)),
         CHECK (destination_tag IS NULL OR address IS NOT NULL)
       )`,
    );
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE payer_browser');
  }
}
