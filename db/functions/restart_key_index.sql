-- The next address of a network and role has the first index of its branch. Called by `beginEpoch`, which begins one.
CREATE OR REPLACE FUNCTION restart_key_index(p_network text, p_role text) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    EXECUTE format('ALTER SEQUENCE %I RESTART', format('key_index_%s_%s', p_network, p_role));
  END $$;
