import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What merchants asked with their secret keys, and how it was answered. Reasons of refusals are found by their age. */
export class ApiRequests1799000240000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(
      `CREATE TABLE api_request (
         merchant_id char(24) NOT NULL,
         -- Ordered by the time of the answer.
         id char(24) NOT NULL,
         method text NOT NULL,
         -- The path of the route's declaration.
         route text NOT NULL,
         -- The same with its ids; never a query.
         path text NOT NULL,
         status smallint NOT NULL,
         error_code text,
         request_id text NOT NULL,
         api_key_id char(24),
         duration_ms integer NOT NULL,
         ip text NOT NULL,
         has_idempotency_key boolean NOT NULL,
         -- When the request came, by the clock of the API.
         created_at timestamptz NOT NULL,
         PRIMARY KEY (merchant_id, id)
       )`,
    );
    await q.query('CREATE INDEX api_request_refused ON api_request (merchant_id, id) WHERE status >= 400');
    await q.query('CREATE INDEX api_request_named ON api_request (merchant_id, request_id)');
    await q.query('CREATE INDEX api_request_age ON api_request (created_at)');
    await q.query('CREATE INDEX request_log_age ON request_log (created_at)');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP INDEX request_log_age');
    await q.query('DROP TABLE api_request');
  }
}
