-- A payment begins in a first status, takes no move but those of domain/payments (`legalMoves`), and has a new
-- state_version after each. Fires on every insert and update of a payment. CP010: from a final status. CP012: any other
-- illegal move.
CREATE OR REPLACE FUNCTION guard_payment() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF TG_OP = 'INSERT' THEN
      IF NOT is_first_payment_status(NEW.status) THEN
        RAISE EXCEPTION 'payment % cannot begin as %', NEW.id, NEW.status USING ERRCODE = 'CP012';
      END IF;
      RETURN NEW;
    END IF;
    IF NEW.status = OLD.status THEN
      RETURN NEW;
    END IF;
    IF OLD.status IN ('SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED') THEN
      RAISE EXCEPTION 'payment % is final (%)', OLD.id, OLD.status USING ERRCODE = 'CP010';
    END IF;
    IF NOT is_payment_move(OLD.status, NEW.status) THEN
      RAISE EXCEPTION 'payment % cannot move from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'CP012';
    END IF;
    IF NEW.state_version <= OLD.state_version THEN
      RAISE EXCEPTION 'payment % changed its status without a new state_version', OLD.id USING ERRCODE = 'CP011';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE TRIGGER payment_final BEFORE INSERT OR UPDATE ON payment
  FOR EACH ROW EXECUTE FUNCTION guard_payment();
