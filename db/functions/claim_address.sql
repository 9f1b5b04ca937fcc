-- Gives an address that a recovery has forgotten to a payment, with what came to it, where two operators have confirmed
-- that. Returns the deposits. Called by `claimAddress`.
CREATE OR REPLACE FUNCTION claim_address(p_request text, p_network text, p_address text, p_payment text)
  RETURNS SETOF bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF NOT EXISTS (SELECT FROM operator_request r WHERE r.id = p_request::bpchar AND r.kind = 'claim-address'
                      AND r.state = 'open' AND r.payload->>'network' = p_network AND r.payload->>'address' = p_address
                      AND r.payload->>'paymentId' = p_payment)
        OR (SELECT count(*) FROM operator_confirmation c WHERE c.request_id = p_request::bpchar) < 2 THEN
      RAISE EXCEPTION 'two operators have not confirmed the claim of %', p_address USING ERRCODE = 'CP007';
    END IF;
    UPDATE address a SET payment_id = p.id, merchant_id = p.merchant_id, currency = p.currency FROM payment p
     WHERE p.id = p_payment::bpchar AND a.network = p_network AND a.address = p_address AND a.role = 'deposit'
       AND a.payment_id IS NULL AND NOT EXISTS (
         SELECT FROM address o WHERE o.network = p_network AND o.address = p_address AND o.tag <> '');
    IF NOT FOUND THEN RAISE EXCEPTION '% is not forgotten', p_address USING ERRCODE = 'CP007'; END IF;
    RETURN QUERY UPDATE deposit d SET payment_id = p_payment::bpchar, allocation = nullif(d.allocation, 'unclaimed')
      WHERE d.network = p_network AND d.address = p_address RETURNING d.id;
  END $$;
