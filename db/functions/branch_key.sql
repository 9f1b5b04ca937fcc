-- The extended public key that addresses of a branch are derived from; null where none is registered. Called wherever
-- an address is derived again.
CREATE OR REPLACE FUNCTION branch_key(p_network text, p_role text, p_branch integer) RETURNS text
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT coalesce(
    (SELECT s.xpub FROM seed_key s WHERE s.network = p_network AND s.role = p_role AND s.from_branch <= p_branch
      ORDER BY s.from_branch DESC LIMIT 1),
    (SELECT k.xpub FROM extended_key k WHERE k.network = p_network AND k.role = p_role
        AND NOT EXISTS (SELECT FROM seed_key s WHERE s.network = k.network AND s.role = k.role)))
$$;
