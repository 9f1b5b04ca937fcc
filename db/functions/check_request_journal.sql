-- Refuses what the API and the operators' shell may not book: they reserve and release what a row of the request asks
-- for, start conversions at a rate that was published, and book what two operators have confirmed. CP014: anything
-- else. Called by post_journal when one of their roles is connected.
CREATE OR REPLACE FUNCTION check_request_journal(p_key text, p_postings jsonb) RETURNS void LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_part text[] := string_to_array(p_key, '/');
    v_id text := v_part[array_length(v_part, 1)];
    v_merchant text; v_asset text; v_amount numeric; v_is_over boolean; v_conversion conversion; v_expected jsonb;
    v_what text; v_commission numeric;
  BEGIN
    IF p_key ~ '^hold/(withdrawal|refund|leg)/[0-9a-f]{24}(/2)?(/end)?$' THEN
      v_id := v_part[3];
      IF v_part[2] = 'withdrawal' THEN
        SELECT merchant_id, currency, gross_amount, status IN ('cancelled', 'failed') AND NOT EXISTS (
                 SELECT FROM lightning_payment l
                  WHERE l.withdrawal_id = v_id AND (l.outcome = 'paid' OR l.outcome IS NULL AND l.calls > 0))
          INTO v_merchant, v_asset, v_amount, v_is_over FROM withdrawal WHERE id = v_id;
      ELSIF v_part[2] = 'refund' THEN
        SELECT merchant_id, currency, gross_amount, status IN ('cancelled', 'failed') AND NOT EXISTS (
                 SELECT FROM lightning_payment l
                  WHERE l.refund_id = v_id AND (l.outcome = 'paid' OR l.outcome IS NULL AND l.calls > 0))
          INTO v_merchant, v_asset, v_amount, v_is_over FROM refund WHERE id = v_id AND source = 'balance';
      ELSE
        SELECT merchant_id, currency, amount, status IN ('refunded', 'failed') AND NOT EXISTS (
                 SELECT FROM lightning_payment l
                  WHERE l.leg_id = v_id AND (l.outcome = 'paid' OR l.outcome IS NULL AND l.calls > 0))
          INTO v_merchant, v_asset, v_amount, v_is_over FROM payout_leg WHERE id = v_id;
      END IF;
      IF p_key LIKE '%/end' AND v_is_over
        AND EXISTS (SELECT FROM journal WHERE key = 'hold/' || v_part[2] || '/' || v_id) THEN
        v_expected := jsonb_build_array(jsonb_build_array('L:reserved:' || v_merchant, 'L:available:' || v_merchant,
          v_asset, trim_scale(v_amount)));
      ELSIF p_key NOT LIKE '%/end' AND NOT v_is_over THEN
        v_expected := jsonb_build_array(jsonb_build_array('L:available:' || v_merchant, 'L:reserved:' || v_merchant,
          v_asset, trim_scale(v_amount)));
      END IF;
    ELSIF p_key ~ '^reversal/[0-9]{1,18}$' THEN
      -- What was charged for the gas of a recipient whom nothing has reached.
      SELECT string_to_array(key, '/') INTO v_part FROM journal
       WHERE id = v_id::bigint AND key ~ '^hold/(withdrawal|refund|leg)/[0-9a-f]{24}/gas$';
      IF EXISTS (SELECT FROM withdrawal WHERE v_part[2] = 'withdrawal' AND id = v_part[3] AND status = 'cancelled')
        OR EXISTS (SELECT FROM refund WHERE v_part[2] = 'refund' AND id = v_part[3] AND status = 'cancelled')
        OR EXISTS (SELECT FROM payout_leg WHERE v_part[2] = 'leg' AND id = v_part[3] AND status = 'refunded') THEN
        v_expected := (SELECT jsonb_agg(jsonb_build_array(credit, debit, asset, trim_scale(amount)) ORDER BY id)
          FROM posting WHERE journal_id = v_id::bigint);
      END IF;
    ELSIF p_key ~ '^conversion/[0-9a-f]{24}/(internal|accept)$' THEN
      SELECT * INTO v_conversion FROM conversion WHERE id = v_part[2] AND is_debited;
      v_merchant := v_conversion.merchant_id;
      IF v_part[3] = 'accept' AND v_conversion.status = 'processing' THEN
        v_expected := jsonb_build_array(jsonb_build_array('L:available:' || v_merchant, 'L:transit:' || v_merchant,
          v_conversion.from_currency, trim_scale(v_conversion.from_amount)));
      ELSIF v_part[3] = 'internal' AND v_conversion.status = 'completed' AND EXISTS (
          SELECT FROM rate f JOIN rate t ON t.id = v_conversion.to_rate_id AND t.currency = v_conversion.to_currency
           WHERE f.id = v_conversion.from_rate_id AND f.fiat = t.fiat
             AND f.currency = rated_as(v_conversion.from_currency)
             AND least(f.taken_at, t.taken_at) > now() - interval '1 hour'
             AND v_conversion.to_amount * t.value <= v_conversion.net_from_amount * f.value * 1.000001) THEN
        v_expected := (SELECT jsonb_agg(jsonb_build_array(debit, credit, asset, trim_scale(amount)))
          FROM (VALUES
            ('L:available:' || v_merchant, 'I:commission', v_conversion.from_currency, v_conversion.commission_amount),
            ('L:available:' || v_merchant, 'Q:fx', v_conversion.from_currency, v_conversion.net_from_amount),
            ('Q:fx', 'L:available:' || v_merchant, v_conversion.to_currency, v_conversion.to_amount))
            AS one (debit, credit, asset, amount) WHERE amount > 0);
      END IF;
    ELSIF p_key ~ '^conversion/[0-9a-f]{24}/end$' THEN
      SELECT * INTO v_conversion FROM conversion WHERE id = v_part[2] AND is_debited AND status = 'processing';
      v_merchant := v_conversion.merchant_id;
      IF is_confirmed('end-conversion', jsonb_build_object('conversionId', v_part[2])) THEN
        v_expected := jsonb_build_array(jsonb_build_array('L:transit:' || v_merchant, 'L:available:' || v_merchant,
          v_conversion.from_currency, trim_scale(v_conversion.from_amount)));
      END IF;
    ELSIF p_key ~ '^unexplained/operator/[0-9a-f]{24}$' THEN
      SELECT payload->>'currency', (payload->>'amount')::numeric INTO v_asset, v_amount FROM operator_request
       WHERE id = v_id AND kind = 'book-difference' AND is_confirmed(kind, payload);
      IF FOUND THEN
        v_expected := jsonb_build_array(CASE WHEN v_amount > 0
          THEN jsonb_build_array('A:treasury', 'Q:unexplained', v_asset, trim_scale(v_amount))
          ELSE jsonb_build_array('Q:unexplained', 'A:treasury', v_asset, trim_scale(-v_amount)) END);
      END IF;
    ELSIF p_key ~ '^lightning-capital/[0-9a-f]{24}$' THEN
      -- One after the other: together they leave what merchants are owed.
      PERFORM pg_advisory_xact_lock(hashtext('lightning-capital'));
      SELECT payload->>'what', (payload->>'amount')::numeric INTO v_what, v_amount FROM operator_request
       WHERE id = v_id AND kind = 'book-lightning' AND state = 'open' AND is_confirmed(kind, payload)
         -- Itself, and not another that asks for the same.
         AND (SELECT count(*) FROM operator_confirmation c WHERE c.request_id = v_id) >= 2;
      IF v_what = 'put-in' OR v_amount <= lightning_free() THEN
        v_expected := (
          SELECT jsonb_build_array(jsonb_build_array(debit, credit, 'BTC_LN', trim_scale(v_amount)))
            FROM (VALUES ('taken-out', 'Q:capital', 'A:lightning'), ('put-in', 'A:lightning', 'Q:capital'),
                         ('fees', 'E:network', 'A:lightning'), ('lost', 'E:loss', 'A:lightning'))
              AS one (what, debit, credit) WHERE what = v_what);
      END IF;
    ELSIF p_key ~ '^lightning/[0-9a-f]{64}$' THEN
      SELECT p.merchant_id, satoshi_in(i.taken_msat) INTO v_merchant, v_amount
        FROM lightning_invoice i JOIN payment p ON p.id = i.payment_id
       WHERE i.hash = v_id AND i.state = 'taken' AND NOT i.is_for_payment
         AND is_confirmed('claim-lightning', jsonb_build_object('hash', v_id, 'paymentId', i.payment_id, 'amount',
                                                                satoshi_in(i.taken_msat)::text));
      IF FOUND THEN
        v_expected := jsonb_build_array(jsonb_build_array('A:lightning', 'L:unallocated:' || v_merchant, 'BTC_LN',
          v_amount));
      END IF;
    ELSIF p_key ~ '^claimed/[0-9a-f]{64}$' THEN
      -- To the merchant of its payment less the commission of that, or to the owner of the node.
      SELECT p.merchant_id, satoshi_in(i.taken_msat),
             least(ceil(satoshi_in(i.taken_msat) * p.fee_bps * 10000) / 100000000, satoshi_in(i.taken_msat)),
             CASE WHEN is_confirmed('claim-lightning', c.claim || '{"paymentId": "owner"}') THEN 'owner'
                  WHEN is_confirmed('claim-lightning', c.claim || jsonb_build_object('paymentId', i.payment_id))
                    THEN 'merchant' END
        INTO v_merchant, v_amount, v_commission, v_what
        FROM lightning_invoice i JOIN payment p ON p.id = i.payment_id
          CROSS JOIN LATERAL (
            SELECT jsonb_build_object('hash', i.hash, 'amount', satoshi_in(i.taken_msat)::text) AS claim) c
       WHERE i.hash = v_id AND i.state = 'taken' AND NOT i.is_for_payment;
      IF v_what = 'owner' THEN
        v_expected := jsonb_build_array(jsonb_build_array('L:unallocated:' || v_merchant, 'Q:capital', 'BTC_LN',
          v_amount));
      ELSIF v_what = 'merchant' THEN
        v_expected := (SELECT jsonb_agg(jsonb_build_array('L:unallocated:' || v_merchant, credit, 'BTC_LN',
                         trim_scale(amount)))
          FROM (VALUES ('L:available:' || v_merchant, v_amount - v_commission), ('I:commission', v_commission))
            AS one (credit, amount) WHERE amount > 0);
      END IF;
    END IF;
    IF v_expected IS NULL OR v_expected IS DISTINCT FROM (
        SELECT jsonb_agg(jsonb_build_array(p->>'debit', p->>'credit', p->>'asset',
                 trim_scale((p->>'amount')::numeric)) ORDER BY n)
          FROM jsonb_array_elements(p_postings) WITH ORDINALITY AS e (p, n)) THEN
      RAISE EXCEPTION '% may not post journal %', session_user, p_key USING ERRCODE = 'CP014';
    END IF;
  END $$;
