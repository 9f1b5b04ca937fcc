-- Posts a journal once per key, moves the guarded balances, and writes the merchants' entries; a repeat with the same
-- content returns the first journal. The only writer of journal, posting, balance and ledger_entry. Called by `post`,
-- `postAll`, `reverse` and post_conversion. For the roles of the API and of the operators' shell check_request_journal
-- says what may be posted.
--
-- p_entry says what the journal is in the merchant's statement: {type, sourceType, sourceId}. It is NULL for a journal
-- that moves neither available nor reserved.
--
-- A journal that moves available or reserved locks the row of available first, so that the entries of one merchant and
-- asset follow each other, and the balances in them are exact.
CREATE OR REPLACE FUNCTION post_journal(
    p_key text, p_entry jsonb, p_postings jsonb, p_reverses bigint DEFAULT NULL, p_details jsonb DEFAULT '{}')
  RETURNS bigint LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_id bigint; v_hash text := md5(p_postings::text); v_known text; v_row record; v_has_entry boolean := false;
  BEGIN
    IF jsonb_array_length(p_postings) = 0 THEN
      RAISE EXCEPTION 'journal % is empty', p_key USING ERRCODE = 'CP002';
    END IF;
    IF session_user IN ('cp_api', 'cp_operator') THEN PERFORM check_request_journal(p_key, p_postings); END IF;
    INSERT INTO journal (key, entry_type, source_type, source_id, content_hash, reverses, details)
      VALUES (p_key, p_entry->>'type', p_entry->>'sourceType', p_entry->>'sourceId', v_hash, p_reverses, p_details)
      ON CONFLICT (key) DO NOTHING RETURNING id INTO v_id;
    IF v_id IS NULL THEN
      SELECT id, content_hash INTO v_id, v_known FROM journal WHERE key = p_key;
      IF v_known <> v_hash THEN
        RAISE EXCEPTION 'journal % exists with other content', p_key USING ERRCODE = 'CP003';
      END IF;
      RETURN v_id;
    END IF;
    INSERT INTO posting (journal_id, debit, credit, asset, amount)
      SELECT v_id, p->>'debit', p->>'credit', p->>'asset', (p->>'amount')::numeric
        FROM jsonb_array_elements(p_postings) p;
    FOR v_row IN
      SELECT account, asset, sum(delta) AS delta FROM (
        SELECT p->>'debit' AS account, p->>'asset' AS asset, -(p->>'amount')::numeric AS delta
          FROM jsonb_array_elements(p_postings) p
        UNION ALL
        SELECT p->>'credit', p->>'asset', (p->>'amount')::numeric FROM jsonb_array_elements(p_postings) p
        UNION ALL
        SELECT 'L:available:' || substr(a.account, 12), p->>'asset', 0
          FROM jsonb_array_elements(p_postings) p
          CROSS JOIN LATERAL (VALUES (p->>'debit'), (p->>'credit')) a (account)
         WHERE a.account LIKE 'L:reserved:%') moved
      WHERE account LIKE 'L:%' GROUP BY account, asset
      HAVING sum(delta) <> 0 OR bool_or(delta = 0) ORDER BY account, asset
    LOOP
      IF v_row.delta >= 0 THEN
        INSERT INTO balance AS b (account, asset, amount) VALUES (v_row.account, v_row.asset, v_row.delta)
          ON CONFLICT (account, asset) DO UPDATE SET amount = b.amount + EXCLUDED.amount;
      ELSE
        UPDATE balance SET amount = amount + v_row.delta
         WHERE account = v_row.account AND asset = v_row.asset AND amount >= -v_row.delta;
        IF NOT FOUND THEN
          RAISE EXCEPTION 'journal %: % of % would fall below zero', p_key, v_row.account, v_row.asset
            USING ERRCODE = 'CP004';
        END IF;
      END IF;
      v_has_entry := v_has_entry OR starts_with(v_row.account, 'L:available:');
    END LOOP;
    IF v_has_entry THEN
      IF p_entry IS NULL THEN
        RAISE EXCEPTION 'journal % moves the balance of a merchant and has no entry', p_key USING ERRCODE = 'CP006';
      END IF;
      INSERT INTO ledger_entry (journal_id, merchant_id, asset, type, amount, reserved_change, balance_after,
          reserved_after, fiat_currency, fiat_rate, source_type, source_id, tx_id, reversal_of)
        SELECT v_id, d.merchant_id, d.asset,
               CASE WHEN p_entry->>'type' <> 'conversion' THEN p_entry->>'type'
                    WHEN d.amount < 0 THEN 'conversion_debit' ELSE 'conversion_credit' END,
               d.amount, d.reserved_change, a.amount, coalesce(r.amount, 0),
               coalesce(p_details->>'fiatCurrency', o.fiat_currency, f.fiat),
               CASE WHEN p_details ? 'fiatCurrency' THEN (p_details->>'fiatRate')::numeric
                    WHEN o.fiat_currency IS NOT NULL THEN o.fiat_rate ELSE f.value END,
               p_entry->>'sourceType', p_entry->>'sourceId',
               coalesce(p_details->>'txId', o.tx_id), o.seq
          FROM (SELECT split_part(account, ':', 3) AS merchant_id, asset,
                       coalesce(sum(delta) FILTER (WHERE starts_with(account, 'L:available:')), 0) AS amount,
                       coalesce(sum(delta) FILTER (WHERE starts_with(account, 'L:reserved:')), 0) AS reserved_change
                  FROM (SELECT p->>'debit' AS account, p->>'asset' AS asset, -(p->>'amount')::numeric AS delta
                          FROM jsonb_array_elements(p_postings) p
                        UNION ALL
                        SELECT p->>'credit', p->>'asset', (p->>'amount')::numeric
                          FROM jsonb_array_elements(p_postings) p) moved
                 WHERE starts_with(account, 'L:available:') OR starts_with(account, 'L:reserved:') GROUP BY 1, 2) d
          JOIN balance a ON a.account = 'L:available:' || d.merchant_id AND a.asset = d.asset
          LEFT JOIN balance r ON r.account = 'L:reserved:' || d.merchant_id AND r.asset = d.asset
          LEFT JOIN merchant m ON m.id = d.merchant_id::char(24)
          LEFT JOIN rate_latest f ON f.currency = rated_as(d.asset) AND f.fiat = m.display_currency
            AND f.taken_at > now() - interval '1 hour'
          LEFT JOIN ledger_entry o ON o.journal_id = p_reverses AND o.merchant_id = d.merchant_id::char(24)
            AND o.asset = d.asset
         WHERE d.amount <> 0 OR d.reserved_change <> 0 ORDER BY d.merchant_id, d.asset;
    END IF;
    RETURN v_id;
  END $$;
