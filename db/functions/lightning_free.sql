-- What the books have in our Lightning node beyond what merchants are owed of it: so much its owner may take out, or
-- lose. What comes, is paid or is converted never makes it less. Called by `freeInNode` and check_request_journal.
CREATE OR REPLACE FUNCTION lightning_free() RETURNS numeric LANGUAGE sql VOLATILE
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT coalesce(sum(treasury - owed), 0) FROM held_part WHERE asset = 'BTC_LN' $$;
