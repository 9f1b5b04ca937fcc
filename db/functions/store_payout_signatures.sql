-- Stores what was signed of one wallet with consecutive nonces, all of it or nothing. Called by `storeSigned`.
CREATE OR REPLACE FUNCTION store_payout_signatures(p_network text, p_from text, p_rows jsonb)
  RETURNS void LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_intents bigint[]; v_legs text[]; v_first integer; v_count integer := jsonb_array_length(p_rows); v_done integer;
  BEGIN
    SELECT array_agg((r->>'intent_id')::bigint), array_agg(r->>'leg_id'), min((r->>'nonce')::integer)
      INTO v_intents, v_legs, v_first FROM jsonb_array_elements(p_rows) r;
    INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, unit_price, data_part, max_fee_units,
        moved_units, outputs)
      SELECT a.intent_id, 1, p_network, a.tx_id, a.raw, p_from, a.nonce, a.unit_price, coalesce(a.data_part, 0),
             a.max_fee_units, a.moved_units, a.outputs
        FROM jsonb_to_recordset(p_rows) AS a (intent_id bigint, tx_id text, raw text, nonce integer,
          unit_price numeric, data_part numeric, max_fee_units numeric, moved_units numeric,
          outputs jsonb) ORDER BY a.nonce;
    UPDATE wallet_sequence SET next_nonce = next_nonce + v_count
     WHERE network = p_network AND address = p_from AND next_nonce = v_first;
    IF NOT FOUND THEN RAISE EXCEPTION 'wallet % is not at nonce %', p_from, v_first; END IF;
    UPDATE intent SET status = 'stored', updated_at = now() WHERE id = ANY(v_intents) AND status = 'planned';
    GET DIAGNOSTICS v_done = ROW_COUNT;
    IF v_done <> v_count THEN RAISE EXCEPTION 'intents of wallet % have changed meanwhile', p_from; END IF;
    UPDATE payout_leg l
       SET status = 'processing', state_version = l.state_version + 1, updated_at = clock_timestamp()
      FROM unnest(v_legs, v_intents) AS r (id, intent_id)
     WHERE l.id = r.id AND l.intent_id = r.intent_id AND l.status = 'pending';
    GET DIAGNOSTICS v_done = ROW_COUNT;
    IF v_done <> v_count THEN RAISE EXCEPTION 'payout lines of wallet % have changed meanwhile', p_from; END IF;
  END $$;
