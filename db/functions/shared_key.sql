-- The key of the account that all payments of a network share where it has destination tags: that of the treasury, of
-- the newest seed, whose first address the signer has registered. Called wherever a receiver of such a network is
-- drawn.
CREATE OR REPLACE FUNCTION shared_key(p_network text) RETURNS TABLE (xpub text, branch integer) LANGUAGE sql STABLE
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT k.xpub, coalesce((SELECT max(s.from_branch) FROM seed_key s
                            WHERE s.network = k.network AND s.role = k.role), 0)
    FROM extended_key k WHERE k.network = p_network AND k.role = 'treasury'
$$;
