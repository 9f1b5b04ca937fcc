-- Plans invoices of Lightning beside the addresses of payments of bitcoin: one for each quote, of merchants who take
-- both, where nothing has come and our node could receive the amount (satoshi). Returns how many. `p_ids`: what the new
-- rows may be called. Payments that somebody has locked wait for the next look, and where too many stand already, a
-- payment is bitcoin alone. Who has fewest comes first, and nobody has more of the 1,000 than are left free. Called by
-- `planBeside`, from the chain worker of Bitcoin.
CREATE OR REPLACE FUNCTION plan_beside(p_ids text[], p_receivable bigint) RETURNS integer LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_open bigint; v_planned bigint; v_count integer;
  BEGIN
    SELECT count(*), count(*) FILTER (WHERE state = 'planned') INTO v_open, v_planned
      FROM lightning_invoice WHERE over_at IS NULL AND beside IS NOT NULL;
    WITH standing AS (
      SELECT p.merchant_id, count(*) AS count FROM lightning_invoice i JOIN payment p ON p.id = i.payment_id
       WHERE i.over_at IS NULL AND i.beside IS NOT NULL GROUP BY p.merchant_id),
    waiting AS (
      SELECT p.id, p.amount, p.quoted_at, p.quote_expires_at,
             coalesce(s.count, 0) + row_number() OVER (PARTITION BY p.merchant_id ORDER BY p.quoted_at, p.id) AS place
        FROM merchant_wallet w JOIN payment p ON p.merchant_id = w.merchant_id
          LEFT JOIN standing s ON s.merchant_id = p.merchant_id
       WHERE w.currency = 'BTC_LN' AND w.is_active AND p.status = 'WAITING' AND p.currency = 'BTC'
         AND p.deposit_address IS NOT NULL AND p.amount * 100000000 BETWEEN 1 AND p_receivable
         AND p.quote_expires_at > clock_timestamp() + interval '20 seconds'
         AND (p.allowed_currencies IS NULL OR 'BTC_LN' = ANY(p.allowed_currencies))
         AND NOT has_live_deposit(p.id)
         AND NOT EXISTS (
           SELECT FROM lightning_invoice i WHERE i.payment_id = p.id
              AND (i.decision IS NULL OR i.is_for_payment AND i.state <> 'cancelled'
                OR i.beside = p.currency AND i.expires_at = p.quote_expires_at))),
    due AS (
      SELECT p.id, p.currency, p.amount, p.quote_expires_at FROM waiting t JOIN payment p ON p.id = t.id
       WHERE t.place <= 1000 - v_open AND p.status = 'WAITING' AND p.currency = 'BTC'
         AND p.amount = t.amount AND p.quote_expires_at = t.quote_expires_at
       ORDER BY t.place, t.quoted_at, p.id LIMIT greatest(0, least(cardinality(p_ids), 32 - v_planned, 1000 - v_open))
         FOR UPDATE OF p SKIP LOCKED)
    INSERT INTO lightning_invoice (id, payment_id, currency, beside, asked_msat, expires_at)
      SELECT p_ids[n.place], n.id, 'BTC_LN', n.currency, (n.amount * 100000000000)::bigint, n.quote_expires_at
        FROM (SELECT due.*, row_number() OVER () AS place FROM due) n
      ON CONFLICT (payment_id) WHERE decision IS NULL DO NOTHING;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
  END $$;
