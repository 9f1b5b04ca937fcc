-- Refuses what no request of operators may do: change what was asked, go on after its end or its expiry, or be executed
-- without the confirmations of two operators. Fires on each insert, update and delete of an operator_request, and on
-- each insert of an operator_confirmation.
CREATE OR REPLACE FUNCTION guard_operator_request() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF TG_OP = 'DELETE' THEN
      RAISE EXCEPTION 'requests of operators are never deleted' USING ERRCODE = 'CP001';
    END IF;
    IF TG_OP = 'INSERT' THEN
      IF NEW.state <> 'open' THEN RAISE EXCEPTION 'a request starts open' USING ERRCODE = 'CP007'; END IF;
      RETURN NEW;
    END IF;
    IF OLD.state <> 'open'
        OR (NEW.id, NEW.kind, NEW.payload, NEW.summary, NEW.reason, NEW.asked_by, NEW.asked_by_name, NEW.asked_at,
            NEW.expires_at)
          IS DISTINCT FROM
           (OLD.id, OLD.kind, OLD.payload, OLD.summary, OLD.reason, OLD.asked_by, OLD.asked_by_name, OLD.asked_at,
            OLD.expires_at) THEN
      RAISE EXCEPTION 'request % may not change', OLD.id USING ERRCODE = 'CP007';
    END IF;
    IF NEW.state = 'executed' AND (clock_timestamp() >= OLD.expires_at
        OR (SELECT count(*) FROM operator_confirmation c WHERE c.request_id = NEW.id) < 2) THEN
      RAISE EXCEPTION 'request % is expired, or two operators have not confirmed it', OLD.id USING ERRCODE = 'CP007';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE FUNCTION guard_operator_confirmation() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF NOT EXISTS (SELECT FROM operator_request r
                    WHERE r.id = NEW.request_id AND r.state = 'open' AND clock_timestamp() < r.expires_at)
        OR NOT EXISTS (SELECT FROM dashboard_user u JOIN user_session s ON s.user_id = u.id
                        WHERE u.id = NEW.user_id AND s.id = NEW.session_id AND u.role = 'super_admin' AND u.is_active
                          AND u.removed_at IS NULL) THEN
      RAISE EXCEPTION 'request % is not confirmed by this session', NEW.request_id USING ERRCODE = 'CP007';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE TRIGGER operator_request_guarded BEFORE INSERT OR UPDATE OR DELETE ON operator_request
  FOR EACH ROW EXECUTE FUNCTION guard_operator_request();
CREATE OR REPLACE TRIGGER operator_confirmation_guarded BEFORE INSERT ON operator_confirmation
  FOR EACH ROW EXECUTE FUNCTION guard_operator_confirmation();
