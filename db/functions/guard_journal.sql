-- What the workers post must be what the rows of others say when their transaction commits: deposits that the follower
-- has confirmed, transactions that the signer has made and the follower has found final, what the Lightning node took
-- and paid, rows of what was asked for.
-- CP014: anything else. Fires at the end of each transaction in which a role of theirs has posted. Journals that touch
-- accounts of the platform alone are held to their families.

-- The postings of a journal, in order, as [debit, credit, asset, amount].
CREATE OR REPLACE FUNCTION moves_of(p_journal bigint) RETURNS jsonb LANGUAGE sql STABLE
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT coalesce(jsonb_agg(jsonb_build_array(debit, credit, asset, trim_scale(amount)) ORDER BY id), '[]')
    FROM posting WHERE journal_id = p_journal $$;

-- Whether a final transaction of an intent has moved what it was for.
CREATE OR REPLACE FUNCTION has_arrived(p_intent bigint) RETURNS boolean LANGUAGE sql STABLE
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM attempt WHERE intent_id = p_intent AND status = 'final' AND success AND NOT is_replacement)
  $$;

-- Whether what was signed of an intent has moved it, or may yet.
CREATE OR REPLACE FUNCTION may_arrive(p_intent bigint) RETURNS boolean LANGUAGE sql STABLE
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT has_arrived(p_intent) OR NOT EXISTS (SELECT FROM attempt WHERE intent_id = p_intent AND status = 'final')
     AND EXISTS (SELECT FROM attempt WHERE intent_id = p_intent AND status IN ('stored', 'sent', 'mined')) $$;

-- Millisatoshi as they are booked: whole satoshi, in bitcoin.
CREATE OR REPLACE FUNCTION satoshi_in(p_msat bigint) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT trim_scale((p_msat / 1000) / 100000000::numeric) $$;

