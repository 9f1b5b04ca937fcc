import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What our Lightning node said last. docs/decisions/0069-the-lightning-worker.md */
export class LightningNode1799001020000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      CREATE TABLE lightning_node (
        -- There is one.
        id boolean PRIMARY KEY DEFAULT true CHECK (id),
        -- Its public key. The books are of this node, and of no other.
        node_key text NOT NULL CHECK (node_key ~ '^0[23][0-9a-f]{64}$'),
        height integer NOT NULL CHECK (height >= 0),
        is_synced boolean NOT NULL,
        -- Channels that are up, and what can go each way over all of them. Satoshi.
        channels integer NOT NULL CHECK (channels >= 0),
        receivable bigint NOT NULL CHECK (receivable >= 0),
        sendable bigint NOT NULL CHECK (sendable >= 0),
        looked_at timestamptz NOT NULL
      )`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE lightning_node');
  }
}
