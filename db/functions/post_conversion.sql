-- Moves two positions, in the order of their assets, and posts the journal. Returns both positions as they are now; for
-- the asset that is given, also what was free of it before the journal. Each statement sees what earlier holders of the
-- locks have committed. Called by `postInternal`.
CREATE OR REPLACE FUNCTION post_conversion(
    p_key text, p_entry jsonb, p_postings jsonb, p_taken text, p_net numeric, p_given text, p_out numeric)
  RETURNS TABLE (asset text, "position" numeric, limit_usd numeric, beyond text, free numeric) LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE v_free numeric;
  BEGIN
    INSERT INTO fx_position AS f (asset, amount)
      SELECT c.asset, c.amount FROM (VALUES (p_taken, p_net), (p_given, -p_out)) AS c (asset, amount)
       ORDER BY c.asset COLLATE "C"
      ON CONFLICT ON CONSTRAINT fx_position_pkey DO UPDATE SET amount = f.amount + EXCLUDED.amount;
    SELECT h.free INTO v_free FROM free_of(ARRAY[p_given]) h;
    PERFORM post_journal(p_key, p_entry, p_postings);
    RETURN QUERY SELECT f.asset, f.amount, f.limit_usd, f.beyond, CASE f.asset WHEN p_given THEN v_free END
      FROM fx_position f WHERE f.asset IN (p_taken, p_given);
  END $$;
