import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How a merchant's payers recognise and reach them, and what a payment is for. */
export class Branding1799000140000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      CREATE TABLE merchant_branding (
        merchant_id char(24) PRIMARY KEY REFERENCES merchant ON DELETE RESTRICT,
        support_email text CHECK (length(support_email) <= 254),
        support_url text CHECK (length(support_url) <= 2048),
        terms_url text CHECK (length(terms_url) <= 2048),
        accent_color text CHECK (accent_color ~ '^#[0-9a-f]{6}$'),
        -- A new one with each logo, so that browsers may keep what they have seen.
        logo_id char(24) UNIQUE,
        logo_type text CHECK (logo_type IN ('image/png', 'image/svg+xml')),
        logo bytea CHECK (octet_length(logo) BETWEEN 1 AND 102400),
        updated_at timestamptz NOT NULL DEFAULT now(),
        CHECK ((logo IS NULL) = (logo_id IS NULL) AND (logo IS NULL) = (logo_type IS NULL))
      )`);
    await q.query('ALTER TABLE payment ADD COLUMN description text CHECK (length(description) <= 200)');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE payment DROP COLUMN description');
    await q.query('DROP TABLE merchant_branding');
  }
}
