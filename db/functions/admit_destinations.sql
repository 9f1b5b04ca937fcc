-- Notes where the signer is about to send money, and counts what goes to destinations that it first saw less than the
-- cooling-off ago against their cap of 24 hours. p_outputs: [{intent, address, units}], each in base units, in the
-- order in which they are to be signed. An earlier attempt of the same intent to the same address is counted once.
-- Intents below zero are payments by Lightning: one that has failed, each of its calls answered, counts no more.
-- Returns the intents that are above the cap, with what was used before, and when the newest of their destinations is
-- no longer new; nothing of these is counted. The signer alone may call it. Called by `aboveCap`.
CREATE OR REPLACE FUNCTION admit_destinations(
    p_network text, p_currency text, p_outputs jsonb, p_cap numeric, p_cooling_off_hours integer)
  RETURNS TABLE (intent_id bigint, used numeric, due_at timestamptz)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_wait interval := make_interval(hours => p_cooling_off_hours);
    v_used numeric;
    v_order record;
    v_admitted jsonb := '[]';
  BEGIN
    INSERT INTO signer.destination (network, address)
      SELECT DISTINCT p_network, o->>'address' FROM jsonb_array_elements(p_outputs) o ORDER BY 2
      ON CONFLICT DO NOTHING;
    IF NOT EXISTS (
      SELECT FROM signer.destination d JOIN jsonb_array_elements(p_outputs) o ON o->>'address' = d.address
       WHERE d.network = p_network AND d.first_seen_at + v_wait > clock_timestamp()) THEN
      RETURN;
    END IF;
    -- One at a time: what two sign together is within the cap together.
    PERFORM pg_advisory_xact_lock(hashtext('new destinations of ' || p_currency));
    SELECT coalesce(sum(p.units), 0) INTO v_used FROM signer.new_payment p
     WHERE p.currency = p_currency AND p.signed_at > clock_timestamp() - interval '24 hours'
       AND NOT EXISTS (SELECT FROM lightning_payment l
                        WHERE l.id = -p.intent_id AND l.outcome = 'failed' AND l.unanswered = 0);
    FOR v_order IN
      WITH output AS (
        SELECT (o->>'intent')::bigint AS intent, o->>'address' AS address, sum((o->>'units')::numeric) AS units,
               min(n) AS n
          FROM jsonb_array_elements(p_outputs) WITH ORDINALITY AS e (o, n)
         GROUP BY 1, 2),
      earlier AS (
        SELECT p.intent_id AS intent, p.address, sum(p.units) AS units FROM signer.new_payment p
         WHERE p.currency = p_currency AND p.intent_id = ANY(ARRAY(SELECT o.intent FROM output o))
         GROUP BY 1, 2),
      added AS (
        SELECT o.intent, o.address, o.n, d.first_seen_at + v_wait AS due,
               o.units - coalesce(e.units, 0) AS units
          FROM output o
          JOIN signer.destination d ON d.network = p_network AND d.address = o.address
          LEFT JOIN earlier e ON e.intent = o.intent AND e.address = o.address
         WHERE d.first_seen_at + v_wait > clock_timestamp())
      SELECT a.intent, sum(a.units) AS units, max(a.due) AS due,
             jsonb_agg(jsonb_build_object('intent', a.intent, 'address', a.address, 'units', a.units)) AS payments
        FROM added a WHERE a.units > 0 GROUP BY a.intent ORDER BY min(a.n)
    LOOP
      IF v_used + v_order.units > p_cap THEN
        RETURN QUERY SELECT v_order.intent, v_used, v_order.due;
      ELSE
        v_admitted := v_admitted || v_order.payments;
        v_used := v_used + v_order.units;
      END IF;
    END LOOP;
    INSERT INTO signer.new_payment (intent_id, address, currency, units)
      SELECT r.intent, r.address, p_currency, r.units
        FROM jsonb_to_recordset(v_admitted) AS r (intent bigint, address text, units numeric);
  END $$;
