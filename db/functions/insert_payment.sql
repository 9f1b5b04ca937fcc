-- The insert_payment_2 of the release before, whose processes may still run: they name no trace. Goes one release
-- later.
CREATE OR REPLACE FUNCTION insert_payment(
    p payment, p_metadata text, p_cause text, p_details jsonb, p_attributes jsonb)
  RETURNS boolean LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    RETURN insert_payment_2(p, p_metadata, p_cause, p_details, p_attributes, NULL);
  END $$;
