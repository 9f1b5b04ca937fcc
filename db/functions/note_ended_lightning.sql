-- Notes that an invoice or a payment by Lightning has ended and is still to be held against the word of the node. The
-- audit alone takes it off the list: who ends rows cannot hide one behind others. Fires when a row ends.
CREATE OR REPLACE FUNCTION note_ended_lightning() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    INSERT INTO lightning_unaudited (kind, hash) VALUES (TG_ARGV[0], NEW.hash) ON CONFLICT DO NOTHING;
    RETURN NULL;
  END $$;

CREATE OR REPLACE TRIGGER lightning_invoice_ended AFTER UPDATE ON lightning_invoice FOR EACH ROW
  WHEN (OLD.over_at IS NULL AND NEW.over_at IS NOT NULL AND NEW.hash IS NOT NULL)
  EXECUTE FUNCTION note_ended_lightning('invoice');

CREATE OR REPLACE TRIGGER lightning_invoice_claimed AFTER INSERT ON lightning_invoice FOR EACH ROW
  WHEN (NEW.over_at IS NOT NULL) EXECUTE FUNCTION note_ended_lightning('invoice');

CREATE OR REPLACE TRIGGER lightning_payment_ended AFTER UPDATE ON lightning_payment FOR EACH ROW
  WHEN (OLD.over_at IS NULL AND NEW.over_at IS NOT NULL)
  EXECUTE FUNCTION note_ended_lightning('payment');
