-- Keeps wallet_total: what has come to an address for good, and what has left it for good. Fires when a deposit becomes
-- confirmed or stops being it, and when an attempt becomes final or stops being it.
CREATE OR REPLACE FUNCTION add_to_wallet(
    p_network text, p_address text, p_currency text, p_arrived numeric, p_moved numeric, p_fees numeric)
  RETURNS void LANGUAGE sql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
    INSERT INTO wallet_total AS t (network, address, currency, arrived, moved, fees)
      VALUES (p_network, p_address, p_currency, p_arrived, p_moved, p_fees)
      ON CONFLICT (network, address, currency) DO UPDATE
        SET arrived = t.arrived + EXCLUDED.arrived, moved = t.moved + EXCLUDED.moved, fees = t.fees + EXCLUDED.fees $$;

CREATE OR REPLACE FUNCTION note_arrived() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF TG_OP <> 'INSERT' AND OLD.status = 'confirmed' AND OLD.currency IS NOT NULL THEN
      PERFORM add_to_wallet(OLD.network, OLD.address, OLD.currency, -OLD.amount, 0, 0);
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.status = 'confirmed' AND NEW.currency IS NOT NULL THEN
      PERFORM add_to_wallet(NEW.network, NEW.address, NEW.currency, NEW.amount, 0, 0);
    END IF;
    RETURN NULL;
  END $$;

CREATE OR REPLACE FUNCTION note_gone() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF TG_OP <> 'INSERT' AND OLD.status = 'final' THEN
      PERFORM add_to_wallet(OLD.network, OLD.from_address, currency, 0,
                            -CASE WHEN OLD.moves IS NOT NULL THEN units_from(OLD.moves, OLD.from_address)
                                  WHEN OLD.success IS DISTINCT FROM false THEN OLD.moved_units ELSE 0 END,
                            -coalesce(OLD.fee_units, OLD.max_fee_units)) FROM intent WHERE id = OLD.intent_id;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.status = 'final' THEN
      PERFORM add_to_wallet(NEW.network, NEW.from_address, currency, 0,
                            CASE WHEN NEW.moves IS NOT NULL THEN units_from(NEW.moves, NEW.from_address)
                                 WHEN NEW.success IS DISTINCT FROM false THEN NEW.moved_units ELSE 0 END,
                            coalesce(NEW.fee_units, NEW.max_fee_units)) FROM intent WHERE id = NEW.intent_id;
    END IF;
    RETURN NULL;
  END $$;

CREATE OR REPLACE TRIGGER deposit_arrived AFTER INSERT ON deposit FOR EACH ROW
  WHEN (NEW.status = 'confirmed') EXECUTE FUNCTION note_arrived();
CREATE OR REPLACE TRIGGER deposit_changed AFTER UPDATE ON deposit FOR EACH ROW
  WHEN ((OLD.status = 'confirmed' OR NEW.status = 'confirmed')
    AND (OLD.status, OLD.amount) IS DISTINCT FROM (NEW.status, NEW.amount))
  EXECUTE FUNCTION note_arrived();
CREATE OR REPLACE TRIGGER deposit_removed AFTER DELETE ON deposit FOR EACH ROW
  WHEN (OLD.status = 'confirmed') EXECUTE FUNCTION note_arrived();

CREATE OR REPLACE TRIGGER attempt_gone AFTER INSERT ON attempt FOR EACH ROW
  WHEN (NEW.status = 'final') EXECUTE FUNCTION note_gone();
CREATE OR REPLACE TRIGGER attempt_changed AFTER UPDATE ON attempt FOR EACH ROW
  WHEN ((OLD.status = 'final' OR NEW.status = 'final')
    AND (OLD.status, OLD.success, OLD.moved_units, OLD.moves, OLD.fee_units, OLD.max_fee_units)
      IS DISTINCT FROM (NEW.status, NEW.success, NEW.moved_units, NEW.moves, NEW.fee_units, NEW.max_fee_units))
  EXECUTE FUNCTION note_gone();
CREATE OR REPLACE TRIGGER attempt_removed AFTER DELETE ON attempt FOR EACH ROW
  WHEN (OLD.status = 'final') EXECUTE FUNCTION note_gone();
