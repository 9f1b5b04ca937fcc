-- Registers the extended public key of a network and role, once, with the sequence that its indexes are drawn from. The
-- signer alone may call it. Returns the key that is registered, which another seed may have registered before. Called
-- by `registerKeys`.
CREATE OR REPLACE FUNCTION register_key(p_network text, p_role text, p_xpub text, p_first integer) RETURNS text
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_sequence text := format('key_index_%s_%s', p_network, p_role);
  BEGIN
    IF p_network !~ '^[a-z]+$' OR p_role NOT IN ('deposit', 'treasury', 'gas') THEN
      RAISE EXCEPTION 'there is no key of % %', p_network, p_role USING ERRCODE = 'check_violation';
    END IF;
    INSERT INTO extended_key (network, role, xpub) VALUES (p_network, p_role, p_xpub) ON CONFLICT DO NOTHING;
    IF to_regclass(quote_ident(v_sequence)) IS NULL THEN
      EXECUTE format('CREATE SEQUENCE %I MINVALUE 0 START %s', v_sequence, p_first);
      EXECUTE format('GRANT USAGE ON SEQUENCE %I TO cp_api, cp_payments', v_sequence);
    END IF;
    RETURN (SELECT xpub FROM extended_key WHERE network = p_network AND role = p_role);
  END $$;
