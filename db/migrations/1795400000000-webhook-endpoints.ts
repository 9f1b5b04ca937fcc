import type { MigrationInterface, QueryRunner } from 'typeorm';

const emitEvent = 'emit_event(text, text, text, text, integer, text, jsonb, text, text, integer)';

const statements = [
  `CREATE TABLE webhook_endpoint (
    id char(24) PRIMARY KEY,
    merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
    url text NOT NULL,
    -- '*', 'payment.*' or exact types
    enabled_events text[] NOT NULL CHECK (cardinality(enabled_events) > 0),
    description text,
    is_active boolean NOT NULL DEFAULT true,
    disabled_reason text CHECK (disabled_reason IN ('gone', 'failing')),
    secret_sealed text NOT NULL, previous_secret_sealed text, previous_secret_until timestamptz,
    -- the first failed attempt since the last success
    failing_since timestamptz,
    version integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(),
    CHECK (disabled_reason IS NULL OR NOT is_active))`,
  `CREATE INDEX webhook_endpoint_active ON webhook_endpoint (merchant_id) WHERE is_active`,
  `CREATE INDEX webhook_endpoint_newest ON webhook_endpoint (merchant_id, id DESC)`,
  // n: the order of the log. attempts_before: attempts of earlier rounds; each round has the whole schedule.
  `ALTER TABLE delivery ADD COLUMN n bigint GENERATED ALWAYS AS IDENTITY, ADD COLUMN attempts_before integer NOT NULL DEFAULT 0`,
  `CREATE INDEX delivery_newest ON delivery (merchant_id, n DESC)`,
  `CREATE INDEX delivery_age ON delivery USING brin (created_at)`,
  `CREATE INDEX event_age ON event USING brin (created_at)`,
  // The foundation's, and one delivery for each active endpoint that wants the type. A test goes to the endpoint under test alone.
  // Ids of deliveries are those of deliveryId() in db/events.ts.
  `CREATE OR REPLACE FUNCTION emit_event(p_merchant text, p_id text, p_type text, p_entity text, p_version integer, p_data text, p_previous jsonb,
      p_delivery_id text, p_url text, p_open_delta integer)
    RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE
      v_merchant char(24) := p_merchant;
      v_seq bigint;
    BEGIN
      UPDATE merchant_counter SET event_seq = event_seq + 1, open_payments = open_payments + p_open_delta
        WHERE merchant_id = v_merchant RETURNING event_seq INTO STRICT v_seq;
      INSERT INTO event (id, merchant_id, seq, type, entity_id, state_version, data, previous)
        VALUES (p_id, v_merchant, v_seq, p_type, p_entity, p_version, p_data::json, p_previous);
      WITH target AS (
        SELECT p_delivery_id AS id, 'ipn' AS endpoint, p_url AS url WHERE p_url IS NOT NULL
        UNION ALL
        SELECT left(encode(sha256(convert_to('delivery/' || p_id || '/' || w.id, 'UTF8')), 'hex'), 24), w.id::text, w.url
          FROM webhook_endpoint w
         WHERE w.merchant_id = v_merchant AND w.is_active
           AND CASE WHEN p_type = 'webhook.test' THEN w.id::text = p_entity
                    ELSE w.enabled_events && ARRAY['*', p_type, split_part(p_type, '.', 1) || '.*'] END
      ), made AS (
        INSERT INTO delivery (id, event_id, merchant_id, endpoint, url, next_attempt_at)
          SELECT t.id, p_id, v_merchant, t.endpoint, t.url, now() FROM target t RETURNING id
      )
      INSERT INTO temporal_request (kind, workflow, workflow_id, args, attributes)
        SELECT 'start', 'webhook', 'webhook/' || m.id, jsonb_build_array(m.id), jsonb_build_object('MerchantId', p_merchant) FROM made m;
      IF FOUND THEN
        PERFORM pg_notify('temporal_request', '');
      END IF;
      RETURN v_seq;
    END $$`,
];

export class WebhookEndpoints1795400000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const statement of statements) await q.query(statement);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query(`DROP FUNCTION ${emitEvent}`);
    await q.query(`CREATE FUNCTION emit_event(p_merchant text, p_id text, p_type text, p_entity text, p_version integer, p_data text,
        p_previous jsonb, p_delivery_id text, p_url text, p_open_delta integer)
      RETURNS bigint LANGUAGE plpgsql AS $$
      DECLARE v_seq bigint;
      BEGIN
        UPDATE merchant_counter SET event_seq = event_seq + 1, open_payments = open_payments + p_open_delta
          WHERE merchant_id = p_merchant RETURNING event_seq INTO STRICT v_seq;
        INSERT INTO event (id, merchant_id, seq, type, entity_id, state_version, data, previous)
          VALUES (p_id, p_merchant, v_seq, p_type, p_entity, p_version, p_data::json, p_previous);
        IF p_url IS NOT NULL THEN
          INSERT INTO delivery (id, event_id, merchant_id, endpoint, url, next_attempt_at)
            VALUES (p_delivery_id, p_id, p_merchant, 'ipn', p_url, now());
          PERFORM request_workflow('start', 'webhook', 'webhook/' || p_delivery_id, jsonb_build_array(p_delivery_id), NULL,
            jsonb_build_object('MerchantId', p_merchant));
        END IF;
        RETURN v_seq;
      END $$`);
    await q.query('DROP INDEX event_age');
    await q.query(
      `DELETE FROM delivery_attempt WHERE delivery_id IN (SELECT id FROM delivery WHERE endpoint <> 'ipn')`,
    );
    await q.query(`DELETE FROM delivery WHERE endpoint <> 'ipn'`);
    await q.query('ALTER TABLE delivery DROP COLUMN n, DROP COLUMN attempts_before');
    await q.query('DROP INDEX delivery_age');
    await q.query('DROP TABLE webhook_endpoint');
  }
}
