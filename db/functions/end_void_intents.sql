-- Whether transactions were signed of an intent, and no block can have any of them: all have expired by the rows and by
-- the signer's own record, in which only the signer notes that. False of chains whose transactions never expire.
CREATE OR REPLACE FUNCTION is_all_void(p_kind text, p_ref text) RETURNS boolean LANGUAGE sql STABLE
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT coalesce((SELECT bool_and(a.status = 'expired') FROM intent i JOIN attempt a ON a.intent_id = i.id
                    WHERE i.kind = p_kind AND i.ref = p_ref), false)
     AND coalesce((SELECT bool_and(absence IS NOT NULL) FROM signer.validity
                    WHERE kind = p_kind AND ref = p_ref), false)
  $$;

-- Ends those of these intents that are void, and returns their refs. The caller has locked the rows that they are for,
-- as the signer does before it signs. Called by `endVoid`.
CREATE OR REPLACE FUNCTION end_void_intents(p_kind text, p_refs text[]) RETURNS text[] LANGUAGE sql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH ended AS (
    UPDATE intent SET status = 'dead', updated_at = now()
     WHERE kind = p_kind AND ref = ANY(p_refs) AND is_all_void(kind, ref) RETURNING ref)
  SELECT coalesce(array_agg(ref ORDER BY ref), '{}') FROM ended $$;
