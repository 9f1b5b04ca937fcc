import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the signer itself knows of transactions that expire: which it has signed, until when, and which its own node
 *  has proven void. No role has a right in it. docs/decisions/0060-signing-what-expires.md */
export class Validity1799000990000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      CREATE TABLE signer.validity (
        network text NOT NULL,
        tx_id text NOT NULL,
        kind text NOT NULL,
        ref text NOT NULL,
        valid_from_height bigint NOT NULL,
        valid_from_hash text NOT NULL,
        valid_to_height bigint,
        -- Unix milliseconds.
        valid_to_ms bigint,
        -- What proves that no block can have it: {txId, from, through: {height, hash, time}, finalHeight}.
        absence jsonb,
        signed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (network, tx_id),
        CHECK (num_nonnulls(valid_to_height, valid_to_ms) = 1),
        -- As attempt_absence.
        CONSTRAINT validity_absence CHECK (absence IS NULL OR coalesce(
              absence->>'txId' = tx_id
          AND (absence->>'from')::bigint <= valid_from_height
          AND (absence->>'from')::bigint <= (absence->'through'->>'height')::bigint
          AND (absence->'through'->>'height')::bigint <= (absence->>'finalHeight')::bigint
          AND absence->'through'->>'hash' <> ''
          AND CASE WHEN valid_to_height IS NOT NULL THEN (absence->'through'->>'height')::bigint >= valid_to_height
                ELSE (absence->'through'->>'time')::bigint >= valid_to_ms END, false))
      );
      CREATE INDEX validity_intent ON signer.validity (kind, ref)`);
    await q.query(`CREATE INDEX attempt_newest_window ON attempt (network, from_address, valid_from_height, id)
      WHERE valid_from_height IS NOT NULL`);
    await q.query(`
      INSERT INTO signer.validity (network, tx_id, kind, ref, valid_from_height, valid_from_hash, valid_to_height,
          valid_to_ms)
        SELECT a.network, a.tx_id, i.kind, i.ref, a.valid_from_height, a.valid_from_hash, a.valid_to_height,
               a.valid_to_ms
          FROM attempt a JOIN intent i ON i.id = a.intent_id WHERE a.valid_from_height IS NOT NULL`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP INDEX attempt_newest_window');
    await q.query('DROP TRIGGER IF EXISTS attempt_validity_kept ON attempt');
    await q.query('DROP FUNCTION IF EXISTS keep_validity(), note_absence(text, text, jsonb), validities_of(bigint[])');
    await q.query('DROP TABLE signer.validity');
  }
}
