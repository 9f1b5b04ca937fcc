-- Gives a deposit that came to an address which many share, without a tag of ours, to a payment there, or one that was
-- found by its balance to the payment of its address, where two operators have confirmed that. Called by
-- `claimDeposit`.
CREATE OR REPLACE FUNCTION claim_deposit(p_request text, p_deposit bigint, p_payment text) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF NOT EXISTS (SELECT FROM operator_request r WHERE r.id = p_request::bpchar AND r.kind = 'claim-deposit'
                      AND r.state = 'open' AND r.payload->>'depositId' = p_deposit::text
                      AND r.payload->>'paymentId' = p_payment)
        OR (SELECT count(*) FROM operator_confirmation c WHERE c.request_id = p_request::bpchar) < 2 THEN
      RAISE EXCEPTION 'two operators have not confirmed the claim of deposit %', p_deposit USING ERRCODE = 'CP007';
    END IF;
    UPDATE deposit d SET payment_id = a.payment_id, tag = a.tag, allocation = NULL
      FROM payment p JOIN address a ON a.payment_id = p.id AND a.role = 'deposit'
     WHERE p.id = p_payment::bpchar AND d.id = p_deposit AND d.network = a.network AND d.address = a.address
       AND (a.network = p.network AND a.address = p.deposit_address AND a.tag = p.destination_tag
            OR a.tag = '' AND d.found_by = 'balance')
       AND d.tag = '' AND d.payment_id IS NULL AND d.allocation = 'unclaimed';
    IF NOT FOUND THEN RAISE EXCEPTION 'deposit % is not unclaimed', p_deposit USING ERRCODE = 'CP007'; END IF;
  END $$;
