import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Each lane has a gas wallet, which is marked like it. docs/decisions/0022-lanes.md */
export class GasLanes1799000200000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(
      `ALTER TABLE address DROP CONSTRAINT address_lane,
         ADD CONSTRAINT address_lane CHECK (
           lane IS NULL OR role IN ('treasury', 'gas') AND merchant_id IS NULL AND conversion_id IS NULL)`,
    );
    await q.query(`UPDATE address SET lane = 'used' WHERE role = 'gas' AND key_index = 0`);
    // The first 16 indexes are kept for gas wallets, as those of the treasury are for lanes.
    await q.query(
      `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, 15) FROM pg_sequences
        WHERE sequencename ~ '^key_index_[a-z]+_gas$' AND coalesce(last_value, 0) < 15`,
    );
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query(`UPDATE address SET lane = NULL WHERE role = 'gas'`);
    await q.query(
      `ALTER TABLE address DROP CONSTRAINT address_lane,
         ADD CONSTRAINT address_lane CHECK (
           lane IS NULL OR role = 'treasury' AND merchant_id IS NULL AND conversion_id IS NULL)`,
    );
  }
}
