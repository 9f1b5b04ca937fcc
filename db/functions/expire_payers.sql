-- Forgets the payers of payments that ended more than `p_days` ago, so many payments at a time; how many. Called by
-- `expirePayers`.
CREATE OR REPLACE FUNCTION expire_payers(p_days integer, p_limit integer)
  RETURNS integer LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_old text[];
  BEGIN
    IF p_days < 1 THEN
      RETURN 0;
    END IF;
    v_old := ARRAY(SELECT p.id::text FROM payment p
      WHERE p.id IN (SELECT d.payment_id FROM payment_donor d UNION SELECT e.payment_id FROM receipt_email e
                     UNION SELECT b.payment_id FROM payer_browser b)
        AND p.status IN ('SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED')
        AND p.updated_at < now() - make_interval(days => p_days)
        AND NOT EXISTS (SELECT FROM refund r WHERE r.payment_id = p.id
          AND r.status NOT IN ('completed', 'failed', 'cancelled'))
      ORDER BY p.updated_at LIMIT p_limit);
    RETURN (SELECT count(*) FROM forget_payers(v_old));
  END $$;