-- Whether a journal that touches the money of merchants may be in force now (p_stands), or be taken back.
CREATE OR REPLACE FUNCTION is_journal_due(p_key text, p_moves jsonb, p_stands boolean) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_part text[] := string_to_array(p_key, '/');
    v_end text := array_to_string(v_part[4:], '/');
    v_deposit text[] := regexp_match(p_key, '^(?:deposit|reallocate|unclaimed)/([a-z]+)/(.+)/(-?[0-9]{1,9})$');
    v_merchant text; v_asset text; v_amount numeric; v_net numeric; v_is_over boolean; v_intents bigint[];
    v_sum numeric; v_is_due boolean; v_is_added boolean; v_conversion conversion; v_lightning lightning_payment;
  BEGIN
    IF v_deposit IS NOT NULL THEN
      SELECT coalesce(p.merchant_id::text, 'unclaimed'), d.currency, trim_scale(d.amount), d.status = 'confirmed'
        INTO v_merchant, v_asset, v_amount, v_is_due
        FROM deposit d LEFT JOIN payment p ON p.id = d.payment_id
        LEFT JOIN payment child ON child.id = d.child_payment_id
       WHERE d.network = v_deposit[1] AND d.tx_id = v_deposit[2] AND d.out_index = v_deposit[3]::integer
         AND d.role = 'deposit' AND (child.id IS NULL OR child.merchant_id = p.merchant_id);
      IF v_part[1] = 'reallocate' THEN
        RETURN coalesce(p_moves IN (
          jsonb_build_array(jsonb_build_array('L:unsettled:' || v_merchant, 'L:unallocated:' || v_merchant, v_asset,
            v_amount)),
          jsonb_build_array(jsonb_build_array('L:unallocated:' || v_merchant, 'L:unsettled:' || v_merchant, v_asset,
            v_amount))), false);
      END IF;
      RETURN NOT p_stands OR coalesce(v_is_due AND (v_part[1] = 'unclaimed') = (v_merchant = 'unclaimed')
        AND p_moves IN (
        jsonb_build_array(jsonb_build_array('A:deposit', 'L:unallocated:' || v_merchant, v_asset, v_amount)),
        jsonb_build_array(jsonb_build_array('A:deposit', 'L:unsettled:' || v_merchant, v_asset, v_amount))), false);

    ELSIF p_key ~ '^payment/[0-9a-f]{24}/settle$' AND p_stands THEN
      SELECT merchant_id, currency INTO v_merchant, v_asset FROM payment
       WHERE id = v_part[2]::bpchar AND status = 'SETTLED';
      -- Each deposit of it has been moved by a sweep of it, or came to the account that it is spent from.
      v_intents := ARRAY(
        SELECT id FROM intent WHERE kind = 'sweep' AND payment_id = v_part[2]::bpchar AND has_arrived(id)
        UNION SELECT intent_id FROM sweep_share
               WHERE payment_id = v_part[2]::bpchar AND dropped_at IS NULL AND has_arrived(intent_id));
      SELECT sum(d.amount) FILTER (WHERE d.currency = v_asset), bool_and(EXISTS (
               SELECT FROM intent i WHERE i.id = ANY(v_intents) AND d.id = ANY(i.deposit_ids))
             OR d.tag <> '' AND d.status = 'confirmed' AND is_shared_account(d.network, d.address))
        INTO v_sum, v_is_due
        FROM deposit d WHERE d.allocation IN ('unsettled', 'settled')
         AND (d.payment_id = v_part[2]::bpchar AND d.child_payment_id IS NULL
              OR d.child_payment_id = v_part[2]::bpchar);
      IF v_sum IS NULL THEN
        -- Or it came by Lightning.
        SELECT satoshi_in(taken_msat), true INTO v_sum, v_is_due FROM lightning_invoice
         WHERE payment_id = v_part[2]::bpchar AND currency = v_asset AND state = 'taken' AND is_for_payment;
      END IF;
      RETURN v_is_due AND (
        SELECT coalesce(bool_and(m->>0 = 'L:unsettled:' || v_merchant AND m->>2 = v_asset
                 AND m->>1 IN ('L:available:' || v_merchant, 'I:commission', 'I:network')), false)
               AND coalesce(sum((m->>3)::numeric) <= v_sum, false)
          FROM jsonb_array_elements(p_moves) m);

    ELSIF p_key ~ '^arrived/[0-9a-f]{24}$' THEN
      RETURN p_stands AND EXISTS (
        SELECT FROM payment p WHERE p.id = v_part[2]::bpchar AND p.status = 'SETTLED' AND p_moves = (
          SELECT jsonb_build_array(jsonb_build_array('A:treasury', 'A:deposit', p.currency, trim_scale(sum(d.amount))))
            FROM deposit d WHERE d.allocation = 'settled' AND is_shared_account(d.network, d.address)
             AND (d.payment_id = p.id AND d.child_payment_id IS NULL OR d.child_payment_id = p.id)));

    ELSIF p_key ~ '^lightning/[0-9a-f]{64}$' THEN
      RETURN p_stands AND EXISTS (
        SELECT FROM lightning_invoice i JOIN payment p ON p.id = i.payment_id
         WHERE i.hash = v_part[2] AND i.state = 'taken'
           AND p_moves = jsonb_build_array(jsonb_build_array('A:lightning',
             CASE WHEN i.is_for_payment THEN 'L:unsettled:' ELSE 'L:unallocated:' END || p.merchant_id,
             i.currency, satoshi_in(i.taken_msat))));

    ELSIF p_key ~ '^sweep/[0-9]{1,18}(/[0-9a-f]{24})?$' THEN
      -- To the merchant's own address: what the merchant has, and no more.
      SELECT p.merchant_id INTO v_merchant
        FROM intent i JOIN payment p ON p.id = coalesce(v_part[3]::bpchar, i.payment_id)
       WHERE i.id = v_part[2]::bigint AND i.kind = 'sweep' AND p.custody = 'external';
      RETURN has_arrived(v_part[2]::bigint) = p_stands AND (
        SELECT coalesce(bool_and(m->>1 NOT LIKE 'L:%'
                 AND (m->>0 NOT LIKE 'L:%' OR m->>0 = 'L:available:' || v_merchant)), false)
          FROM jsonb_array_elements(p_moves) m);

    ELSIF p_key ~ '^hold/(withdrawal|refund|leg)/[0-9a-f]{24}(/(2/)?end|/gas|/reverted)?$' THEN
      IF v_part[2] = 'withdrawal' THEN
        SELECT merchant_id, currency, gross_amount, net_amount, added_fee > 0, status IN ('cancelled', 'failed'),
               ARRAY(SELECT id FROM intent WHERE kind = 'withdrawal' AND ref = v_part[3])
          INTO v_merchant, v_asset, v_amount, v_net, v_is_added, v_is_over, v_intents
          FROM withdrawal WHERE id = v_part[3]::bpchar;
        SELECT * INTO v_lightning FROM lightning_payment WHERE withdrawal_id = v_part[3]::bpchar;
      ELSIF v_part[2] = 'refund' THEN
        SELECT merchant_id, currency, gross_amount, net_amount, added_fee > 0, status IN ('cancelled', 'failed'),
               ARRAY(SELECT id FROM intent WHERE kind = 'refund' AND ref = v_part[3])
          INTO v_merchant, v_asset, v_amount, v_net, v_is_added, v_is_over, v_intents
          FROM refund WHERE id = v_part[3]::bpchar;
        SELECT * INTO v_lightning FROM lightning_payment WHERE refund_id = v_part[3]::bpchar;
      ELSE
        SELECT b.merchant_id, l.currency, l.amount, l.net_amount, l.added_fee > 0, l.status IN ('refunded', 'failed'),
               ARRAY(SELECT l.intent_id WHERE l.intent_id IS NOT NULL
                     UNION SELECT id FROM intent WHERE kind = 'leg' AND ref = v_part[3])
          INTO v_merchant, v_asset, v_amount, v_net, v_is_added, v_is_over, v_intents
          FROM payout_leg l JOIN payout_batch b ON b.id = l.batch_id WHERE l.id = v_part[3]::bpchar;
        SELECT * INTO v_lightning FROM lightning_payment WHERE leg_id = v_part[3]::bpchar;
      END IF;
      IF v_merchant IS NULL THEN RETURN false; END IF;
      IF v_end = '' THEN
        RETURN p_stands AND p_moves = jsonb_build_array(jsonb_build_array('L:available:' || v_merchant,
          'L:reserved:' || v_merchant, v_asset, trim_scale(v_amount)));
      ELSIF v_end IN ('gas', 'reverted') THEN
        -- What its receiver bears is not charged to the merchant too.
        IF v_end = 'gas' AND v_is_added AND p_stands THEN RETURN false; END IF;
        RETURN (SELECT bool_and(m->>0 = 'L:available:' || v_merchant AND m->>1 = 'I:network' AND m->>2 = v_asset)
                  FROM jsonb_array_elements(p_moves) m);
      ELSIF p_moves = jsonb_build_array(jsonb_build_array('L:reserved:' || v_merchant, 'L:available:' || v_merchant,
          v_asset, trim_scale(v_amount))) THEN
        RETURN NOT p_stands OR v_is_over AND NOT EXISTS (SELECT FROM unnest(v_intents) i WHERE may_arrive(i))
          AND (v_lightning.hash IS NULL OR v_lightning.outcome = 'failed'
            OR v_lightning.outcome IS NULL AND v_lightning.calls = 0) IS TRUE;
      END IF;
      v_is_due := coalesce(v_lightning.outcome = 'paid', false)
        OR EXISTS (SELECT FROM unnest(v_intents) i WHERE has_arrived(i));
      RETURN v_is_due = p_stands AND (
        SELECT bool_and(m->>1 NOT LIKE 'L:%' AND (m->>0 NOT LIKE 'L:%' OR m->>0 = 'L:reserved:' || v_merchant))
               AND sum((m->>3)::numeric) FILTER (WHERE m->>0 LIKE 'L:%') = v_amount
               AND sum((m->>3)::numeric) FILTER (WHERE m->>0 LIKE 'L:%' AND m->>1 =
                 CASE v_asset WHEN 'BTC_LN' THEN 'A:lightning' ELSE 'A:treasury' END) = v_net
          FROM jsonb_array_elements(p_moves) m);

    ELSIF p_key ~ '^refund/[0-9a-f]{24}$' THEN
      SELECT merchant_id, EXISTS (SELECT FROM intent WHERE kind = 'refund' AND ref = v_part[2] AND has_arrived(id))
        INTO v_merchant, v_is_due FROM refund WHERE id = v_part[2]::bpchar AND source = 'deposit';
      RETURN coalesce(v_is_due = p_stands, false) AND (
        SELECT bool_and(m->>1 NOT LIKE 'L:%' AND (m->>0 NOT LIKE 'L:%' OR m->>0 = 'L:unallocated:' || v_merchant))
          FROM jsonb_array_elements(p_moves) m);

    ELSIF p_key ~ '^conversion/[0-9a-f]{24}/(accept|end)$' AND p_stands THEN
      SELECT * INTO v_conversion FROM conversion WHERE id = v_part[2]::bpchar AND execution_mode = 'external';
      v_merchant := v_conversion.merchant_id;
      v_asset := v_conversion.from_currency;
      v_amount := trim_scale(v_conversion.from_amount);
      IF v_part[3] = 'accept' THEN
        RETURN p_moves = jsonb_build_array(jsonb_build_array('L:available:' || v_merchant, 'L:transit:' || v_merchant,
          v_asset, v_amount));
      ELSIF v_conversion.status = 'failed' THEN
        RETURN p_moves = jsonb_build_array(jsonb_build_array('L:transit:' || v_merchant, 'L:available:' || v_merchant,
          v_asset, v_amount));
      END IF;
      SELECT sum(d.amount) INTO v_sum FROM deposit d
        JOIN address a ON a.network = d.network AND a.address = d.address AND a.tag = d.tag
       WHERE a.conversion_id = v_part[2]::bpchar AND d.currency = v_conversion.to_currency AND d.status = 'confirmed';
      RETURN v_conversion.status = 'completed' AND (
        SELECT coalesce(bool_and(CASE WHEN m->>1 LIKE 'L:%'
                   THEN m->>0 = 'Q:fx' AND m->>1 = 'L:available:' || v_merchant
                        AND m->>2 = v_conversion.to_currency
                   ELSE m->>0 NOT LIKE 'L:%' OR m->>0 = 'L:transit:' || v_merchant AND m->>2 = v_asset END), false)
               AND sum((m->>3)::numeric) FILTER (WHERE m->>0 LIKE 'L:%') = v_amount
               AND sum((m->>3)::numeric) FILTER (WHERE m->>1 LIKE 'L:%') <= v_sum
          FROM jsonb_array_elements(p_moves) m);
    END IF;
    RETURN false;
  END $$;

