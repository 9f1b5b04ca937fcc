-- Intents, attempts and deposits get ids a million higher from now on: workflows of a time that a recovery has lost
-- have ids of rows that are gone, and no new row gets them. Called by `beginEpoch`.
CREATE OR REPLACE FUNCTION skip_ids() RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE v_sequence text;
  BEGIN
    FOREACH v_sequence IN ARRAY ARRAY[pg_get_serial_sequence('intent', 'id'), pg_get_serial_sequence('attempt', 'id'),
      pg_get_serial_sequence('deposit', 'id')] LOOP
      PERFORM setval(v_sequence, nextval(v_sequence) + 1000000);
    END LOOP;
  END $$;
