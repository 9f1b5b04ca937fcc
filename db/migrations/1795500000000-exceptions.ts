import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Exceptions1795500000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`ALTER TABLE payment
      -- what counts as the whole amount since somebody, or the policy, accepted less
      ADD COLUMN accepted_amount numeric(60, 18) CHECK (accepted_amount > 0),
      -- the merchant's setting when the payment was made; null on older ones: never
      ADD COLUMN auto_accept_cross_chain_hours integer,
      -- another asset that came: its price when it was noticed, and when it is accepted by itself
      ADD COLUMN cross_offer jsonb, ADD COLUMN cross_chain_auto_accept_at timestamptz`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query(`ALTER TABLE payment DROP COLUMN accepted_amount, DROP COLUMN auto_accept_cross_chain_hours,
      DROP COLUMN cross_offer, DROP COLUMN cross_chain_auto_accept_at`);
  }
}
