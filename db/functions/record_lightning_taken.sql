-- Notes what the node says that it took for an invoice, once; the caller books it in the same transaction. Returns
-- whether this call noted it. CP003: it was taken with another amount. Called by `bookTaken`.
CREATE OR REPLACE FUNCTION record_lightning_taken(p_id bpchar, p_msat bigint) RETURNS boolean LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_row lightning_invoice;
  BEGIN
    PERFORM FROM payment WHERE id = (SELECT payment_id FROM lightning_invoice WHERE id = p_id) FOR UPDATE;
    SELECT * INTO STRICT v_row FROM lightning_invoice WHERE id = p_id FOR UPDATE;
    IF v_row.state = 'taken' THEN
      IF v_row.taken_msat <> p_msat THEN
        RAISE EXCEPTION 'invoice % was taken with % msat, not %', p_id, v_row.taken_msat, p_msat
          USING ERRCODE = 'CP003';
      END IF;
      RETURN false;
    END IF;
    UPDATE lightning_invoice SET state = 'taken', taken_msat = p_msat, over_at = clock_timestamp() WHERE id = p_id;
    RETURN true;
  END $$;
