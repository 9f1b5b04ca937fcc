-- Adds to held_part what new postings change of what the treasury holds, or the Lightning node, whose asset the
-- treasury has none of, and of what is owed. Fires on each insert of postings; read by free_of, merged by `mergeHeld`.
CREATE OR REPLACE FUNCTION note_held() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    INSERT INTO held_part (asset, treasury, owed)
      SELECT asset, sum(treasury), sum(owed) FROM (
        SELECT asset, amount * ((debit IN ('A:treasury', 'A:lightning'))::int
                         - (credit IN ('A:treasury', 'A:lightning'))::int) AS treasury,
               amount * (starts_with(credit, 'L:')::int - starts_with(debit, 'L:')::int) AS owed FROM added) moved
       GROUP BY asset HAVING sum(treasury) <> 0 OR sum(owed) <> 0;
    RETURN NULL;
  END $$;

CREATE OR REPLACE TRIGGER posting_held AFTER INSERT ON posting REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION note_held();
