-- The emit_event_3 of the release before, whose processes may still run: they name no request. Goes one release later.
CREATE OR REPLACE FUNCTION emit_event(
    p_merchant text, p_id text, p_type text, p_entity text, p_version integer, p_data text, p_previous jsonb,
    p_delivery_id text, p_url text, p_open_delta integer)
  RETURNS bigint LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    PERFORM emit_event_3(p_merchant, p_id, p_type, p_entity, p_version, p_data, p_previous, p_delivery_id, p_url,
      p_open_delta, NULL, NULL, NULL);
    RETURN (SELECT e.seq FROM event e WHERE e.id = p_id::char(24));
  END $$;
