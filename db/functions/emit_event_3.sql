-- Writes an event in its merchant's order, and queues its deliveries: to the payment's own callback where it names one,
-- and to each active endpoint that takes the type; a test goes to the endpoint under test alone. Deliveries to slow
-- receivers wait behind all others. The counter row is locked last. Called by `emitEvent`, `emitEvents`, open_payment,
-- emit_event and emit_event_2.
--
-- `p_request`: the request under way. Without one the event has the request of the newest event of `p_follows`: the
-- resource itself, or that which it came from. `p_traceparent`: the trace under way; without one, and without a
-- request, that of the same event. Returns the id of the request and the trace; null where there is none.
--
-- The ids of deliveries are those of `deliveryId`.
CREATE OR REPLACE FUNCTION emit_event_3(
    p_merchant text, p_id text, p_type text, p_entity text, p_version integer, p_data text, p_previous jsonb,
    p_delivery_id text, p_url text, p_open_delta integer, p_request text, p_follows text, p_traceparent text,
    OUT request_id text, OUT traceparent text)
  LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_merchant char(24) := p_merchant;
    v_follows char(24) := p_follows;
    v_seq bigint;
  BEGIN
    request_id := p_request;
    traceparent := p_traceparent;
    IF p_request IS NULL AND v_follows IS NOT NULL THEN
      SELECT e.request_id, e.traceparent INTO request_id, traceparent
        FROM event e WHERE e.entity_id = v_follows ORDER BY e.state_version DESC, e.type DESC LIMIT 1;
      traceparent := coalesce(p_traceparent, traceparent);
    END IF;
    UPDATE merchant_counter SET event_seq = event_seq + 1, open_payments = open_payments + p_open_delta
      WHERE merchant_id = v_merchant RETURNING event_seq INTO STRICT v_seq;
    INSERT INTO event (id, merchant_id, seq, type, entity_id, state_version, data, previous, request_id, traceparent)
      VALUES (p_id, v_merchant, v_seq, p_type, p_entity, p_version, p_data::json, p_previous,
              emit_event_3.request_id, emit_event_3.traceparent);
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
        SELECT t.id, p_id, v_merchant, t.endpoint, t.url, now() FROM target t RETURNING id, endpoint
    )
    INSERT INTO delivery_queue (delivery_id, merchant_id, endpoint, is_behind)
      SELECT m.id, v_merchant, m.endpoint,
             EXISTS (SELECT FROM slow_receiver s WHERE s.merchant_id = v_merchant AND s.endpoint = m.endpoint)
        FROM made m;
    IF FOUND THEN
      PERFORM pg_notify('delivery_queue', '');
    END IF;
  END $$;
