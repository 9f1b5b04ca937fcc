import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds the batches that went to an address: the first one costs more than the others. */
export class FirstBatches1799000110100 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(
      `CREATE INDEX intent_batch_to ON intent ((outputs->0->>'address'), network) WHERE owner_kind = 'sweep-batch'`,
    );
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP INDEX intent_batch_to');
  }
}
