-- What a mass payout says of its fees follows its lines. Fires where the fee of a line has become higher.
CREATE OR REPLACE FUNCTION note_added_fee() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    UPDATE payout_batch
       SET fees = jsonb_set(fees, ARRAY[NEW.currency], to_jsonb(trim_scale(coalesce((fees->>NEW.currency)::numeric, 0)
                    + NEW.network_fee - OLD.network_fee)::text)),
           state_version = state_version + 1, updated_at = clock_timestamp()
     WHERE id = NEW.batch_id;
    RETURN NULL;
  END $$;

CREATE OR REPLACE TRIGGER payout_leg_fee_added AFTER UPDATE OF network_fee ON payout_leg FOR EACH ROW
  WHEN (NEW.network_fee IS DISTINCT FROM OLD.network_fee) EXECUTE FUNCTION note_added_fee();
