-- A final payment keeps its status, and every change of status has a new state_version. Fires on each update of a
-- payment.
CREATE OR REPLACE FUNCTION guard_payment() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF OLD.status IN ('SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED') AND NEW.status <> OLD.status THEN
      RAISE EXCEPTION 'payment % is final (%)', OLD.id, OLD.status USING ERRCODE = 'CP010';
    END IF;
    IF NEW.status <> OLD.status AND NEW.state_version <= OLD.state_version THEN
      RAISE EXCEPTION 'payment % changed its status without a new state_version', OLD.id USING ERRCODE = 'CP011';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE TRIGGER payment_final BEFORE UPDATE ON payment FOR EACH ROW EXECUTE FUNCTION guard_payment();
