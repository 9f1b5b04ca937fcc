import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What donors say of themselves, apart from payments and events, so that it can be deleted and they stay. */
export class PayerData1799000142000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      CREATE TABLE payment_donor (
        payment_id char(24) PRIMARY KEY REFERENCES payment,
        -- Shown as metadata.donor of the payment and of its events; json keeps the text as it came.
        donor json NOT NULL
      )`);
    await q.query(`CREATE INDEX payment_donor_email ON payment_donor (lower(donor->>'email'))`);
    await q.query('CREATE INDEX receipt_email_address ON receipt_email (email)');
    await q.query('CREATE INDEX payment_customer ON payment (merchant_id, customer_id) WHERE customer_id IS NOT NULL');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP INDEX payment_customer');
    await q.query('DROP INDEX receipt_email_address');
    await q.query('DROP TABLE payment_donor');
  }
}
