import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Acts of operators on money are requests that two of them confirm. */
export class OperatorRequests1799000010000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      CREATE TABLE operator_request (
        id char(24) PRIMARY KEY,
        kind text NOT NULL,
        payload jsonb NOT NULL,
        -- What it does, in the words that are confirmed.
        summary text NOT NULL,
        reason text NOT NULL CHECK (reason <> ''),
        state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'executed', 'cancelled')),
        -- Null: a shell, of which only the name of its user is known.
        asked_by char(24) REFERENCES dashboard_user,
        asked_by_name text NOT NULL,
        asked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        expires_at timestamptz NOT NULL,
        outcome text,
        ended_at timestamptz,
        ended_by_name text,
        CHECK ((state = 'open') = (ended_at IS NULL))
      )`);
    await q.query(`CREATE INDEX operator_request_open ON operator_request (expires_at) WHERE state = 'open'`);
    await q.query(`
      CREATE TABLE operator_confirmation (
        request_id char(24) NOT NULL REFERENCES operator_request,
        user_id char(24) NOT NULL REFERENCES dashboard_user,
        session_id char(24) NOT NULL REFERENCES user_session,
        user_name text NOT NULL,
        confirmed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (request_id, user_id),
        UNIQUE (request_id, session_id)
      )`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE operator_confirmation');
    await q.query('DROP TABLE operator_request');
  }
}