CREATE OR REPLACE FUNCTION guard_journal() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_base journal := NEW; v_of bigint; v_steps integer := 0; v_moves jsonb := moves_of(NEW.id); v_is_due boolean;
  BEGIN
    IF NEW.reverses IS NOT NULL AND (NEW.key <> 'reversal/' || NEW.reverses OR v_moves IS DISTINCT FROM (
        SELECT jsonb_agg(jsonb_build_array(m->1, m->0, m->2, m->3) ORDER BY n)
          FROM jsonb_array_elements(moves_of(NEW.reverses)) WITH ORDINALITY AS e (m, n))) THEN
      RAISE EXCEPTION '% may not post journal %: it is no mirror', session_user, NEW.key USING ERRCODE = 'CP014';
    END IF;
    WHILE v_base.reverses IS NOT NULL LOOP
      v_of := v_base.reverses;
      SELECT * INTO v_base FROM journal WHERE id = v_of;
      v_steps := v_steps + 1;
    END LOOP;
    IF v_steps > 0 THEN v_moves := moves_of(v_base.id); END IF;
    IF starts_with(v_base.key, 'arrived/')
      OR EXISTS (SELECT FROM jsonb_array_elements(v_moves) m WHERE m->>0 LIKE 'L:%' OR m->>1 LIKE 'L:%') THEN
      -- What was taken back in the same transaction is checked by its last journal.
      v_is_due := EXISTS (SELECT FROM journal WHERE reverses = NEW.id)
        OR is_journal_due(v_base.key, v_moves, v_steps % 2 = 0);
    ELSE
      v_is_due := v_base.key ~ '^(sweep|gas|fee|gone|lost|loss|differs|capital|unexplained|refund|hold|conversion)/';
    END IF;
    IF v_is_due IS NOT TRUE THEN
      RAISE EXCEPTION '% may not post journal %', session_user, NEW.key USING ERRCODE = 'CP014';
    END IF;
    RETURN NULL;
  END $$;

