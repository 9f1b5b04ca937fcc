-- What the API may change of a payment: the choice of a currency and a cancellation, before anything has come. It
-- settles to where a wallet of its merchant did. Where nobody can pay it, for its invoice of Lightning is not there, it
-- may lose its idempotency key. CP014: anything else. Fires on each update by the role of the API.

CREATE OR REPLACE FUNCTION guard_choice() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_chosen text[] := ARRAY['amount', 'quote_amount', 'commission_amount', 'network_fee_amount', 'fee_amount',
      'net_amount', 'exchange_rate', 'rate_id', 'native_rate', 'currency', 'network', 'deposit_address',
      'destination_tag', 'settlement_address', 'custody', 'required_confirmations', 'quoted_at', 'quote_expires_at',
      'expires_at', 'status', 'state_version', 'updated_at'];
  BEGIN
    IF OLD.currency = 'BTC_LN' AND OLD.deposit_address IS NULL AND NEW.idempotency_key IS NULL THEN
      v_chosen := v_chosen || 'idempotency_key'::text;
    END IF;
    IF OLD.status NOT IN ('AWAITING_CURRENCY', 'WAITING') OR NEW.status NOT IN ('WAITING', 'CANCELLED')
        OR to_jsonb(NEW) - v_chosen IS DISTINCT FROM to_jsonb(OLD) - v_chosen
        OR (NEW.currency, NEW.settlement_address, NEW.custody)
             IS DISTINCT FROM (OLD.currency, OLD.settlement_address, OLD.custody)
           AND NOT was_settled_to(NEW.merchant_id, NEW.currency, NEW.settlement_address, NEW.custody) THEN
      RAISE EXCEPTION 'the API may not change payment % so', OLD.id USING ERRCODE = 'CP014';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE TRIGGER payment_choice BEFORE UPDATE ON payment FOR EACH ROW
  WHEN (session_user = 'cp_api') EXECUTE FUNCTION guard_choice();
