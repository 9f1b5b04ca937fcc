-- What an invoice of Lightning may become, and what its payment may not while the money is being taken. A row begins as
-- planned, or as taken where two operators give away what no row was for (`claim_lightning`), takes the moves of
-- domain/lightning (`invoiceMoves`), and no decision, hash or end of it ever changes. Fires on every change of
-- lightning_invoice, and on moves and new quotes of a payment. CP001: a row is deleted.
-- CP010: from a final state. CP012: any other illegal move. CP014: it asks for something else than its payment costs,
-- or API or payments worker write one beside an address, or a payment shows another text than the chain worker has read
-- back from the node for it. CP015: the payment's money is being taken.

-- Whether anything above dust is there for a payment on a chain, and no child has it.
CREATE OR REPLACE FUNCTION has_live_deposit(p_payment bpchar) RETURNS boolean LANGUAGE sql VOLATILE AS $$
  SELECT EXISTS (SELECT FROM deposit d WHERE d.payment_id = p_payment AND d.child_payment_id IS NULL
                    AND NOT d.is_dust AND d.status IN ('pool', 'mined', 'confirmed')) $$;

-- Whether an invoice asks for what its payment costs now, for as long as that price stands.
CREATE OR REPLACE FUNCTION is_at_quote(p payment, i lightning_invoice) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(p.amount * 100000000000 = i.asked_msat AND p.quote_expires_at = i.expires_at, false) $$;

-- Whether a payment still waits for this money, of all there is: in the invoice's own currency, or in that beside whose
-- address it stands, and then at the very quote that it was made for. Read under the lock of the payment.
CREATE OR REPLACE FUNCTION wants_lightning(p_id bpchar) RETURNS boolean LANGUAGE sql VOLATILE
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT EXISTS (
    SELECT FROM lightning_invoice i JOIN payment p ON p.id = i.payment_id
     WHERE i.id = p_id AND p.status = 'WAITING' AND p.currency = coalesce(i.beside, i.currency)
       AND (i.beside IS NULL OR is_at_quote(p, i))
       -- The half that is paid on a chain first is the one that counts. What comes to the address of an earlier choice
       -- is no half of a payment by Lightning alone: it becomes a child.
       AND (p.currency = 'BTC_LN' OR NOT has_live_deposit(p.id))
       AND NOT EXISTS (SELECT FROM lightning_invoice o WHERE o.payment_id = p.id AND o.id <> i.id
                          AND o.is_for_payment AND o.state <> 'cancelled')) $$;

