-- Holds off every freeze of outgoing money until the end of the transaction. Called by `lockStopsAndFreezes`.
CREATE OR REPLACE FUNCTION hold_freezes() RETURNS void LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    LOCK TABLE egress_freeze IN SHARE MODE;
  END $$;
