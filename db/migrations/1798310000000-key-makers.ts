import type { MigrationInterface, QueryRunner } from 'typeorm';

const statements = [
  // Who made a key; null for keys from before whose maker no log names.
  'ALTER TABLE api_key ADD COLUMN created_by char(24) REFERENCES dashboard_user ON DELETE RESTRICT',
  `UPDATE api_key k SET created_by = u.id FROM audit_log a JOIN dashboard_user u ON u.id = a.actor_id
    WHERE a.action = 'api_key.created' AND a.actor_kind = 'user' AND a.target = k.id`,
  // asked_by: the person who counts as the one who asked, whether by a page or by a key; null while nobody is known.
  // needs_second_person: above a limit: let go by somebody else than asked_by.
  'ALTER TABLE refund ADD COLUMN asked_by char(24), ADD COLUMN needs_second_person boolean NOT NULL DEFAULT false',
  `UPDATE refund r SET asked_by = coalesce(r.created_by, (SELECT k.created_by FROM api_key k WHERE k.id = r.key_id))`,
  // What waits: a user's own wait because of a limit; of all others the tightest limit that there was counts.
  `UPDATE refund r SET needs_second_person = true
    WHERE r.approved_at IS NULL AND r.status IN ('awaiting_address', 'awaiting_approval')
      AND (r.created_by IS NOT NULL OR EXISTS (
        SELECT FROM egress_admission a
          JOIN egress_limit l ON l.scope IN ('platform', 'platform/' || a.merchant_id, a.merchant_id)
         WHERE a.kind = 'refund' AND a.ref = r.id AND a.usd > l.approval_usd))`,
  `ALTER TABLE refund ADD CONSTRAINT refund_second_person CHECK (NOT needs_second_person OR approved_at IS NULL
    OR asked_by IS NOT NULL AND approved_by IS NOT NULL AND approved_by <> asked_by)`,
];

export class KeyMakers1798310000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const statement of statements) await q.query(statement);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE refund DROP COLUMN needs_second_person, DROP COLUMN asked_by');
    await q.query('ALTER TABLE api_key DROP COLUMN created_by');
  }
}
