import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What was signed in the time that a recovery has lost, and the end of the workflows of that time. */
export class LostSignatures1799000071000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      -- Set once no workflow runs that was started before the recovery.
      ALTER TABLE recovery ADD COLUMN workflows_ended_at timestamptz;
      -- What the signer's record says of an intent of the kind lost: its first signature.
      ALTER TABLE intent ADD COLUMN lost jsonb CHECK ((lost IS NOT NULL) = (kind = 'lost'));
      -- lost: signed in the time that a recovery has lost; no workflow processes it.
      ALTER TABLE intent DROP CONSTRAINT intent_owner_kind_check;
      ALTER TABLE intent ADD CONSTRAINT intent_owner_kind_check CHECK (owner_kind IN ('sweep', 'sweep-batch', 'refund',
        'withdrawal', 'payout-batch', 'conversion', 'consolidate', 'lost'));`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query(`
      ALTER TABLE intent DROP COLUMN lost;
      ALTER TABLE intent DROP CONSTRAINT intent_owner_kind_check;
      ALTER TABLE intent ADD CONSTRAINT intent_owner_kind_check CHECK (owner_kind IN ('sweep', 'sweep-batch', 'refund',
        'withdrawal', 'payout-batch', 'conversion', 'consolidate'));
      ALTER TABLE recovery DROP COLUMN workflows_ended_at;`);
  }
}
