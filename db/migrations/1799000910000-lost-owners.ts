import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whose a lost intent is, in two columns; `owner_id` has both in one text for the release before, until a later one
 *  drops it there. A lost intent without an owner could be signed twice, so the database refuses it: only the function
 *  that restores signatures writes one, and it is replaced together with this. */
export class LostOwners1799000910000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      ALTER TABLE intent ADD COLUMN lost_owner_kind text, ADD COLUMN lost_owner_id text;
      ALTER TABLE intent ADD CONSTRAINT intent_lost_owner_kind_check CHECK (lost_owner_kind IN ('sweep', 'sweep-batch',
        'refund', 'withdrawal', 'payout-batch', 'conversion', 'consolidate')) NOT VALID;
      ALTER TABLE intent ADD CONSTRAINT intent_lost_owner_check CHECK (
        (lost_owner_kind IS NOT NULL) = (owner_kind = 'lost')
        AND (lost_owner_id IS NOT NULL) = (owner_kind = 'lost')) NOT VALID;
      UPDATE intent SET lost_owner_kind = split_part(owner_id, '/', 1),
             lost_owner_id = substr(owner_id, strpos(owner_id, '/') + 1) WHERE owner_kind = 'lost';
      CREATE INDEX intent_lost_owner ON intent (lost_owner_kind, lost_owner_id) WHERE owner_kind = 'lost'`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE intent DROP COLUMN lost_owner_kind, DROP COLUMN lost_owner_id');
  }
}
