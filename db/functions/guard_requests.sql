-- What the API writes must be what it may ask for: an address waits for the merchant's cooling-off, the cooling-off is
-- not shortened at once, a looser limit waits for a day, and what was removed stays removed. CP014: anything else.
-- Fires on writes to the whitelist, to limits and to merchants. Those who may write as the owner are not bound.
CREATE OR REPLACE FUNCTION guard_whitelist() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF TG_OP = 'UPDATE' AND OLD.removed_at IS NOT NULL AND NEW.removed_at IS DISTINCT FROM OLD.removed_at
      OR TG_OP = 'INSERT' AND NEW.active_at < (
        SELECT greatest(now() + make_interval(hours => whitelist_delay_hours), whitelist_not_before)
          FROM merchant WHERE id = NEW.merchant_id) THEN
      RAISE EXCEPTION 'whitelist entry % does not wait for the cooling-off, or was removed', NEW.id
        USING ERRCODE = 'CP014';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE FUNCTION guard_limit() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NEW.scope NOT LIKE 'platform%' AND NEW.active_at < now() + interval '24 hours' THEN
      RAISE EXCEPTION 'a limit of % counts at once', NEW.scope USING ERRCODE = 'CP014';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE FUNCTION guard_cooling_off() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NEW.whitelist_delay_hours < OLD.whitelist_delay_hours
        AND coalesce(NEW.whitelist_not_before < now() + make_interval(hours => OLD.whitelist_delay_hours), true)
      OR OLD.whitelist_not_before IS NOT NULL
        AND coalesce(NEW.whitelist_not_before < OLD.whitelist_not_before, true) THEN
      RAISE EXCEPTION 'the cooling-off of merchant % may not be shortened at once', NEW.id USING ERRCODE = 'CP014';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE TRIGGER whitelist_entry_waits BEFORE INSERT OR UPDATE ON whitelist_entry FOR EACH ROW
  WHEN (session_user = 'cp_api') EXECUTE FUNCTION guard_whitelist();
CREATE OR REPLACE TRIGGER egress_limit_waits BEFORE INSERT ON egress_limit FOR EACH ROW
  WHEN (session_user = 'cp_api') EXECUTE FUNCTION guard_limit();
CREATE OR REPLACE TRIGGER merchant_cooling_off BEFORE UPDATE OF whitelist_delay_hours, whitelist_not_before ON merchant
  FOR EACH ROW WHEN (session_user = 'cp_api') EXECUTE FUNCTION guard_cooling_off();
