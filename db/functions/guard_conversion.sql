-- A final conversion stays as it is, and a debited one completes or fails. Fires on each update of a conversion.
CREATE OR REPLACE FUNCTION guard_conversion() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF OLD.status = 'completed' AND NEW.credit_amount IS DISTINCT FROM OLD.credit_amount THEN
      RAISE EXCEPTION 'conversion % is completed', OLD.id USING ERRCODE = 'CP013';
    END IF;
    IF NEW.status = OLD.status THEN RETURN NEW; END IF;
    IF OLD.status IN ('completed', 'failed', 'cancelled') OR NEW.status = 'initializing'
      OR OLD.status = 'pending' AND NEW.status NOT IN ('processing', 'completed', 'failed')
      OR OLD.status = 'processing' AND NEW.status NOT IN ('completed', 'failed')
      OR OLD.is_debited AND NOT NEW.is_debited OR NEW.state_version <= OLD.state_version THEN
      RAISE EXCEPTION 'conversion % may not go from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'CP013';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE TRIGGER conversion_order BEFORE UPDATE ON conversion
  FOR EACH ROW EXECUTE FUNCTION guard_conversion();
