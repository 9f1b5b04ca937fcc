import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Invoices of Lightning beside the address of a payment of bitcoin.
 *  docs/decisions/0090-one-code-for-both-halves.md */
export class BesideAddresses1799001095000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`ALTER TABLE lightning_invoice
      -- The coin of the payment beside whose address it stands; null: the payment is in its own currency.
      ADD COLUMN beside text,
      ADD CONSTRAINT lightning_invoice_beside
        CHECK (beside IS NULL OR beside = 'BTC' AND currency = 'BTC_LN') NOT VALID`);
    // Most of them end unpaid: the audit finds the others, and those that ended last, without reading all.
    await q.query(`
      CREATE INDEX lightning_invoice_over ON lightning_invoice (over_at) WHERE hash IS NOT NULL;
      CREATE INDEX lightning_invoice_taken ON lightning_invoice (id) WHERE state = 'taken';
      CREATE INDEX lightning_invoice_settles ON lightning_invoice (payment_id) WHERE is_for_payment`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query(`
      DROP INDEX lightning_invoice_over, lightning_invoice_taken, lightning_invoice_settles;
      ALTER TABLE lightning_invoice DROP COLUMN beside`);
  }
}
