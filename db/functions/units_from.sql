-- What an address has given, in base units, by what a transaction of ours has moved (`attempt.moves`). Called where
-- that differs from what was signed: by note_gone, and by what compares our rows with the chain.
CREATE OR REPLACE FUNCTION units_from(p_moves jsonb, p_address text) RETURNS numeric LANGUAGE sql IMMUTABLE
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT coalesce(sum((m->>'units')::numeric), 0) FROM jsonb_array_elements(p_moves) m WHERE m->>'from' = p_address $$;
