import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What our Lightning node pays may be for a payout line too, which has no intent then.
 *  docs/decisions/0089-payout-lines-by-lightning.md */
export class LightningLines1799001090000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      ALTER TABLE lightning_payment
        ADD COLUMN leg_id char(24) UNIQUE REFERENCES payout_leg (id) ON DELETE RESTRICT,
        DROP CONSTRAINT lightning_payment_owner,
        ADD CONSTRAINT lightning_payment_owner CHECK (num_nonnulls(withdrawal_id, refund_id, leg_id) = 1)`);
    await q.query(`
      ALTER TABLE payout_leg
        DROP CONSTRAINT payout_leg_check1,
        ADD CONSTRAINT payout_leg_sent_by CHECK (CASE currency WHEN 'BTC_LN' THEN intent_id IS NULL
          ELSE intent_id IS NOT NULL OR status IN ('pending', 'failed', 'refunded') END) NOT VALID`);
    // Looked for at each look, among the lines of all mass payouts.
    await q.query(`
      CREATE INDEX payout_leg_by_lightning ON payout_leg (id) WHERE currency = 'BTC_LN' AND status = 'pending'`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP INDEX payout_leg_by_lightning');
    await q.query(`
      ALTER TABLE payout_leg
        DROP CONSTRAINT payout_leg_sent_by,
        ADD CONSTRAINT payout_leg_check1 CHECK (intent_id IS NOT NULL OR status IN ('pending', 'failed', 'refunded'))`);
    await q.query(`
      ALTER TABLE lightning_payment
        DROP CONSTRAINT lightning_payment_owner, DROP COLUMN leg_id,
        ADD CONSTRAINT lightning_payment_owner CHECK (num_nonnulls(withdrawal_id, refund_id) = 1)`);
  }
}
