import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The trace that an event, and a request for a workflow, belong to. */
export class Traceparents1799000960000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    // As W3C writes it, 55 characters. Null where no trace is recorded, as in every row without OTEL_*.
    await q.query('ALTER TABLE event ADD COLUMN traceparent text');
    await q.query('ALTER TABLE temporal_request ADD COLUMN traceparent text');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE temporal_request DROP COLUMN traceparent');
    await q.query('ALTER TABLE event DROP COLUMN traceparent');
  }
}
