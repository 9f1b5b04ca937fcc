-- Decides about the money of an invoice, once and for ever, and returns what is decided: take or return. The node is
-- told after the commit. Money that the payment does not wait for is sent back, whoever asked for what; only what the
-- node has taken already is taken all the same. To take is for who has looked at the node: CP014 for the API and the
-- payments worker, which may send back alone. CP015 for the same two: nobody has looked since a recovery. Called by
-- `stepHeld`, and by `offerInvoice` for an older invoice.
CREATE OR REPLACE FUNCTION decide_lightning(p_id bpchar, p_decision text, p_why text) RETURNS text LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_row lightning_invoice; v_is_wanted boolean; v_is_taken boolean;
  BEGIN
    IF p_decision = 'take' AND session_user IN ('cp_api', 'cp_payments') THEN
      RAISE EXCEPTION 'only who asks the node has money of invoice % taken', p_id USING ERRCODE = 'CP014';
    END IF;
    PERFORM FROM payment WHERE id = (SELECT payment_id FROM lightning_invoice WHERE id = p_id) FOR UPDATE;
    SELECT * INTO STRICT v_row FROM lightning_invoice WHERE id = p_id FOR UPDATE;
    IF v_row.decision IS NOT NULL THEN RETURN v_row.decision; END IF;
    IF session_user IN ('cp_api', 'cp_payments') AND is_lightning_in_doubt(v_row.payment_id) THEN
      RAISE EXCEPTION 'the node may have money of payment % that a recovery has lost', v_row.payment_id
        USING ERRCODE = 'CP015';
    END IF;
    v_is_wanted := p_decision = 'take' AND wants_lightning(p_id);
    v_is_taken := p_decision = 'take' AND (v_is_wanted OR p_why = 'taken already');
    UPDATE lightning_invoice
       SET state = CASE WHEN v_is_taken THEN 'taking' ELSE 'cancelling' END,
           decision = CASE WHEN v_is_taken THEN 'take' ELSE 'return' END,
           why = CASE WHEN p_decision = 'take' AND NOT v_is_taken THEN 'not wanted' ELSE p_why END,
           is_for_payment = v_is_wanted, decided_at = clock_timestamp()
     WHERE id = p_id RETURNING * INTO v_row;
    RETURN v_row.decision;
  END $$;
