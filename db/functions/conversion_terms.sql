-- What applies to a pair now, by the database's clock: a row for the currency that is given, then one for the currency
-- that is received. plpgsql, so that it is planned once per connection. Called by `pairTerms`.
CREATE OR REPLACE FUNCTION conversion_terms(p_from text, p_to text, p_seconds double precision)
  RETURNS TABLE (now timestamptz, rate_id text, value text, is_fresh boolean, "position" text, limit_usd text,
    beyond text, mode text, max_usd text)
  LANGUAGE plpgsql STABLE
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    RETURN QUERY
      SELECT clock_timestamp(), r.rate_id::text, r.value::text,
             r.taken_at >= clock_timestamp() - make_interval(secs => p_seconds),
             f.amount::text, f.limit_usd::text, f.beyond, c.mode, c.max_usd::text
        FROM (VALUES (1, p_from), (2, p_to)) AS side (n, currency)
        LEFT JOIN rate_latest r ON r.currency = rated_as(side.currency) AND r.fiat = 'USD'
        LEFT JOIN fx_position f ON f.asset = side.currency
        LEFT JOIN conversion_pair c ON c.from_currency = p_from AND c.to_currency = p_to
       ORDER BY side.n;
  END $$;
