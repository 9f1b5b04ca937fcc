import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Hot wallets of account chains have a name of their own: lanes. docs/decisions/0022-lanes.md */
export class Lanes1799000090000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    // used: payments are planned from it. dropped: it was one, and what it holds goes to the others. NULL: never was.
    // Index 0 of the treasury is a lane whatever its row says.
    await q.query(
      `ALTER TABLE address ADD lane text CHECK (lane IN ('used', 'dropped')),
         ADD CONSTRAINT address_lane CHECK (
           lane IS NULL OR role = 'treasury' AND merchant_id IS NULL AND conversion_id IS NULL)`,
    );
    await q.query(
      `UPDATE address SET lane = 'used'
        WHERE role = 'treasury' AND key_index = 0 AND merchant_id IS NULL AND conversion_id IS NULL`,
    );
    // The first 16 indexes are kept for lanes: a database that has given some of them to merchants gives no more.
    await q.query(
      `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, 15) FROM pg_sequences
        WHERE sequencename ~ '^key_index_[a-z]+_treasury$' AND coalesce(last_value, 0) < 15`,
    );
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE address DROP lane');
  }
}
