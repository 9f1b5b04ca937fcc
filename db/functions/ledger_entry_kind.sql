-- The type and the source of a merchant's ledger entry, by the key of its journal; the journal's details may say
-- otherwise. Called by post_journal.
CREATE OR REPLACE FUNCTION ledger_type(p_key text, p_amount numeric) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN p_key LIKE 'payment/%/settle' THEN 'payment_credit'
    WHEN p_key LIKE 'sweep/%' THEN 'settlement_out'
    WHEN p_key LIKE 'conversion/%/fail%' OR p_key LIKE 'conversion/%/refund%' THEN 'conversion_refund'
    WHEN p_key LIKE 'conversion/%' THEN CASE WHEN p_amount < 0 THEN 'conversion_debit' ELSE 'conversion_credit' END
    WHEN p_key LIKE 'hold/%/end' AND p_amount > 0 THEN 'release'
    WHEN p_key LIKE 'hold/withdrawal/%/end' THEN 'withdrawal'
    WHEN p_key LIKE 'hold/leg/%/end' THEN 'payout_leg'
    WHEN p_key LIKE 'hold/refund/%/end' THEN 'refund'
    WHEN p_key LIKE 'hold/%' THEN 'reserve'
    ELSE 'adjustment' END $$;

CREATE OR REPLACE FUNCTION ledger_source_type(p_key text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN p_key LIKE 'payment/%' OR p_key LIKE 'sweep/%' THEN 'payment'
    WHEN p_key LIKE 'conversion/%' THEN 'conversion'
    WHEN p_key LIKE 'hold/withdrawal/%' THEN 'withdrawal'
    WHEN p_key LIKE 'hold/leg/%' THEN 'massPayout'
    WHEN p_key LIKE 'hold/refund/%' THEN 'refund'
    ELSE 'adjustment' END $$;

CREATE OR REPLACE FUNCTION ledger_source_id(p_key text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN p_key LIKE 'payment/%' OR p_key LIKE 'conversion/%' THEN split_part(p_key, '/', 2)
    WHEN p_key LIKE 'hold/%' THEN split_part(p_key, '/', 3) END $$;
