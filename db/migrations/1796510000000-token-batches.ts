import type { MigrationInterface, QueryRunner } from 'typeorm';

const statements = [
  // Accounts whose tokens one transaction of the gas wallet moves: each gives it a nonce of its own with its delegation.
  `CREATE TABLE attempt_account (
    attempt_id bigint NOT NULL REFERENCES attempt, network text NOT NULL, address text NOT NULL, nonce integer NOT NULL,
    -- base units; 0: it delegates, and what it held has gone meanwhile
    units numeric(78, 0) NOT NULL CHECK (units >= 0), deposit_ids bigint[] NOT NULL,
    PRIMARY KEY (attempt_id, address), FOREIGN KEY (network, address) REFERENCES address)`,
  `CREATE INDEX attempt_account_address ON attempt_account (network, address)`,
];

export class TokenBatches1796510000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const statement of statements) await q.query(statement);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE attempt_account');
  }
}
