import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Addresses have a branch, and the database says which recovery it has seen. docs/operations/backup-and-restore.md */
export class KeyBranches1799000070000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      ALTER TABLE address ADD COLUMN branch integer NOT NULL DEFAULT 0 CHECK (branch >= 0);
      ALTER TABLE address DROP CONSTRAINT address_network_role_key_index_key;
      ALTER TABLE address ADD CONSTRAINT address_path UNIQUE (network, role, branch, key_index);

      -- One row: the epoch that the signer has confirmed, and for which incarnation of the database. Its epoch is the
      -- branch of new addresses. beat: grows while the signer runs, so that an older copy of the row can be told.
      CREATE TABLE key_epoch (
        id boolean PRIMARY KEY DEFAULT true CHECK (id),
        epoch integer NOT NULL CHECK (epoch >= 0),
        beat bigint NOT NULL,
        incarnation text NOT NULL,
        confirmed_at timestamptz NOT NULL DEFAULT clock_timestamp()
      ) WITH (fillfactor = 50);

      -- Every recovery that this database has seen.
      CREATE TABLE recovery (
        epoch integer PRIMARY KEY,
        reason text NOT NULL,
        begun_at timestamptz NOT NULL DEFAULT clock_timestamp()
      );

      -- Addresses of a branch that was left, which payers may know and the database has forgotten: those from
      -- next_index to until_index are not derived yet.
      CREATE TABLE key_watch (
        network text NOT NULL,
        role text NOT NULL,
        branch integer NOT NULL,
        next_index integer NOT NULL CHECK (next_index >= 0),
        until_index integer NOT NULL,
        PRIMARY KEY (network, role, branch),
        FOREIGN KEY (network, role) REFERENCES extended_key
      );

      ALTER TABLE deposit DROP CONSTRAINT deposit_home_check;
      ALTER TABLE deposit ADD CONSTRAINT deposit_home_check CHECK (home IN
        ('own', 'capital', 'unsettled', 'unallocated', 'settled', 'refunded', 'unclaimed'));
      CREATE INDEX deposit_unclaimed ON deposit (network, address) WHERE home = 'unclaimed';`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query(`
      DROP INDEX deposit_unclaimed;
      ALTER TABLE deposit DROP CONSTRAINT deposit_home_check;
      ALTER TABLE deposit ADD CONSTRAINT deposit_home_check CHECK (home IN
        ('own', 'capital', 'unsettled', 'unallocated', 'settled', 'refunded'));
      DROP TABLE key_watch, recovery;
      DROP VIEW live_key;
      DROP TABLE key_epoch;
      ALTER TABLE address DROP CONSTRAINT address_path;
      ALTER TABLE address ADD UNIQUE (network, role, key_index);
      ALTER TABLE address DROP COLUMN branch;`);
  }
}
