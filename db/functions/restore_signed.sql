-- Makes attempts of what the signer has in its record and the database has not: of the intent that they belong to,
-- where that is signed, else of one of the kind `lost`. Their addresses are ours, their nonces and coins stay used, and
-- plans that would spend them go. Freezes the addresses that money of these kinds has left. Returns what it took.
-- What expires is proven void by the record of the next of its intent, or stands until its blocks have passed; where
-- something else of the intent stands, the signer's own record alone has it, and the wallet is frozen.
-- Records from before `ownerKind` and `ownerId` have both in `owner`. Called by `restoreSigned`.
CREATE OR REPLACE FUNCTION restore_signed(p_records jsonb, p_leaving text[]) RETURNS jsonb
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    r jsonb; v_intent bigint; v_attempt bigint; v_plan bigint; v_reason text; v_taken jsonb := '[]'; v_window jsonb;
    v_absence jsonb;
  BEGIN
    FOR r IN SELECT value FROM jsonb_array_elements(p_records) WITH ORDINALITY ORDER BY ordinality LOOP
      CONTINUE WHEN EXISTS (SELECT FROM attempt WHERE network = r->>'network' AND tx_id = r->>'txId');
      INSERT INTO address (network, address, role, branch, key_index)
        SELECT r->>'network', k->>'address', k->>'role', (k->>'branch')::integer, (k->>'index')::integer
          FROM jsonb_array_elements(r->'keys') k ON CONFLICT DO NOTHING;
      v_window := r->'window';
      FOR v_absence IN SELECT value FROM jsonb_array_elements(v_window->'absences') LOOP
        UPDATE attempt SET status = 'expired', absence = v_absence
         WHERE network = r->>'network' AND tx_id = v_absence->>'txId' AND status IN ('stored', 'sent');
        PERFORM note_absence(r->>'network', v_absence->>'txId', v_absence);
      END LOOP;
      SELECT i.id INTO v_intent FROM intent i
       WHERE i.kind = r->>'kind' AND i.ref = r->>'ref' AND EXISTS (SELECT FROM attempt a WHERE a.intent_id = i.id);
      IF v_intent IS NULL THEN
        INSERT INTO intent (kind, ref, network, currency, from_address, outputs, max_unit_price, fee_budget, gas_limit,
            status, merchant_id, owner_kind, owner_id, lost_owner_kind, lost_owner_id, lost)
          VALUES ('lost', concat(r->>'kind', '/', r->>'ref'), r->>'network', r->>'currency', r->>'from', r->'outputs',
            (r->>'maxUnitPrice')::numeric, (r->>'feeBudget')::numeric, (r->>'gasLimit')::bigint, 'sent',
            r->>'merchantId', 'lost', r->>'owner', coalesce(r->>'ownerKind', split_part(r->>'owner', '/', 1)),
            coalesce(r->>'ownerId', substr(r->>'owner', strpos(r->>'owner', '/') + 1)), r)
          ON CONFLICT (kind, ref) DO UPDATE SET outputs = EXCLUDED.outputs, lost = EXCLUDED.lost
          RETURNING id INTO v_intent;
      END IF;
      IF v_window IS NOT NULL
          AND EXISTS (SELECT FROM attempt a WHERE a.intent_id = v_intent AND a.status <> 'expired') THEN
        INSERT INTO wallet_sequence AS w (network, address, frozen_reason, frozen_at)
          VALUES (r->>'network', r->>'from',
            concat('A recovery has found two that stand: ', r->>'kind', ' ', r->>'ref'), now())
          ON CONFLICT (network, address) DO UPDATE
            SET frozen_reason = coalesce(w.frozen_reason, EXCLUDED.frozen_reason),
                frozen_at = coalesce(w.frozen_at, EXCLUDED.frozen_at);
        -- Nothing more of the intent is signed or given back until the signer's own node has proven this void as well.
        INSERT INTO signer.validity (network, tx_id, kind, ref, valid_from_height, valid_from_hash, valid_to_height,
            valid_to_ms)
          VALUES (r->>'network', r->>'txId', r->>'kind', r->>'ref', (v_window->>'fromHeight')::bigint,
            v_window->>'fromHash', (v_window->>'toHeight')::bigint, (v_window->>'toMs')::bigint)
          ON CONFLICT DO NOTHING;
        CONTINUE;
      END IF;
      INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, inputs, unit_price, data_part,
          max_fee_units, moved_units, outputs, is_replacement, status, sent_at, valid_from_height, valid_from_hash,
          valid_to_height, valid_to_ms, sequence, is_restored)
        SELECT v_intent, coalesce(max(n), 0) + 1, r->>'network', r->>'txId', r->>'raw', r->>'from',
               (r->>'nonce')::integer, ARRAY(SELECT jsonb_array_elements_text(r->'inputs')),
               (r->>'unitPrice')::numeric, coalesce((r->>'dataPart')::numeric, 0),
               (r->>'maxFeeUnits')::numeric, (r->>'movedUnits')::numeric, r->'outputs',
               (r->>'isReplacement')::boolean, 'sent', now(), (v_window->>'fromHeight')::bigint,
               v_window->>'fromHash', (v_window->>'toHeight')::bigint, (v_window->>'toMs')::bigint,
               (v_window->>'sequence')::bigint, v_window IS NOT NULL
          FROM attempt WHERE intent_id = v_intent
        RETURNING id INTO v_attempt;
      INSERT INTO attempt_account (attempt_id, network, address, nonce, units, deposit_ids)
        SELECT v_attempt, r->>'network', a->>'address', (a->>'nonce')::integer, (a->>'units')::numeric,
               deposits_at(r->>'network', a->'deposits')
          FROM jsonb_array_elements(r->'accounts') a;

      -- Plans for the same coins, which nobody has signed: their rows are planned anew.
      FOR v_plan IN SELECT DISTINCT l.intent_id FROM coin_lock l
                     WHERE l.deposit_id = ANY(deposits_at(r->>'network', r->'inputs')) AND l.intent_id <> v_intent
                       AND NOT EXISTS (SELECT FROM attempt a WHERE a.intent_id = l.intent_id) LOOP
        UPDATE payout_leg SET intent_id = NULL WHERE intent_id = v_plan;
        DELETE FROM coin_lock WHERE intent_id = v_plan;
        DELETE FROM intent WHERE id = v_plan;
      END LOOP;
      INSERT INTO coin_lock (deposit_id, intent_id)
        SELECT d, v_intent FROM unnest(deposits_at(r->>'network', r->'inputs')) AS d ON CONFLICT DO NOTHING;

      v_reason := CASE WHEN r->>'kind' = ANY(p_leaving)
        THEN concat('A recovery has lost what it sent: ', r->>'kind', ' ', r->>'ref') END;
      INSERT INTO wallet_sequence AS w (network, address, next_nonce, frozen_reason, frozen_at)
        SELECT r->>'network', n.address, max(n.nonce) + 1, max(n.reason),
               CASE WHEN max(n.reason) IS NOT NULL THEN now() END
          FROM (SELECT r->>'from' AS address, coalesce((r->>'nonce')::integer, -1) AS nonce, v_reason AS reason
                UNION ALL
                SELECT a->>'address', (a->>'nonce')::integer, NULL FROM jsonb_array_elements(r->'accounts') a) n
         WHERE EXISTS (SELECT FROM address o WHERE o.network = r->>'network' AND o.address = n.address)
         GROUP BY n.address
        ON CONFLICT (network, address) DO UPDATE SET next_nonce = greatest(w.next_nonce, EXCLUDED.next_nonce),
          frozen_reason = coalesce(w.frozen_reason, EXCLUDED.frozen_reason),
          frozen_at = coalesce(w.frozen_at, EXCLUDED.frozen_at);
      v_taken := v_taken || jsonb_build_array(jsonb_build_object('kind', r->>'kind', 'ref', r->>'ref',
        'network', r->>'network', 'from', r->>'from', 'txId', r->>'txId'));
    END LOOP;
    RETURN v_taken;
  END $$;
