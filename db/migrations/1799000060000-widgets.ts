import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Widgets, and what a payment keeps of the widget whose checkout made it. */
export class Widgets1799000060000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      CREATE TABLE widget (
        id char(24) PRIMARY KEY,
        merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
        type text NOT NULL CHECK (type IN ('payment', 'donation')),
        name text NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
        amount_mode text NOT NULL CHECK (amount_mode IN ('fixed', 'variable')),
        fixed_amount numeric(60, 18) CHECK (fixed_amount > 0),
        suggested_amounts text[] NOT NULL DEFAULT '{}',
        min_amount numeric(60, 18) CHECK (min_amount > 0),
        max_amount numeric(60, 18) CHECK (max_amount >= min_amount),
        allowed_origins text[] NOT NULL DEFAULT '{}' CHECK (cardinality(allowed_origins) <= 20),
        allowed_currencies text[] NOT NULL DEFAULT '{}' CHECK (cardinality(allowed_currencies) <= 50),
        donor_fields text[] NOT NULL DEFAULT '{}',
        required_donor_fields text[] NOT NULL DEFAULT '{}',
        display_mode text NOT NULL DEFAULT 'redirect' CHECK (display_mode IN ('redirect', 'inline')),
        success_url text,
        cancel_url text,
        thank_you_text text,
        branding jsonb NOT NULL,
        is_active boolean NOT NULL DEFAULT true,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        CHECK ((amount_mode = 'fixed') = (fixed_amount IS NOT NULL)),
        CHECK (display_mode <> 'inline' OR cardinality(allowed_origins) > 0)
      )`);
    await q.query('CREATE INDEX widget_newest ON widget (merchant_id, created_at DESC, id DESC)');
    // No foreign key: the payments of a deleted widget stay.
    await q.query(`
      ALTER TABLE payment
        ADD COLUMN widget_id char(24),
        ADD COLUMN widget_type text CHECK (widget_type IN ('payment', 'donation')),
        ADD COLUMN widget_origin text,
        ADD COLUMN allowed_currencies text[]`);
    await q.query('CREATE INDEX payment_widget ON payment (widget_id, status) WHERE widget_id IS NOT NULL');
    // The open checkouts of a merchant's widgets, for the quotas.
    await q.query(`
      CREATE INDEX payment_open_checkout ON payment (merchant_id)
        WHERE widget_id IS NOT NULL AND status NOT IN ('SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED')`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query(`
      ALTER TABLE payment
        DROP COLUMN widget_id, DROP COLUMN widget_type, DROP COLUMN widget_origin, DROP COLUMN allowed_currencies`);
    await q.query('DROP TABLE widget');
  }
}
