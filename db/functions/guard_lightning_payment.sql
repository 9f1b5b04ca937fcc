-- What a payment by our Lightning node may become. It begins as what its withdrawal, refund or payout line says, is
-- called for while that is under way, ends once, and never changes otherwise. Paid needs the preimage of its hash:
-- neither a node nor a process can say so without it. Fires on every change of lightning_payment. CP001: a row is
-- deleted. CP010: it has ended. CP012: any other illegal move. CP014: it is not what that row says.
CREATE OR REPLACE FUNCTION guard_lightning_payment() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_withdrawal withdrawal; v_refund refund; v_line payout_leg;
    -- Of whichever it is for.
    v_currency text; v_status text; v_net numeric; v_fee numeric; v_role text := 'cp_payments';
    v_is_later boolean := true;
  BEGIN
    IF TG_OP = 'DELETE' THEN
      RAISE EXCEPTION 'payment % is kept for ever', OLD.hash USING ERRCODE = 'CP001';
    END IF;
    IF NEW.withdrawal_id IS NOT NULL THEN
      SELECT * INTO v_withdrawal FROM withdrawal WHERE id = NEW.withdrawal_id;
      v_currency := v_withdrawal.currency; v_status := v_withdrawal.status;
      v_net := v_withdrawal.net_amount; v_fee := v_withdrawal.network_fee;
      -- An invoice that was given comes with its withdrawal; one of a Lightning address is asked for later.
      v_is_later := v_withdrawal.address LIKE '%@%';
      v_role := CASE WHEN v_is_later THEN 'cp_api' ELSE 'cp_payments' END;
    ELSIF NEW.leg_id IS NOT NULL THEN
      SELECT * INTO v_line FROM payout_leg WHERE id = NEW.leg_id;
      v_currency := v_line.currency; v_status := v_line.status;
      v_net := v_line.net_amount; v_fee := v_line.network_fee;
      v_role := 'cp_api';
    ELSE
      SELECT * INTO v_refund FROM refund WHERE id = NEW.refund_id AND source = 'balance';
      v_currency := v_refund.currency; v_status := v_refund.status;
      v_net := v_refund.net_amount; v_fee := v_refund.network_fee;
    END IF;
    IF TG_OP = 'INSERT' THEN
      IF (v_currency = 'BTC_LN' AND v_status IN ('pending', 'awaiting_approval')
        AND v_net * 100000000000 = NEW.amount_msat AND v_fee * 100000000000 = NEW.fee_limit_msat
        AND (NEW.refund_id IS NULL OR v_refund.address = NEW.invoice)) IS NOT TRUE THEN
        RAISE EXCEPTION 'payment % is not what % says', NEW.hash, coalesce(NEW.withdrawal_id, NEW.refund_id, NEW.leg_id)
          USING ERRCODE = 'CP014';
      END IF;
      IF session_user = v_role THEN
        RAISE EXCEPTION '% may not write payment %', session_user, NEW.hash USING ERRCODE = 'CP014';
      END IF;
      -- A restored database may have forgotten the invoice that an older row was given: the signer alone knows.
      IF v_is_later AND session_user IN ('cp_api', 'cp_payments')
        AND NOT EXISTS (SELECT FROM key_epoch WHERE incarnation = database_incarnation()) THEN
        RAISE EXCEPTION 'payment % may not begin before the signer has confirmed the database', NEW.hash
          USING ERRCODE = 'CP014';
      END IF;
      IF NEW.calls <> 0 OR num_nonnulls(NEW.outcome, NEW.called_at, NEW.given_up_at, NEW.under_way_at,
          NEW.forgotten_at) > 0 THEN
        RAISE EXCEPTION 'payment % cannot begin so', NEW.hash USING ERRCODE = 'CP012';
      END IF;
      RETURN NEW;
    END IF;
    IF OLD.outcome IS NOT NULL AND NEW IS DISTINCT FROM OLD THEN
      RAISE EXCEPTION 'payment % is over (%)', OLD.hash, OLD.outcome USING ERRCODE = 'CP010';
    END IF;
    IF (NEW.hash, NEW.id, NEW.withdrawal_id, NEW.refund_id, NEW.leg_id, NEW.invoice, NEW.amount_msat,
        NEW.fee_limit_msat, NEW.expires_at)
         IS DISTINCT FROM
       (OLD.hash, OLD.id, OLD.withdrawal_id, OLD.refund_id, OLD.leg_id, OLD.invoice, OLD.amount_msat,
        OLD.fee_limit_msat, OLD.expires_at)
      OR NEW.calls NOT IN (OLD.calls, OLD.calls + 1)
      OR NEW.calls > OLD.calls
         AND (NEW.unanswered <> OLD.unanswered + 1 OR v_status IS DISTINCT FROM 'processing') THEN
      RAISE EXCEPTION 'payment % may not change so', OLD.hash USING ERRCODE = 'CP012';
    END IF;
    NEW.called_at := CASE WHEN NEW.calls > OLD.calls THEN clock_timestamp() ELSE OLD.called_at END;
    IF OLD.given_up_at IS NOT NULL AND (NEW.given_up_at IS DISTINCT FROM OLD.given_up_at OR NEW.calls > OLD.calls) THEN
      RAISE EXCEPTION 'payment % is given up', OLD.hash USING ERRCODE = 'CP012';
    END IF;
    NEW.forgotten_at := CASE WHEN NEW.forgotten_at IS NOT NULL THEN coalesce(OLD.forgotten_at, clock_timestamp()) END;
    -- Two operators say that a call which began a day ago cannot arrive any more, or that nothing is on its way of what
    -- the node has forgotten since then.
    IF OLD.given_up_at IS NULL AND NEW.given_up_at IS NOT NULL AND (NEW.outcome IS NULL AND NEW.calls = OLD.calls
        AND coalesce(OLD.forgotten_at, CASE WHEN NEW.unanswered > 0 THEN OLD.called_at END)
            < clock_timestamp() - interval '1 day'
        AND is_confirmed('fail-lightning', jsonb_build_object('hash', OLD.hash))) IS NOT TRUE THEN
      RAISE EXCEPTION 'payment % may not be given up', OLD.hash USING ERRCODE = 'CP014';
    END IF;
    IF NEW.outcome = 'paid' AND encode(sha256(decode(NEW.preimage, 'hex')), 'hex') <> NEW.hash THEN
      RAISE EXCEPTION 'payment % is not proven by this preimage', OLD.hash USING ERRCODE = 'CP012';
    END IF;
    -- A call that is still on its way would begin it again, until the node refuses an expired invoice.
    IF NEW.outcome = 'failed' AND NEW.unanswered > 0 AND NEW.expires_at > clock_timestamp()
      AND OLD.given_up_at IS NULL THEN
      RAISE EXCEPTION 'payment % may still be made', OLD.hash USING ERRCODE = 'CP012';
    END IF;
    -- What the node has forgotten may be on its way all the same, however long its invoice is over.
    IF NEW.outcome = 'failed' AND NEW.under_way_at IS NOT NULL AND OLD.given_up_at IS NULL THEN
      RAISE EXCEPTION 'payment % may be on its way', OLD.hash USING ERRCODE = 'CP012';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE TRIGGER lightning_payment_order BEFORE INSERT OR UPDATE OR DELETE ON lightning_payment
  FOR EACH ROW EXECUTE FUNCTION guard_lightning_payment();
