-- Writes every state of a settlement wallet to its history. Fires on each insert and update of a merchant_wallet.
CREATE OR REPLACE FUNCTION note_wallet() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    INSERT INTO merchant_wallet_history (wallet_id, settlement_address, destination_tag, custody, is_active)
      VALUES (NEW.id, NEW.settlement_address, NEW.destination_tag, NEW.custody, NEW.is_active);
    RETURN NULL;
  END $$;

CREATE OR REPLACE TRIGGER merchant_wallet_noted AFTER INSERT OR UPDATE ON merchant_wallet
  FOR EACH ROW EXECUTE FUNCTION note_wallet();
