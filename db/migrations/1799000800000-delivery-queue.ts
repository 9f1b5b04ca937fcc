import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Deliveries that wait for the first attempt of a round. docs/decisions/0044-first-attempts.md */
export class DeliveryQueue1799000800000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      CREATE TABLE delivery_queue (
        delivery_id char(24) PRIMARY KEY REFERENCES delivery ON DELETE CASCADE,
        merchant_id char(24) NOT NULL,
        -- As in delivery.
        endpoint text NOT NULL,
        -- Slow receivers, and what is sent again, come after all others.
        is_behind boolean NOT NULL,
        -- The order of a receiver.
        n bigint GENERATED ALWAYS AS IDENTITY,
        -- Claims so far. One that nobody has ended was that of a process that died.
        tries integer NOT NULL DEFAULT 0,
        claimed_until timestamptz,
        created_at timestamptz NOT NULL DEFAULT now()
      ) WITH (autovacuum_vacuum_scale_factor = 0.05);
      CREATE INDEX delivery_queue_order ON delivery_queue (is_behind, merchant_id, endpoint, n);
      CREATE INDEX delivery_queue_age ON delivery_queue (created_at) WHERE NOT is_behind`);
  }

  async down(q: QueryRunner): Promise<void> {
    // The version before asks for the workflow of each open delivery that has none.
    await q.query('DROP TABLE delivery_queue');
  }
}
