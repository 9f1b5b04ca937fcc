-- The emit_event_3 of the release before, whose processes may still run: they name no trace. Goes one release later.
CREATE OR REPLACE FUNCTION emit_event_2(
    p_merchant text, p_id text, p_type text, p_entity text, p_version integer, p_data text, p_previous jsonb,
    p_delivery_id text, p_url text, p_open_delta integer, p_request text, p_follows text)
  RETURNS text LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    RETURN (SELECT e.request_id FROM emit_event_3(p_merchant, p_id, p_type, p_entity, p_version, p_data, p_previous,
      p_delivery_id, p_url, p_open_delta, p_request, p_follows, NULL) e);
  END $$;