CREATE OR REPLACE FUNCTION guard_lightning_invoice() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF TG_OP = 'DELETE' THEN
      RAISE EXCEPTION 'invoice % is kept for ever', OLD.id USING ERRCODE = 'CP001';
    END IF;
    IF TG_OP = 'INSERT' THEN
      -- What the node took and no row was for, as two operators have given it away.
      IF NEW.state = 'taken' AND NOT NEW.is_for_payment AND NEW.why = 'claimed' AND NEW.currency = 'BTC_LN'
        AND NEW.beside IS NULL AND NEW.invoice IS NULL AND EXISTS (
          SELECT FROM lightning_unknown u WHERE u.kind = 'invoice' AND u.hash = NEW.hash AND u.state = 'done'
             AND u.msat = NEW.taken_msat)
        AND is_confirmed('claim-lightning', jsonb_build_object('hash', NEW.hash, 'paymentId', NEW.payment_id, 'amount',
                                                               satoshi_in(NEW.taken_msat)::text)) THEN
        RETURN NEW;
      END IF;
      IF NEW.state <> 'planned' OR NEW.hash IS NOT NULL OR NEW.decision IS NOT NULL THEN
        RAISE EXCEPTION 'invoice % cannot begin as %', NEW.id, NEW.state USING ERRCODE = 'CP012';
      END IF;
      -- What is paid settles the payment: it is asked for the whole of it, and no longer than the price stands.
      IF NEW.beside IS NOT NULL AND (session_user IN ('cp_api', 'cp_payments') OR NOT EXISTS (
          SELECT FROM payment p WHERE p.id = NEW.payment_id AND p.status = 'WAITING' AND p.currency = NEW.beside
             AND is_at_quote(p, NEW))) THEN
        RAISE EXCEPTION 'invoice % may not stand beside the address of payment %', NEW.id, NEW.payment_id
          USING ERRCODE = 'CP014';
      END IF;
      IF session_user IN ('cp_api', 'cp_payments') AND NOT EXISTS (
          SELECT FROM payment p WHERE p.id = NEW.payment_id AND p.status = 'WAITING' AND p.currency = NEW.currency
             AND p.amount * 100000000000 = NEW.asked_msat AND NEW.expires_at <= p.quote_expires_at) THEN
        RAISE EXCEPTION 'invoice % does not ask for what payment % costs', NEW.id, NEW.payment_id
          USING ERRCODE = 'CP014';
      END IF;
      RETURN NEW;
    END IF;
    IF OLD.over_at IS NOT NULL AND NEW IS DISTINCT FROM OLD THEN
      RAISE EXCEPTION 'invoice % is over (%)', OLD.id, OLD.state USING ERRCODE = 'CP010';
    END IF;
    IF NEW.state <> OLD.state AND NOT is_lightning_move(OLD.state, NEW.state) THEN
      RAISE EXCEPTION 'invoice % cannot move from % to %', OLD.id, OLD.state, NEW.state USING ERRCODE = 'CP012';
    END IF;
    IF (NEW.id, NEW.payment_id, NEW.currency, NEW.beside, NEW.asked_msat, NEW.expires_at, NEW.created_at)
         IS DISTINCT FROM
       (OLD.id, OLD.payment_id, OLD.currency, OLD.beside, OLD.asked_msat, OLD.expires_at, OLD.created_at)
      OR OLD.hash IS NOT NULL AND NEW.hash IS DISTINCT FROM OLD.hash
      OR OLD.invoice IS NOT NULL AND NEW.invoice IS DISTINCT FROM OLD.invoice
      OR OLD.decision IS NOT NULL AND (NEW.decision, NEW.why, NEW.decided_at, NEW.is_for_payment)
         IS DISTINCT FROM (OLD.decision, OLD.why, OLD.decided_at, OLD.is_for_payment) THEN
      RAISE EXCEPTION 'invoice % stays as it was written', OLD.id USING ERRCODE = 'CP012';
    END IF;
    IF OLD.decision IS NULL AND NEW.decision = 'take' THEN
      PERFORM FROM payment WHERE id = NEW.payment_id FOR UPDATE;
      IF NEW.is_for_payment <> wants_lightning(NEW.id) OR NOT NEW.is_for_payment AND NEW.why <> 'taken already' THEN
        RAISE EXCEPTION 'payment % does not wait for invoice %', NEW.payment_id, NEW.id USING ERRCODE = 'CP012';
      END IF;
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE TRIGGER lightning_invoice_order BEFORE INSERT OR UPDATE OR DELETE ON lightning_invoice
  FOR EACH ROW EXECUTE FUNCTION guard_lightning_invoice();

CREATE OR REPLACE FUNCTION guard_payment_of_lightning() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF EXISTS (SELECT FROM lightning_invoice WHERE payment_id = OLD.id AND is_for_payment AND state = 'taking') THEN
      RAISE EXCEPTION 'payment % waits for Lightning money that is being taken', OLD.id USING ERRCODE = 'CP015';
    END IF;
    IF is_lightning_in_doubt(OLD.id) THEN
      RAISE EXCEPTION 'the node may have money of payment % that a recovery has lost', OLD.id USING ERRCODE = 'CP015';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE TRIGGER payment_keeps_still BEFORE UPDATE ON payment FOR EACH ROW
  WHEN (NEW.status <> OLD.status OR NEW.quoted_at IS DISTINCT FROM OLD.quoted_at
        OR NEW.currency IS DISTINCT FROM OLD.currency)
  EXECUTE FUNCTION guard_payment_of_lightning();

CREATE OR REPLACE FUNCTION guard_shown_invoice() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF NOT EXISTS (SELECT FROM lightning_invoice WHERE payment_id = NEW.id AND invoice = NEW.deposit_address) THEN
      RAISE EXCEPTION 'payment % has no such invoice', NEW.id USING ERRCODE = 'CP014';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE TRIGGER payment_shows_its_invoice BEFORE INSERT OR UPDATE OF currency, deposit_address ON payment
  FOR EACH ROW WHEN (NEW.currency = 'BTC_LN' AND NEW.deposit_address IS NOT NULL
                     AND session_user IN ('cp_api', 'cp_payments'))
  EXECUTE FUNCTION guard_shown_invoice();
