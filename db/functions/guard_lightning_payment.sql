-- What a payment by our Lightning node may become. It begins as what its withdrawal says, is called for while that is
-- under way, ends once, and never changes otherwise. Paid needs the preimage of its hash: neither a node nor a process
-- can say so without it. Fires on every change of lightning_payment. CP001: a row is deleted. CP010: it has ended.
-- CP012: any other illegal move. CP014: it is not what its withdrawal says.
CREATE OR REPLACE FUNCTION guard_lightning_payment() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_withdrawal withdrawal;
  BEGIN
    IF TG_OP = 'DELETE' THEN
      RAISE EXCEPTION 'payment % is kept for ever', OLD.hash USING ERRCODE = 'CP001';
    END IF;
    SELECT * INTO v_withdrawal FROM withdrawal WHERE id = NEW.withdrawal_id;
    IF TG_OP = 'INSERT' THEN
      IF v_withdrawal.currency <> 'BTC_LN' OR v_withdrawal.status NOT IN ('pending', 'awaiting_approval')
        OR v_withdrawal.net_amount * 100000000000 <> NEW.amount_msat
        OR v_withdrawal.network_fee * 100000000000 <> NEW.fee_limit_msat THEN
        RAISE EXCEPTION 'payment % is not what withdrawal % says', NEW.hash, NEW.withdrawal_id USING ERRCODE = 'CP014';
      END IF;
      -- An invoice that was given comes with its withdrawal; one of a Lightning address is asked for later.
      IF session_user = (CASE WHEN v_withdrawal.address LIKE '%@%' THEN 'cp_api' ELSE 'cp_payments' END) THEN
        RAISE EXCEPTION '% may not write payment %', session_user, NEW.hash USING ERRCODE = 'CP014';
      END IF;
      IF NEW.calls <> 0 OR NEW.outcome IS NOT NULL THEN
        RAISE EXCEPTION 'payment % cannot begin so', NEW.hash USING ERRCODE = 'CP012';
      END IF;
      RETURN NEW;
    END IF;
    IF OLD.outcome IS NOT NULL AND NEW IS DISTINCT FROM OLD THEN
      RAISE EXCEPTION 'payment % is over (%)', OLD.hash, OLD.outcome USING ERRCODE = 'CP010';
    END IF;
    IF (NEW.hash, NEW.id, NEW.withdrawal_id, NEW.invoice, NEW.amount_msat, NEW.fee_limit_msat, NEW.expires_at)
         IS DISTINCT FROM
       (OLD.hash, OLD.id, OLD.withdrawal_id, OLD.invoice, OLD.amount_msat, OLD.fee_limit_msat, OLD.expires_at)
      OR NEW.calls NOT IN (OLD.calls, OLD.calls + 1)
      OR NEW.calls > OLD.calls
         AND (NEW.unanswered <> OLD.unanswered + 1 OR v_withdrawal.status IS DISTINCT FROM 'processing') THEN
      RAISE EXCEPTION 'payment % may not change so', OLD.hash USING ERRCODE = 'CP012';
    END IF;
    IF NEW.outcome = 'paid' AND encode(sha256(decode(NEW.preimage, 'hex')), 'hex') <> NEW.hash THEN
      RAISE EXCEPTION 'payment % is not proven by this preimage', OLD.hash USING ERRCODE = 'CP012';
    END IF;
    -- A call that is still on its way would begin it again, until the node refuses an expired invoice.
    IF NEW.outcome = 'failed' AND NEW.unanswered > 0 AND NEW.expires_at > clock_timestamp() THEN
      RAISE EXCEPTION 'payment % may still be made', OLD.hash USING ERRCODE = 'CP012';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE TRIGGER lightning_payment_order BEFORE INSERT OR UPDATE OR DELETE ON lightning_payment
  FOR EACH ROW EXECUTE FUNCTION guard_lightning_payment();
