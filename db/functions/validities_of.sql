-- What the signer has signed of these intents that expires, oldest first, as an array of its rows with the intent of
-- each. The signer alone may call it. Called by `validitiesOf`.
CREATE OR REPLACE FUNCTION validities_of(p_intents bigint[]) RETURNS jsonb LANGUAGE sql STABLE
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT coalesce(jsonb_agg(jsonb_build_object('intentId', i.id::text, 'txId', v.tx_id, 'from', v.valid_from_height,
             'hash', v.valid_from_hash, 'toHeight', v.valid_to_height, 'toMs', v.valid_to_ms, 'absence', v.absence,
             'ageSeconds', floor(extract(epoch FROM clock_timestamp() - v.signed_at)))
           ORDER BY v.signed_at, v.tx_id), '[]')
    FROM intent i JOIN signer.validity v ON v.kind = i.kind AND v.ref = i.ref AND v.network = i.network
   WHERE i.id = ANY(p_intents) $$;
