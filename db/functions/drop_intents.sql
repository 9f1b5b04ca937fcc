-- Drops plans that nobody has signed, all of an owner or some, and frees the coins that they held. Called by
-- `dropIntents`.
CREATE OR REPLACE FUNCTION drop_intents(p_owner_kind text, p_owner_id text, p_some bigint[]) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_dead bigint[];
  BEGIN
    WITH dead AS (
      UPDATE intent SET status = 'dead', updated_at = now()
       WHERE owner_kind = p_owner_kind AND owner_id = p_owner_id AND status = 'planned'
         AND (p_some IS NULL OR id = ANY(p_some)) RETURNING id)
    SELECT array_agg(id) INTO v_dead FROM dead;
    DELETE FROM coin_lock WHERE intent_id = ANY(v_dead);
  END $$;
