-- Puts a request to start or signal a workflow into the outbox, and wakes the dispatcher. `p_traceparent`: the trace
-- under way. Called by `requestStart`, `requestSignal` and activities/temporal/restart.ts.
CREATE OR REPLACE FUNCTION request_workflow_2(
    p_kind text, p_workflow text, p_workflow_id text, p_args jsonb, p_signal text, p_attributes jsonb,
    p_traceparent text)
  RETURNS void LANGUAGE sql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
    INSERT INTO temporal_request (kind, workflow, workflow_id, args, signal, attributes, traceparent)
      VALUES (p_kind, p_workflow, p_workflow_id, p_args, p_signal, p_attributes, p_traceparent);
    SELECT pg_notify('temporal_request', '');
  $$;
