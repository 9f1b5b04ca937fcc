import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A transaction that blocks its wallet is replaced by a transfer of the wallet to itself. */
export class ReplacedIntents1799000012000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    // From then on nothing is signed for the intent but transfers of its wallet to itself, on the same nonce.
    await q.query(
      `ALTER TABLE intent ADD replaced_at timestamptz, ADD replaced_by char(24) REFERENCES operator_request,
         ADD CHECK ((replaced_at IS NULL) = (replaced_by IS NULL))`,
    );
    await q.query('ALTER TABLE attempt ADD is_replacement boolean NOT NULL DEFAULT false');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE attempt DROP is_replacement');
    await q.query('ALTER TABLE intent DROP replaced_at, DROP replaced_by');
  }
}
