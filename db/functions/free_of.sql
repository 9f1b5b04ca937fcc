-- What the treasury holds of each asset, or the Lightning node of its own, what merchants are owed of it, and what that
-- leaves free; of a frozen asset nothing. What a swap provider has paid out for a conversion that is not completed yet
-- is in the treasury, and promised: it is not free. Called by `freeSql` and post_conversion.
CREATE OR REPLACE FUNCTION free_of(p_assets text[])
  RETURNS TABLE (asset text, treasury numeric, owed numeric, free numeric) LANGUAGE sql STABLE
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT a.asset, h.treasury, h.owed,
           CASE WHEN EXISTS (SELECT FROM egress_freeze z WHERE z.currency IN (a.asset, '*')) THEN 0
                ELSE h.treasury - h.owed - coalesce(s.amount, 0) END
      FROM unnest(p_assets) AS a (asset)
      CROSS JOIN LATERAL (
        SELECT coalesce(sum(p.treasury), 0) AS treasury, coalesce(sum(p.owed), 0) AS owed
          FROM held_part p WHERE p.asset = a.asset) h
      LEFT JOIN (
        SELECT d.currency, sum(d.amount) AS amount FROM conversion c
          JOIN address w ON w.conversion_id = c.id
          JOIN deposit d ON d.network = w.network AND d.address = w.address AND d.tag = w.tag
           AND d.currency = c.to_currency
         WHERE c.status = 'processing' AND d.allocation = 'capital' GROUP BY d.currency) s ON s.currency = a.asset $$;
