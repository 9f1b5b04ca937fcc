-- Whether what was posted under a key is in force: not reversed, or reversed and reinstated. Read by the facts of a
-- payment and by the audit.
CREATE OR REPLACE FUNCTION journal_stands(wanted text) RETURNS boolean LANGUAGE sql STABLE
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH RECURSIVE chain AS (
    SELECT id, 0 AS steps FROM journal WHERE key = wanted
    UNION ALL SELECT j.id, c.steps + 1 FROM journal j JOIN chain c ON j.reverses = c.id)
  SELECT coalesce(max(steps) % 2 = 0, false) FROM chain $$;
