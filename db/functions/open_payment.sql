-- The whole of "create a payment" in one round trip: row, address, first event, workflow. The same idempotency key
-- finds the first payment. `p`: the row; `donor`, `lightning_invoice`, `request_id` and `traceparent` stand apart.
-- `p_quota`: unpaid checkouts of the widget, or open payments of the merchant's own. CP014: the API names a settlement
-- address that is not the merchant's, or another amount in the invoice. Called by `openPayment`. Invariants: 5.
CREATE OR REPLACE FUNCTION open_payment(
    p jsonb, p_metadata text, p_address jsonb, p_event_id text, p_event_data text, p_delivery_id text,
    p_attributes jsonb, p_quota integer)
  RETURNS TABLE (payment_id text, replayed boolean) LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_payment payment := jsonb_populate_record(NULL::payment, p);
    v_open integer;
  BEGIN
    IF session_user = 'cp_api' AND v_payment.settlement_address IS NOT NULL
        AND NOT was_settled_to(v_payment.merchant_id, v_payment.currency, v_payment.settlement_address,
          v_payment.custody) THEN
      RAISE EXCEPTION 'payment % settles to an address that its merchant never had', v_payment.id
        USING ERRCODE = 'CP014';
    END IF;
    IF NOT insert_payment_2(v_payment, p_metadata, 'created', jsonb_build_object('rateId', v_payment.rate_id),
        p_attributes, p->>'traceparent') THEN
      RETURN QUERY SELECT x.id::text, true FROM payment x
        WHERE x.merchant_id = v_payment.merchant_id AND x.idempotency_key = v_payment.idempotency_key;
      RETURN;
    END IF;
    IF p ? 'donor' THEN
      INSERT INTO payment_donor (payment_id, donor) VALUES (v_payment.id, (p->>'donor')::json);
    END IF;
    IF p ? 'lightning_invoice' THEN
      INSERT INTO lightning_invoice (id, payment_id, currency, asked_msat, expires_at)
        VALUES (p->'lightning_invoice'->>'id', v_payment.id, v_payment.currency,
                (p->'lightning_invoice'->>'asked_msat')::bigint, v_payment.quote_expires_at);
    END IF;
    IF p_address IS NOT NULL THEN
      -- Its index may have been drawn from a database that this one has replaced since.
      IF p_address->>'tag' IS NOT NULL AND NOT is_shared_account(p_address->>'network', p_address->>'address') THEN
        RAISE EXCEPTION 'payments of % do not share %', p_address->>'network', p_address->>'address'
          USING ERRCODE = 'CP007';
      END IF;
      -- Beside it, the rows of watch_elsewhere: the same account on other networks.
      INSERT INTO address (network, address, tag, role, branch, key_index, currency, merchant_id, payment_id,
                           is_elsewhere)
        SELECT o.network, p_address->>'address', coalesce(p_address->>'tag', ''), k.role, k.branch,
               (p_address->>'keyIndex')::integer, v_payment.currency, v_payment.merchant_id, v_payment.id,
               o.network <> k.network
          FROM live_key k JOIN extended_key o ON o.sequence_of = k.sequence_of AND o.role = k.role
           AND (o.network = k.network OR coalesce(p_address->>'tag', '') = '')
         WHERE k.network = p_address->>'network' AND k.role = 'deposit'
           AND k.branch = coalesce((p_address->>'branch')::integer, 0);
      IF NOT FOUND THEN
        RAISE EXCEPTION 'the keys of % have changed', p_address->>'network' USING ERRCODE = 'CP007';
      END IF;
    END IF;
    PERFORM emit_event_3(v_payment.merchant_id, p_event_id, 'payment.created', v_payment.id, 1, p_event_data, '{}',
      p_delivery_id, CASE WHEN p_delivery_id IS NULL THEN NULL ELSE v_payment.ipn_callback_url END, 1,
      p->>'request_id', NULL, p->>'traceparent');
    -- The counter's row is locked since emit_event_3, so nobody else opens a payment of this merchant meanwhile.
    IF v_payment.widget_id IS NOT NULL THEN
      IF (SELECT count(*) FROM payment x WHERE x.widget_id = v_payment.widget_id
            AND x.status IN ('AWAITING_CURRENCY', 'WAITING')) > p_quota THEN
        RAISE EXCEPTION 'quota of % open checkouts of the widget reached', p_quota USING ERRCODE = 'CP005';
      END IF;
    ELSE
      SELECT c.open_payments INTO v_open FROM merchant_counter c WHERE c.merchant_id = v_payment.merchant_id;
      -- Strangers open checkouts, so these take no room of the merchant's own. They are counted where it matters alone.
      IF v_open > p_quota AND v_open - (SELECT count(*) FROM payment x WHERE x.merchant_id = v_payment.merchant_id
            AND x.widget_id IS NOT NULL
            AND x.status NOT IN ('SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED')) > p_quota THEN
        RAISE EXCEPTION 'open payments quota of % reached', p_quota USING ERRCODE = 'CP005';
      END IF;
    END IF;
    RETURN QUERY SELECT v_payment.id::text, false;
  END $$;
