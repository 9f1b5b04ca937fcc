import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who waits for a wallet that has one open transaction at a time. docs/decisions/0100-turns-at-a-wallet.md */
export class WalletTurns1799001175000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      CREATE TABLE wallet_turn (
        intent_id bigint PRIMARY KEY REFERENCES intent (id),
        since timestamptz NOT NULL DEFAULT now(),
        ready_at timestamptz DEFAULT now(),
        passed_at timestamptz)`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE wallet_turn');
  }
}
