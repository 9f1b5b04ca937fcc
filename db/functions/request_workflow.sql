-- The request_workflow_2 of the release before, whose processes may still run: they name no trace. Goes one release
-- later.
CREATE OR REPLACE FUNCTION request_workflow(
    p_kind text, p_workflow text, p_workflow_id text, p_args jsonb, p_signal text, p_attributes jsonb)
  RETURNS void LANGUAGE sql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT request_workflow_2(p_kind, p_workflow, p_workflow_id, p_args, p_signal, p_attributes, NULL);
  $$;
