-- The one way a payment comes into being: its row, its first timeline entry and the request for its workflow. False
-- where the same payment exists already: the same idempotency key of the merchant, or a child for the same deposit.
-- `p_metadata` is the raw JSON text, because jsonb would change it. `p_traceparent`: the trace under way. Called by
-- open_payment, `insertPayment` and insert_payment.
CREATE OR REPLACE FUNCTION insert_payment_2(
    p payment, p_metadata text, p_cause text, p_details jsonb, p_attributes jsonb, p_traceparent text)
  RETURNS boolean LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    p.metadata := p_metadata::json;
    INSERT INTO payment SELECT p.* ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      IF EXISTS (SELECT FROM payment x WHERE x.merchant_id = p.merchant_id AND x.idempotency_key = p.idempotency_key)
        OR EXISTS (SELECT FROM payment x WHERE x.child_deposit_id = p.child_deposit_id) THEN
        RETURN false;
      END IF;
      RAISE EXCEPTION 'payment % or its slug exists already', p.id USING ERRCODE = 'unique_violation';
    END IF;
    INSERT INTO payment_event (payment_id, state_version, from_status, to_status, cause, details)
      VALUES (p.id, p.state_version, NULL, p.status, p_cause, p_details);
    -- A payment waits for money or its deadline: its workflow has nothing to do before one of them comes. The chain is
    -- looked at past the deadline by then, so that one look decides. A child has its deposit already.
    INSERT INTO temporal_request (kind, workflow, workflow_id, args, attributes, start_at, traceparent)
      VALUES ('start', 'payment', 'payment/' || p.id, jsonb_build_array(p.id, p.status), p_attributes,
              CASE WHEN p.parent_payment_id IS NULL THEN p.expires_at + interval '5 seconds' END, p_traceparent);
    PERFORM pg_notify('temporal_request', '');
    PERFORM pg_notify('payment_changed', p.id);
    RETURN true;
  END $$;
