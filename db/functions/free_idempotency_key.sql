-- Gives the idempotency key of a payment back, for which no invoice of Lightning has come: the same key then opens
-- another payment. The payment is locked, and cancelled next. CP014, by guard_choice: somebody can pay it. Called by
-- `withdrawUnpayable`.
CREATE OR REPLACE FUNCTION free_idempotency_key(p_id bpchar) RETURNS void LANGUAGE sql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
    UPDATE payment SET idempotency_key = NULL WHERE id = p_id;
  $$;
