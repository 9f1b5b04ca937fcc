import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What is signed can no longer be called back, and an end is an end; with `reorg`, unless the chain takes back what completed it. */
const guard = (
  reorg: boolean,
): string => `CREATE OR REPLACE FUNCTION guard_withdrawal() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.status = OLD.status THEN RETURN NEW; END IF;
      IF OLD.status IN ('completed', 'failed', 'cancelled')${reorg ? ` AND NOT (OLD.status = 'completed' AND NEW.status = 'broadcast')` : ''}
        OR OLD.status IN ('processing', 'broadcast') AND NEW.status NOT IN ('broadcast', 'completed', 'failed')
        OR NEW.state_version <= OLD.state_version THEN
        RAISE EXCEPTION 'withdrawal % may not go from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'CP012';
      END IF;
      RETURN NEW;
    END $$`;

export class WithdrawalsReopened1796000500000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(guard(true));
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query(guard(false));
  }
}
