-- Registers the extended public keys of a network and role: one of each seed, with the first branch that is derived
-- from it, the newest last. What is registered already must be the beginning of p_keys; a seed is added and never
-- changed. The signer alone may call it. Returns whether it is registered so now; false where another seed has
-- registered before. Called by `registerKeys`.
CREATE OR REPLACE FUNCTION register_network_keys(
    p_network text, p_role text, p_first integer, p_sequence_of text, p_keys jsonb) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_newest text := p_keys->-1->>'xpub';
  BEGIN
    IF v_newest IS NULL OR (p_keys->0->>'from')::integer IS DISTINCT FROM 0 OR EXISTS (
         SELECT FROM (SELECT (k->>'from')::integer AS at, lag((k->>'from')::integer) OVER (ORDER BY n) AS before
                        FROM jsonb_array_elements(p_keys) WITH ORDINALITY AS one (k, n)) spans
          WHERE at IS NULL OR at <= before) THEN
      RAISE EXCEPTION 'the keys of % % do not begin one after another', p_network, p_role
        USING ERRCODE = 'check_violation';
    END IF;
    -- One that a signer of the release before has registered.
    INSERT INTO seed_key (network, role, from_branch, xpub)
      SELECT k.network, k.role, 0, k.xpub FROM extended_key k
       WHERE k.network = p_network AND k.role = p_role
         AND NOT EXISTS (SELECT FROM seed_key s WHERE s.network = k.network AND s.role = k.role);
    IF EXISTS (
         SELECT FROM (SELECT s.from_branch, s.xpub, row_number() OVER (ORDER BY s.from_branch) AS n FROM seed_key s
                       WHERE s.network = p_network AND s.role = p_role) known
          WHERE (known.from_branch, known.xpub)
                IS DISTINCT FROM ((p_keys->(n::integer - 1)->>'from')::integer, p_keys->(n::integer - 1)->>'xpub')) THEN
      RETURN false;
    END IF;
    -- NULL where the sequence is another.
    IF register_network_key(p_network, p_role, v_newest, p_first, p_sequence_of) IS NULL THEN
      RETURN false;
    END IF;
    INSERT INTO seed_key (network, role, from_branch, xpub)
      SELECT p_network, p_role, (k->>'from')::integer, k->>'xpub' FROM jsonb_array_elements(p_keys) k
      ON CONFLICT DO NOTHING;
    UPDATE extended_key SET xpub = v_newest WHERE network = p_network AND role = p_role AND xpub <> v_newest;
    RETURN true;
  END $$;
