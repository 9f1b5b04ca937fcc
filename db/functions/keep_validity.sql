-- The signer's own record of each transaction that expires: in no table that another role can write. Fires on each
-- insert of such an attempt. Of what a recovery had lost it bears the name that it was signed by.
CREATE OR REPLACE FUNCTION keep_validity() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    INSERT INTO signer.validity (network, tx_id, kind, ref, valid_from_height, valid_from_hash, valid_to_height,
        valid_to_ms)
      SELECT NEW.network, NEW.tx_id, coalesce(i.lost->>'kind', i.kind), coalesce(i.lost->>'ref', i.ref),
             NEW.valid_from_height, NEW.valid_from_hash, NEW.valid_to_height, NEW.valid_to_ms
        FROM intent i WHERE i.id = NEW.intent_id
      ON CONFLICT DO NOTHING;
    RETURN NEW;
  END $$;

CREATE OR REPLACE TRIGGER attempt_validity_kept AFTER INSERT ON attempt FOR EACH ROW
  WHEN (NEW.valid_from_height IS NOT NULL) EXECUTE FUNCTION keep_validity();
