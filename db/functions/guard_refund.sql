-- What a refund takes and pays never changes, except that its receiver bears a higher fee (is_fee_added). One that is
-- signed is no longer cancelled, unless all that was signed has expired, and a final status stays. The
-- exception: a reorganisation may take back the transaction that a refund ended with, completed or reverted; then it is
-- broadcast again. What is paid by Lightning keeps the invoice that its payer has named, for ever: one refund, one
-- invoice. Fires on each update of a refund. CP012: anything else.
CREATE OR REPLACE FUNCTION guard_refund() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF (NEW.merchant_id, NEW.currency, NEW.fee_bearer, NEW.amount, NEW.network_fee, NEW.added_fee,
         NEW.gross_amount, NEW.net_amount)
        IS DISTINCT FROM
        (OLD.merchant_id, OLD.currency, OLD.fee_bearer, OLD.amount, OLD.network_fee, OLD.added_fee,
         OLD.gross_amount, OLD.net_amount)
      AND NOT (NEW.fee_bearer = 'payer' AND is_fee_added('refund', NULL, to_jsonb(OLD), to_jsonb(NEW))) THEN
      RAISE EXCEPTION 'what refund % takes and pays may not change', OLD.id USING ERRCODE = 'CP012';
    END IF;
    IF OLD.currency = 'BTC_LN' AND OLD.address IS NOT NULL
      AND (NEW.address IS DISTINCT FROM OLD.address OR NEW.status = 'awaiting_address') THEN
      RAISE EXCEPTION 'refund % keeps its invoice', OLD.id USING ERRCODE = 'CP012';
    END IF;
    IF NEW.status = OLD.status THEN RETURN NEW; END IF;
    IF OLD.status IN ('completed', 'failed', 'cancelled')
        AND NOT (OLD.status = 'completed' AND NEW.status = 'broadcast')
        AND NOT (OLD.status = 'failed' AND NEW.status = 'broadcast' AND OLD.tx_id IS NOT NULL)
      OR OLD.status IN ('processing', 'broadcast') AND NEW.status NOT IN ('broadcast', 'completed', 'failed')
        AND NOT (NEW.status = 'cancelled' AND is_all_void('refund', OLD.id))
      OR NEW.state_version <= OLD.state_version THEN
      RAISE EXCEPTION 'refund % may not go from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'CP012';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE TRIGGER refund_order BEFORE UPDATE ON refund FOR EACH ROW EXECUTE FUNCTION guard_refund();
