-- What two operators must confirm is done by the API and by the operators' shell only while such a request is open.
-- CP014: anything else. Fires on updates of fee limits, frozen wallets and stopped merchants, on deletes of freezes,
-- and on limits of the platform that let more leave than the newest ones.

-- Whether two operators have confirmed an open request of a kind whose payload has these fields.
CREATE OR REPLACE FUNCTION is_confirmed(p_kind text, p_payload jsonb) RETURNS boolean LANGUAGE sql AS $$
    SELECT EXISTS (
      SELECT FROM operator_request r
       WHERE r.kind = p_kind AND r.payload @> p_payload AND r.state = 'open' AND clock_timestamp() < r.expires_at
         AND (SELECT count(*) FROM operator_confirmation c WHERE c.request_id = r.id) >= 2);
  $$;

CREATE OR REPLACE FUNCTION guard_operator_act() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_old jsonb := to_jsonb(OLD);
    v_is_confirmed boolean;
  BEGIN
    v_is_confirmed := CASE TG_TABLE_NAME
      WHEN 'intent' THEN is_confirmed('raise-cap', jsonb_build_object('intentId', v_old->>'id'))
        OR is_confirmed('replace-blocker', jsonb_build_object('intentId', v_old->>'id'))
      WHEN 'wallet_sequence' THEN
        is_confirmed('unfreeze-wallet', jsonb_build_object('network', v_old->>'network', 'address', v_old->>'address'))
      WHEN 'merchant' THEN is_confirmed('lift-hold', jsonb_build_object('merchantId', v_old->>'id'))
      WHEN 'egress_freeze' THEN is_confirmed('unfreeze', jsonb_build_object('currency', v_old->>'currency'))
      ELSE false END;
    IF NOT v_is_confirmed THEN
      RAISE EXCEPTION 'two operators have not confirmed this change of %', TG_TABLE_NAME USING ERRCODE = 'CP014';
    END IF;
    RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
  END $$;

CREATE OR REPLACE TRIGGER intent_limits_confirmed BEFORE UPDATE OF max_unit_price, fee_budget ON intent FOR EACH ROW
  WHEN (session_user IN ('cp_api', 'cp_operator')) EXECUTE FUNCTION guard_operator_act();
CREATE OR REPLACE TRIGGER wallet_unfrozen_confirmed BEFORE UPDATE OF frozen_reason ON wallet_sequence FOR EACH ROW
  WHEN (session_user IN ('cp_api', 'cp_operator') AND NEW.frozen_reason IS NULL AND OLD.frozen_reason IS NOT NULL)
  EXECUTE FUNCTION guard_operator_act();
CREATE OR REPLACE TRIGGER merchant_hold_confirmed BEFORE UPDATE OF held_because ON merchant FOR EACH ROW
  WHEN (session_user IN ('cp_api', 'cp_operator') AND NEW.held_because IS NULL AND OLD.held_because IS NOT NULL)
  EXECUTE FUNCTION guard_operator_act();
CREATE OR REPLACE TRIGGER egress_unfrozen_confirmed BEFORE DELETE ON egress_freeze FOR EACH ROW
  WHEN (session_user IN ('cp_api', 'cp_operator')) EXECUTE FUNCTION guard_operator_act();

-- Whoever sets the limits of a scope next waits for this transaction: it is compared with the newest of them.
CREATE OR REPLACE FUNCTION guard_looser_limit() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_old egress_limit;
  BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('egress_limit/' || NEW.scope));
    SELECT * INTO v_old FROM egress_limit WHERE scope = NEW.scope ORDER BY id DESC LIMIT 1;
    IF (coalesce(NEW.daily_usd, 'Infinity') > coalesce(v_old.daily_usd, 'Infinity')
        OR coalesce(NEW.hourly_count::numeric, 'Infinity') > coalesce(v_old.hourly_count::numeric, 'Infinity')
        OR coalesce(NEW.approval_usd, 'Infinity') > coalesce(v_old.approval_usd, 'Infinity'))
      AND NOT is_confirmed('loosen-limits',
        jsonb_build_object('merchantId', regexp_replace(NEW.scope, '^platform/', '')))
    THEN
      RAISE EXCEPTION 'two operators have not confirmed looser limits of %', NEW.scope USING ERRCODE = 'CP014';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE TRIGGER egress_limit_loosened BEFORE INSERT ON egress_limit FOR EACH ROW
  WHEN (session_user IN ('cp_api', 'cp_operator') AND NEW.scope LIKE 'platform%')
  EXECUTE FUNCTION guard_looser_limit();
