-- Gives what a recovery has lost to the intent of the row that had it sent, which is made where it is not planned: the
-- attempts, the coins, the shares of a sweep of many, the lines of a mass payout. `p_payment`: of a payment's own sweep
-- and its gas, whose deposits they are now. NULL while one of its deposits is not in the chain. Called by
-- `giveLost`.
CREATE OR REPLACE FUNCTION take_over_lost(p_lost bigint, p_payment text) RETURNS bigint
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_lost intent; r jsonb; v_deposits bigint[]; v_id bigint; v_owner text; v_kind text; v_is_sweep boolean;
  BEGIN
    SELECT * INTO v_lost FROM intent WHERE id = p_lost AND kind = 'lost' AND status <> 'dead' FOR UPDATE;
    IF NOT FOUND THEN RETURN NULL; END IF;
    r := v_lost.lost;
    v_kind := v_lost.lost_owner_kind;
    v_is_sweep := r->>'kind' = 'sweep';
    v_owner := CASE WHEN v_kind = 'sweep' THEN coalesce(p_payment, v_lost.lost_owner_id)
                    ELSE v_lost.lost_owner_id END;
    v_deposits := deposits_at(v_lost.network, r->'deposits');
    -- A forgotten payment of a sweep of many has deposits that no payment has: they are no part of what is taken over.
    IF v_is_sweep AND v_kind = 'sweep-batch' THEN
      v_deposits := ARRAY(SELECT d.id FROM deposit d WHERE d.id = ANY(v_deposits) AND d.payment_id IS NOT NULL
                           ORDER BY array_position(v_deposits, d.id));
    ELSIF cardinality(v_deposits) <> jsonb_array_length(r->'deposits') THEN
      RETURN NULL;
    END IF;
    IF EXISTS (SELECT FROM deposit d WHERE d.id = ANY(v_deposits)
                AND (d.status <> 'confirmed' OR v_is_sweep AND d.allocation IS DISTINCT FROM 'unsettled')) THEN
      RETURN NULL;
    END IF;
    INSERT INTO intent AS i (kind, ref, network, currency, from_address, outputs, deposit_ids, max_unit_price,
        fee_budget, gas_limit, status, payment_id, merchant_id, owner_kind, owner_id)
      VALUES (r->>'kind', r->>'ref', v_lost.network, v_lost.currency, v_lost.from_address, r->'planned', v_deposits,
        v_lost.max_unit_price, v_lost.fee_budget, v_lost.gas_limit, v_lost.status,
        CASE WHEN v_kind = 'sweep' THEN v_owner END, v_lost.merchant_id, v_kind, v_owner)
      ON CONFLICT (kind, ref) DO UPDATE SET from_address = EXCLUDED.from_address, outputs = EXCLUDED.outputs,
        deposit_ids = EXCLUDED.deposit_ids, max_unit_price = EXCLUDED.max_unit_price, fee_budget = EXCLUDED.fee_budget,
        gas_limit = EXCLUDED.gas_limit, status = EXCLUDED.status, updated_at = now()
        WHERE i.status IN ('planned', 'dead') AND NOT EXISTS (SELECT FROM attempt a WHERE a.intent_id = i.id)
      RETURNING i.id INTO v_id;
    IF v_id IS NULL THEN RAISE EXCEPTION 'intent % % is signed already', r->>'kind', r->>'ref'; END IF;
    DELETE FROM coin_lock WHERE intent_id = v_id;
    UPDATE coin_lock SET intent_id = v_id WHERE intent_id = p_lost;
    UPDATE attempt SET intent_id = v_id WHERE intent_id = p_lost;
    UPDATE attempt_account c SET deposit_ids = deposits_at(v_lost.network, a->'deposits')
      FROM jsonb_array_elements(r->'accounts') a, attempt t
     WHERE t.intent_id = v_id AND c.attempt_id = t.id AND c.address = a->>'address';
    INSERT INTO sweep_share (intent_id, payment_id, position, deposit_ids, brought_units, net_units)
      SELECT v_id, p.id, (s->>'position')::integer, deposits_at(v_lost.network, s->'deposits'),
             (s->>'brought')::numeric, (s->>'net')::numeric
        FROM jsonb_array_elements(r->'shares') s
        JOIN LATERAL (SELECT DISTINCT coalesce(d.child_payment_id, d.payment_id) AS id FROM deposit d
                       WHERE d.id = ANY(deposits_at(v_lost.network, s->'deposits'))) p ON p.id IS NOT NULL
      ON CONFLICT DO NOTHING;
    UPDATE payout_leg SET intent_id = NULL
     WHERE intent_id = v_id AND NOT r->'lines' ? id::text AND status = 'pending';
    UPDATE payout_leg SET intent_id = v_id
     WHERE r->'lines' ? id::text AND batch_id = v_owner::bpchar AND status = 'pending';
    UPDATE egress_admission SET signed_at = clock_timestamp()
     WHERE ref = v_owner::bpchar AND signed_at IS NULL
       AND kind = CASE v_kind WHEN 'withdrawal' THEN 'withdrawal' WHEN 'refund' THEN 'refund'
                              WHEN 'payout-batch' THEN 'mass_payout' END;
    UPDATE intent SET status = 'dead', updated_at = now() WHERE id = p_lost;
    RETURN v_id;
  END $$;
