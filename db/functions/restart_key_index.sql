-- The next address of a network and role has the first index of its branch; those before it are hot wallets', and gas
-- wallets' (mostLanes of domain/treasury/lanes.ts). Called by `beginEpoch` and `beginSeed`, which begin a branch.
CREATE OR REPLACE FUNCTION restart_key_index(p_network text, p_role text) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    EXECUTE format('ALTER SEQUENCE %I RESTART WITH %s', format('key_index_%s_%s', p_network, p_role),
      CASE p_role WHEN 'deposit' THEN 0 ELSE 16 END);
  END $$;
