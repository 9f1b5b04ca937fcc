-- What a payout line pays never changes, except that its receiver bears a higher fee (is_fee_added), nor what sends it
-- once that is signed: by it the journals of the line are checked. A signed line is no longer cancelled, unless all
-- that was signed has expired, and a final status stays. The exception: a reorganisation may take back the transaction
-- that a line ended with, completed or reverted; then it is broadcast again. No block has what is paid by Lightning.
-- Fires on each update of a payout line.
CREATE OR REPLACE FUNCTION guard_payout_leg() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF (NEW.batch_id, NEW.currency, NEW.address, NEW.destination_tag, NEW.amount, NEW.network_fee, NEW.added_fee,
         NEW.net_amount)
        IS DISTINCT FROM
        (OLD.batch_id, OLD.currency, OLD.address, OLD.destination_tag, OLD.amount, OLD.network_fee, OLD.added_fee,
         OLD.net_amount)
      AND NOT (NEW.currency <> 'BTC_LN' AND is_fee_added('leg', OLD.intent_id, to_jsonb(OLD), to_jsonb(NEW))) THEN
      RAISE EXCEPTION 'what payout leg % pays may not change', OLD.id USING ERRCODE = 'CP012';
    END IF;
    IF NEW.intent_id IS DISTINCT FROM OLD.intent_id AND OLD.status <> 'pending'
        AND EXISTS (SELECT FROM attempt WHERE intent_id = OLD.intent_id) THEN
      RAISE EXCEPTION 'payout leg % stays with what was signed for it', OLD.id USING ERRCODE = 'CP012';
    END IF;
    IF NEW.status = OLD.status THEN RETURN NEW; END IF;
    IF OLD.status IN ('completed', 'failed', 'refunded')
        AND NOT (OLD.status = 'completed' AND NEW.status = 'broadcast' AND OLD.tx_id IS NOT NULL
          AND OLD.currency <> 'BTC_LN')
        AND NOT (OLD.status = 'failed' AND NEW.status = 'broadcast' AND OLD.tx_id IS NOT NULL)
      OR OLD.status = 'pending' AND NEW.status NOT IN ('processing', 'failed', 'refunded')
      OR OLD.status IN ('processing', 'broadcast') AND NEW.status NOT IN ('broadcast', 'completed', 'failed')
        AND NOT (NEW.status = 'refunded' AND is_all_void('leg', OLD.id))
      OR NEW.state_version <= OLD.state_version THEN
      RAISE EXCEPTION 'payout leg % may not go from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'CP012';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE TRIGGER payout_leg_order BEFORE UPDATE ON payout_leg
  FOR EACH ROW EXECUTE FUNCTION guard_payout_leg();
