import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Attempts of chains whose transactions expire. docs/decisions/0058-transactions-that-expire.md */
export class ExpiringAttempts1799000970000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    // All null for a transaction that never expires, as processes of the release before write it.
    await q.query(`
      ALTER TABLE attempt ADD COLUMN valid_from_height bigint;
      ALTER TABLE attempt ADD COLUMN valid_from_hash text;
      ALTER TABLE attempt ADD COLUMN valid_to_height bigint;
      -- Unix milliseconds.
      ALTER TABLE attempt ADD COLUMN valid_to_ms bigint;
      ALTER TABLE attempt ADD COLUMN sequence bigint;
      -- What proves that no block can have it: {txId, from, through: {height, hash, time}, finalHeight}.
      ALTER TABLE attempt ADD COLUMN absence jsonb;
      ALTER TABLE attempt DROP CONSTRAINT attempt_status_check;
      ALTER TABLE attempt ADD CONSTRAINT attempt_status_check
        CHECK (status IN ('stored', 'sent', 'mined', 'final', 'replaced', 'expired')) NOT VALID`);
    await q.query(`
      ALTER TABLE attempt ADD CONSTRAINT attempt_expiry CHECK (CASE
        WHEN valid_from_height IS NULL
        THEN num_nonnulls(valid_from_hash, valid_to_height, valid_to_ms, sequence, absence) = 0 AND status <> 'expired'
        ELSE valid_from_hash IS NOT NULL AND num_nonnulls(valid_to_height, valid_to_ms) = 1
         AND coalesce(valid_to_height > valid_from_height, true) AND nonce IS NULL AND cardinality(inputs) = 0
         AND status <> 'replaced' AND NOT is_replacement AND (status = 'expired') = (absence IS NOT NULL)
        END) NOT VALID`);
    // As faultOfProof in domain/txmanager/expiry.ts.
    await q.query(`
      ALTER TABLE attempt ADD CONSTRAINT attempt_absence CHECK (absence IS NULL OR coalesce(
            absence->>'txId' = tx_id
        AND (absence->>'from')::bigint <= valid_from_height
        AND (absence->>'from')::bigint <= (absence->'through'->>'height')::bigint
        AND (absence->'through'->>'height')::bigint <= (absence->>'finalHeight')::bigint
        AND absence->'through'->>'hash' <> ''
        AND CASE WHEN valid_to_height IS NOT NULL THEN (absence->'through'->>'height')::bigint >= valid_to_height
              ELSE (absence->'through'->>'time')::bigint >= valid_to_ms END, false)) NOT VALID`);
    // One attempt of an intent stands, and one of a wallet is open.
    await q.query(`
      CREATE UNIQUE INDEX attempt_one_unexpired ON attempt (intent_id)
        WHERE valid_from_height IS NOT NULL AND status <> 'expired';
      CREATE UNIQUE INDEX attempt_one_open_from ON attempt (network, from_address)
        WHERE valid_from_height IS NOT NULL AND status IN ('stored', 'sent', 'mined')`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query(`
      DROP INDEX attempt_one_open_from, attempt_one_unexpired;
      ALTER TABLE attempt DROP CONSTRAINT attempt_absence, DROP CONSTRAINT attempt_expiry,
        DROP CONSTRAINT attempt_status_check;
      ALTER TABLE attempt ADD CONSTRAINT attempt_status_check
        CHECK (status IN ('stored', 'sent', 'mined', 'final', 'replaced')) NOT VALID;
      ALTER TABLE attempt DROP COLUMN absence, DROP COLUMN sequence, DROP COLUMN valid_to_ms,
        DROP COLUMN valid_to_height, DROP COLUMN valid_from_hash, DROP COLUMN valid_from_height`);
  }
}
