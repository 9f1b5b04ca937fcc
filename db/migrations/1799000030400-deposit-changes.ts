import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What happened to the content of deposits: after a reorganisation another transfer may have the key of one. */
export class DepositChanges1799000030400 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(
      `CREATE TABLE deposit_change (
         id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
         deposit_id bigint NOT NULL REFERENCES deposit,
         at timestamptz NOT NULL DEFAULT clock_timestamp(),
         -- The block that the new content is in, and what the row said before and says since.
         block_hash text NOT NULL,
         before jsonb NOT NULL,
         after jsonb NOT NULL
       )`,
    );
    await q.query('CREATE INDEX deposit_change_deposit ON deposit_change (deposit_id)');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE deposit_change');
  }
}
