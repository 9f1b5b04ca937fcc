-- Lets no payment of an account chain be signed from two addresses, and nothing be signed for a replaced intent but a
-- transfer of its wallet to itself on the same nonce; lets no intent be replaced without the confirmations of two
-- operators, nor be put back. Fires on each insert of an attempt, and on updates of the columns that say so.
CREATE OR REPLACE FUNCTION guard_attempt() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_replaced timestamptz; v_from text; v_nonce integer;
  BEGIN
    -- A recovery takes back what was signed before: restore_signed.
    IF NEW.status = 'sent' THEN RETURN NEW; END IF;
    SELECT replaced_at, from_address INTO v_replaced, v_from FROM intent WHERE id = NEW.intent_id;
    IF NEW.nonce IS NOT NULL AND NEW.from_address <> v_from THEN
      RAISE EXCEPTION 'intent % is sent from % alone', NEW.intent_id, v_from USING ERRCODE = 'CP008';
    END IF;
    IF v_replaced IS NULL AND NOT NEW.is_replacement THEN RETURN NEW; END IF;
    IF v_replaced IS NULL THEN
      RAISE EXCEPTION 'intent % was not replaced', NEW.intent_id USING ERRCODE = 'CP008';
    END IF;
    IF NOT NEW.is_replacement THEN
      RAISE EXCEPTION 'intent % was replaced: it is never signed again', NEW.intent_id USING ERRCODE = 'CP008';
    END IF;
    SELECT nonce INTO v_nonce FROM attempt WHERE intent_id = NEW.intent_id ORDER BY n LIMIT 1;
    IF NEW.nonce IS DISTINCT FROM v_nonce OR NEW.from_address <> v_from OR NEW.moved_units <> 0
        OR NEW.outputs <> jsonb_build_array(jsonb_build_object('address', v_from, 'units', '0')) THEN
      RAISE EXCEPTION 'intent % is replaced by a transfer to itself alone', NEW.intent_id USING ERRCODE = 'CP008';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE FUNCTION guard_replacement() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF TG_TABLE_NAME = 'attempt' THEN
      RAISE EXCEPTION 'attempt % stays what it is', OLD.id USING ERRCODE = 'CP008';
    END IF;
    IF OLD.replaced_at IS NOT NULL THEN
      RAISE EXCEPTION 'intent % stays replaced', OLD.id USING ERRCODE = 'CP008';
    END IF;
    IF NOT EXISTS (SELECT FROM operator_request r WHERE r.id = NEW.replaced_by AND r.kind = 'replace-blocker'
                      AND r.payload->>'intentId' = NEW.id::text)
        OR (SELECT count(*) FROM operator_confirmation c WHERE c.request_id = NEW.replaced_by) < 2 THEN
      RAISE EXCEPTION 'intent %: two operators have not confirmed its replacement', OLD.id USING ERRCODE = 'CP008';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE FUNCTION guard_sender() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF EXISTS (SELECT FROM attempt WHERE intent_id = OLD.id) THEN
      RAISE EXCEPTION 'intent % is signed: it is sent from % alone', OLD.id, OLD.from_address USING ERRCODE = 'CP008';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE TRIGGER intent_sender_guarded BEFORE UPDATE OF from_address ON intent FOR EACH ROW
  WHEN (OLD.from_address IS DISTINCT FROM NEW.from_address) EXECUTE FUNCTION guard_sender();
CREATE OR REPLACE TRIGGER attempt_guarded BEFORE INSERT ON attempt FOR EACH ROW EXECUTE FUNCTION guard_attempt();
CREATE OR REPLACE TRIGGER attempt_replacement_guarded BEFORE UPDATE ON attempt FOR EACH ROW
  WHEN (OLD.is_replacement IS DISTINCT FROM NEW.is_replacement) EXECUTE FUNCTION guard_replacement();
CREATE OR REPLACE TRIGGER intent_replacement_guarded BEFORE UPDATE ON intent FOR EACH ROW
  WHEN ((OLD.replaced_at, OLD.replaced_by) IS DISTINCT FROM (NEW.replaced_at, NEW.replaced_by))
  EXECUTE FUNCTION guard_replacement();
