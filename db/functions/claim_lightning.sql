-- Writes the invoice whose money the Lightning node took and which no row is for, as one of a payment that did not wait
-- for it, where two operators have confirmed that, and so much. Its id names no preimage: the node has taken it. Called
-- by `insertClaimed`.
CREATE OR REPLACE FUNCTION claim_lightning(p_request text, p_hash text, p_payment text, p_id text) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF NOT EXISTS (SELECT FROM operator_request r WHERE r.id = p_request::bpchar AND r.kind = 'claim-lightning'
                      AND r.state = 'open' AND r.payload->>'hash' = p_hash AND r.payload->>'paymentId' = p_payment)
        OR (SELECT count(*) FROM operator_confirmation c WHERE c.request_id = p_request::bpchar) < 2 THEN
      RAISE EXCEPTION 'two operators have not confirmed the claim of %', p_hash USING ERRCODE = 'CP007';
    END IF;
    INSERT INTO lightning_invoice (id, payment_id, currency, asked_msat, expires_at, state, hash, decision, why,
        decided_at, taken_msat, over_at)
      SELECT p_id, p_payment, 'BTC_LN', u.msat / 1000 * 1000, clock_timestamp(), 'taken', u.hash, 'take', 'claimed',
             clock_timestamp(), u.msat, clock_timestamp()
        FROM lightning_unknown u
       WHERE u.kind = 'invoice' AND u.hash = p_hash AND u.state = 'done' AND u.msat >= 1000
         AND EXISTS (SELECT FROM operator_request r WHERE r.id = p_request::bpchar
                        AND r.payload->>'amount' = satoshi_in(u.msat)::text);
    IF NOT FOUND THEN RAISE EXCEPTION 'no such amount was taken for %', p_hash USING ERRCODE = 'CP007'; END IF;
  END $$;
