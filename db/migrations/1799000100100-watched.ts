import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A follower reads which addresses and deposits are new at each look at a mempool. */
export class Watched1799000100100 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('CREATE INDEX address_created ON address (network, created_at)');
    await q.query('CREATE INDEX deposit_network ON deposit (network, id)');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP INDEX deposit_network');
    await q.query('DROP INDEX address_created');
  }
}
