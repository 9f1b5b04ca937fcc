import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The gas that a node has estimated for an intent of an account chain, with its margin, and when. */
export class GasEstimates1799000001000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`ALTER TABLE intent
      ADD gas_limit bigint CHECK (gas_limit > 0),
      ADD gas_estimated_at timestamptz`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE intent DROP gas_limit, DROP gas_estimated_at');
  }
}
