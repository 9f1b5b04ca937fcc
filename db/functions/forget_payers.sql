-- Deletes what payers said of themselves, of those of the payments that are over and have no refund under way: donor
-- fields, addresses for the receipt with their mails, browsers with refund addresses. Returns the payments that had
-- any. Called by erase_payers and expire_payers; nobody else may.
CREATE OR REPLACE FUNCTION forget_payers(p_payments text[])
  RETURNS SETOF text LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_over char(24)[];
  BEGIN
    v_over := ARRAY(SELECT p.id FROM payment p
      WHERE p.id = ANY(p_payments::char(24)[]) AND p.status IN ('SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED')
        AND NOT EXISTS (SELECT FROM refund r WHERE r.payment_id = p.id
          AND r.status NOT IN ('completed', 'failed', 'cancelled'))
      ORDER BY p.id FOR NO KEY UPDATE OF p);
    RETURN QUERY WITH donor AS (
      DELETE FROM payment_donor d WHERE d.payment_id = ANY(v_over) RETURNING d.payment_id
    ), address AS (
      DELETE FROM receipt_email e WHERE e.payment_id = ANY(v_over) RETURNING e.payment_id, e.mail_id
    ), letter AS (
      DELETE FROM mail m USING address a WHERE m.id = a.mail_id
    ), browser AS (
      DELETE FROM payer_browser b WHERE b.payment_id = ANY(v_over) RETURNING b.payment_id
    )
    SELECT d.payment_id::text FROM donor d UNION SELECT a.payment_id::text FROM address a
      UNION SELECT b.payment_id::text FROM browser b;
  END $$;
