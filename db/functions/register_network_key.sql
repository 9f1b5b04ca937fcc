-- Registers the extended public key of a network and role, once, with the sequence that its indexes are drawn from:
-- that of p_sequence_of, the network whose addresses it has. The signer alone may call it. Returns the key that is
-- registered, which another seed may have registered before. Called by `registerKeys`.
CREATE OR REPLACE FUNCTION register_network_key(
    p_network text, p_role text, p_xpub text, p_first integer, p_sequence_of text) RETURNS text
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_sequence text := format('key_index_%s_%s', p_sequence_of, p_role);
  BEGIN
    IF p_network !~ '^[a-z]+$' OR p_sequence_of !~ '^[a-z]+$' OR p_role NOT IN ('deposit', 'treasury', 'gas') THEN
      RAISE EXCEPTION 'there is no key of % %', p_network, p_role USING ERRCODE = 'check_violation';
    END IF;
    INSERT INTO extended_key (network, role, xpub, sequence_of) VALUES (p_network, p_role, p_xpub, p_sequence_of)
      ON CONFLICT DO NOTHING;
    IF FOUND AND p_role = 'deposit' THEN
      -- Addresses that payers know already are the same account here.
      INSERT INTO address (network, address, role, branch, key_index, currency, merchant_id, payment_id, is_elsewhere)
        SELECT DISTINCT ON (a.address) p_network, a.address, a.role, a.branch, a.key_index, a.currency, a.merchant_id,
               a.payment_id, true
          FROM address a JOIN extended_key k ON k.network = a.network AND k.role = a.role
         WHERE k.sequence_of = p_sequence_of AND a.network <> p_network AND a.role = 'deposit' AND a.tag = ''
         ORDER BY a.address, a.is_elsewhere;
    END IF;
    IF to_regclass(quote_ident(v_sequence)) IS NULL THEN
      EXECUTE format('CREATE SEQUENCE %I MINVALUE 0 START %s', v_sequence, p_first);
      EXECUTE format('GRANT USAGE ON SEQUENCE %I TO cp_api, cp_payments', v_sequence);
    END IF;
    RETURN (SELECT xpub FROM extended_key
             WHERE network = p_network AND role = p_role AND sequence_of = p_sequence_of);
  END $$;
