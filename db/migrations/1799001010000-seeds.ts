import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A second seed beside the first. docs/decisions/0064-a-second-seed.md */
export class Seeds1799001010000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      -- The account key of each seed: of the branches from from_branch on, as far as the next one. extended_key has the
      -- newest of them.
      CREATE TABLE seed_key (
        network text NOT NULL,
        role text NOT NULL,
        from_branch integer NOT NULL CHECK (from_branch >= 0),
        xpub text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (network, role, from_branch),
        FOREIGN KEY (network, role) REFERENCES extended_key
      );
      INSERT INTO seed_key (network, role, from_branch, xpub) SELECT network, role, 0, xpub FROM extended_key;`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP FUNCTION IF EXISTS branch_key, register_network_keys');
    await q.query('DROP TABLE seed_key');
  }
}
