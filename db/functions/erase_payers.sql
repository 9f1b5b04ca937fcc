-- Forgets one payer: of a payment with those that repeat it, of a merchant's customer, or of an e-mail address. Returns
-- each payment found, and whether something was erased, nothing was there, or it is open still. What was erased is in
-- the audit log, without saying what it was. Called by `erasePayers`.
CREATE OR REPLACE FUNCTION erase_payers(
    p_by text, p_merchant text, p_value text, p_actor text, p_reason text)
  RETURNS TABLE (payment_id text, outcome text) LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_found text[];
    v_erased text[];
  BEGIN
    v_found := ARRAY(WITH named AS (
        SELECT p.id, p.parent_payment_id FROM payment p WHERE p_by = 'payment' AND p.id = p_value::char(24)
        UNION SELECT p.id, p.parent_payment_id FROM payment p
          WHERE p_by = 'customer' AND p.merchant_id = p_merchant::char(24) AND p.customer_id = p_value
        UNION SELECT p.id, p.parent_payment_id FROM payment p JOIN payment_donor d ON d.payment_id = p.id
          WHERE p_by = 'email' AND lower(d.donor->>'email') = lower(p_value)
        UNION SELECT p.id, p.parent_payment_id FROM payment p JOIN receipt_email e ON e.payment_id = p.id
          WHERE p_by = 'email' AND e.email = lower(p_value)
      ), root AS (SELECT DISTINCT coalesce(n.parent_payment_id, n.id) AS id FROM named n)
      SELECT p.id::text FROM payment p JOIN root r ON r.id IN (p.id, p.parent_payment_id));
    v_erased := ARRAY(SELECT forget_payers(v_found));
    INSERT INTO audit_log (merchant_id, actor_kind, actor_name, action, target, after, ip, request_id)
      SELECT p.merchant_id, 'operator', p_actor, 'payer.erased', p.id, jsonb_build_object('reason', p_reason), 'shell',
             p.id
        FROM payment p WHERE p.id = ANY(v_erased::char(24)[]);
    RETURN QUERY SELECT p.id::text,
        CASE WHEN p.id::text = ANY(v_erased) THEN 'erased'
             WHEN EXISTS (SELECT FROM payment_donor d WHERE d.payment_id = p.id)
               OR EXISTS (SELECT FROM receipt_email e WHERE e.payment_id = p.id)
               OR EXISTS (SELECT FROM payer_browser b WHERE b.payment_id = p.id) THEN 'open'
             ELSE 'nothing' END
      FROM payment p WHERE p.id = ANY(v_found::char(24)[]) ORDER BY p.id;
  END $$;
