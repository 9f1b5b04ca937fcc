import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Where payers asked their receipts to be mailed to. */
export class ReceiptEmails1799000141000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      CREATE TABLE receipt_email (
        payment_id char(24) NOT NULL REFERENCES payment,
        email text NOT NULL CHECK (length(email) BETWEEN 3 AND 254),
        language text NOT NULL CHECK (language ~ '^[a-z]{2}$'),
        left_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        -- The one mail to this address, since the payment was confirmed.
        mail_id char(24),
        PRIMARY KEY (payment_id, email)
      )`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE receipt_email');
  }
}
