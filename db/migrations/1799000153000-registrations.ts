import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Codes that open the registration, and registrations that an operator decides about. */
export class Registrations1799000153000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      -- The code itself is shown once and kept nowhere.
      CREATE TABLE invite_code (
        id char(24) PRIMARY KEY,
        code_hash text NOT NULL UNIQUE,
        last4 text NOT NULL,
        -- Whom it is for, in the operator's words.
        label text NOT NULL,
        -- A registration by this code counts at once, though others wait for an operator.
        skips_approval boolean NOT NULL,
        -- The commission of merchants who come by it; null: the usual one.
        fee_bps integer CHECK (fee_bps BETWEEN 1 AND 5000),
        most_uses integer NOT NULL CHECK (most_uses BETWEEN 1 AND 1000),
        uses integer NOT NULL DEFAULT 0 CHECK (uses BETWEEN 0 AND most_uses),
        created_by text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        revoked_at timestamptz,
        revoked_by text,
        CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
      )`);
    await q.query(`
      ALTER TABLE merchant
        ADD COLUMN approval text NOT NULL DEFAULT 'approved' CHECK (approval IN ('approved', 'waiting', 'refused')),
        ADD COLUMN invite_code_id char(24) REFERENCES invite_code ON DELETE RESTRICT,
        ADD CONSTRAINT merchant_approval CHECK (approval = 'approved' OR status = 'suspended')`);
    await q.query(`CREATE INDEX merchant_undecided ON merchant (approval, id DESC) WHERE approval <> 'approved'`);
    await q.query(
      'CREATE INDEX merchant_invite_code ON merchant (invite_code_id, id DESC) WHERE invite_code_id IS NOT NULL',
    );
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE merchant DROP COLUMN approval, DROP COLUMN invite_code_id');
    await q.query('DROP TABLE invite_code');
  }
}
