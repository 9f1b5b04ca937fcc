import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Changes of the address that a wallet settles to: who asked and approved, from when they count, how they ended. */
export class SettlementChanges1799000021000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`CREATE TABLE settlement_change (
      id char(24) PRIMARY KEY,
      merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
      wallet_id char(24) NOT NULL REFERENCES merchant_wallet ON DELETE RESTRICT,
      -- stopped: by a member or by the mailed link, also after it was applied. replaced: by a later change.
      status text NOT NULL CHECK (status IN ('awaiting_approval', 'cooling_off', 'applied', 'stopped', 'replaced')),
      address text NOT NULL,
      before_address text NOT NULL,
      before_custody text NOT NULL,
      requested_by char(24) NOT NULL,
      requested_by_name text NOT NULL,
      needs_second_person boolean NOT NULL,
      approved_by char(24),
      approved_by_name text,
      active_at timestamptz NOT NULL,
      created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      applied_at timestamptz,
      ended_at timestamptz,
      CONSTRAINT settlement_change_second_person CHECK (NOT needs_second_person OR approved_by <> requested_by),
      CONSTRAINT settlement_change_approved CHECK (NOT needs_second_person OR approved_by IS NOT NULL
        OR status IN ('awaiting_approval', 'stopped', 'replaced')),
      CHECK (status <> 'applied' OR applied_at IS NOT NULL)
    )`);
    await q.query(`CREATE UNIQUE INDEX settlement_change_open ON settlement_change (wallet_id)
      WHERE status IN ('awaiting_approval', 'cooling_off')`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE settlement_change');
  }
}
