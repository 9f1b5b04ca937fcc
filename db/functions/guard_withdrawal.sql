-- What a withdrawal takes and pays never changes, except that its receiver bears a higher fee (is_fee_added). One that
-- is signed is no longer cancelled, unless all that was signed has expired, and a final status stays. The
-- exception: a reorganisation may take back the transaction that a withdrawal ended with, completed or reverted; then
-- it is broadcast again. Fires on each update of a withdrawal.
CREATE OR REPLACE FUNCTION guard_withdrawal() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF (NEW.merchant_id, NEW.currency, NEW.fee_mode, NEW.amount, NEW.network_fee, NEW.added_fee,
         NEW.gross_amount, NEW.net_amount)
        IS DISTINCT FROM
        (OLD.merchant_id, OLD.currency, OLD.fee_mode, OLD.amount, OLD.network_fee, OLD.added_fee,
         OLD.gross_amount, OLD.net_amount)
      AND NOT (NEW.fee_mode = 'deduct' AND NEW.currency <> 'BTC_LN'
        AND is_fee_added('withdrawal', NULL, to_jsonb(OLD), to_jsonb(NEW))) THEN
      RAISE EXCEPTION 'what withdrawal % takes and pays may not change', OLD.id USING ERRCODE = 'CP012';
    END IF;
    IF NEW.status = OLD.status THEN RETURN NEW; END IF;
    IF OLD.status IN ('completed', 'failed', 'cancelled')
        AND NOT (OLD.status = 'completed' AND NEW.status = 'broadcast')
        AND NOT (OLD.status = 'failed' AND NEW.status = 'broadcast' AND OLD.tx_id IS NOT NULL)
      OR OLD.status IN ('processing', 'broadcast') AND NEW.status NOT IN ('broadcast', 'completed', 'failed')
        AND NOT (NEW.status = 'cancelled' AND is_all_void('withdrawal', OLD.id))
      OR NEW.state_version <= OLD.state_version THEN
      RAISE EXCEPTION 'withdrawal % may not go from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'CP012';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE TRIGGER withdrawal_order BEFORE UPDATE ON withdrawal FOR EACH ROW EXECUTE FUNCTION guard_withdrawal();
