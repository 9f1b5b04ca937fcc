-- Ends an invoice for which no money came, by the node's word. Returns whether this call ended it. Called by
-- `stepHeld`.
CREATE OR REPLACE FUNCTION end_lightning(p_id bpchar) RETURNS boolean LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    UPDATE lightning_invoice SET state = 'cancelled', over_at = clock_timestamp() WHERE id = p_id AND over_at IS NULL;
    RETURN FOUND;
  END $$;
