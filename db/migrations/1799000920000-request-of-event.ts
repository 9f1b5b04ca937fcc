import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The id of the request that an event goes back to, so that a webhook is found by the id of its request. */
export class RequestOfEvent1799000920000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    // X-Request-Id. Null where no request has to do with the event, and for events from before this column.
    await q.query('ALTER TABLE event ADD COLUMN request_id text');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE event DROP COLUMN request_id');
  }
}
