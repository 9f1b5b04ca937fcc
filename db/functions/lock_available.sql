-- What a merchant may dispose of in an asset, locked until the transaction ends. Called by `chargeRevert` and
-- `chargeGas`.
CREATE OR REPLACE FUNCTION lock_available(p_merchant text, p_asset text) RETURNS numeric LANGUAGE sql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT amount FROM balance WHERE account = 'L:available:' || p_merchant AND asset = p_asset FOR UPDATE;
  $$;