DO $$
  BEGIN
    IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'journal_is_due') THEN
      CREATE CONSTRAINT TRIGGER journal_is_due AFTER INSERT ON journal DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
        WHEN (session_user IN ('cp_payments', 'cp_chain', 'cp_signer')) EXECUTE FUNCTION guard_journal();
    END IF;
  END $$;

-- The payments worker stores what a comparison has found by balance, which the follower verifies before it counts, and
-- nothing else that came: for the payment of its address, or for nobody yet.
CREATE OR REPLACE FUNCTION guard_found_deposit() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF NEW.found_by IS DISTINCT FROM 'balance' OR NEW.status <> 'mined' OR NEW.tag <> ''
      OR TG_OP = 'INSERT' AND (NEW.allocation IS NOT NULL OR NEW.payment_id IS NOT NULL AND NEW.payment_id
           IS DISTINCT FROM (
           SELECT payment_id FROM address
            WHERE network = NEW.network AND address = NEW.address AND tag = NEW.tag AND role = 'deposit'))
      OR TG_OP = 'UPDATE' AND OLD.status = 'confirmed' THEN
      RAISE EXCEPTION '% may not store deposit % %', session_user, NEW.network, NEW.tx_id USING ERRCODE = 'CP014';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE TRIGGER deposit_was_found BEFORE INSERT ON deposit FOR EACH ROW
  WHEN (session_user = 'cp_payments') EXECUTE FUNCTION guard_found_deposit();
CREATE OR REPLACE TRIGGER deposit_stays_found
  BEFORE UPDATE OF amount, stated_amount, status, height, block_hash, mined_at ON deposit FOR EACH ROW
  WHEN (session_user = 'cp_payments') EXECUTE FUNCTION guard_found_deposit();
