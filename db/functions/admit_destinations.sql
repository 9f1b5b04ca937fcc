-- Notes where the signer is about to send money, and counts what goes to destinations that it first saw less than the
-- cooling-off ago against their cap of 24 hours. p_outputs: [{intent, address, units}], each in base units, in the
-- order in which they are to be signed. An earlier attempt of the same intent to the same address is counted once.
-- Returns the intents that are above the cap, with what was used before, and when the newest of their destinations is
-- no longer new; nothing of these is counted. The signer alone may call it. Called by `aboveCap`.
CREATE OR REPLACE FUNCTION admit_destinations(
    p_network text, p_currency text, p_outputs jsonb, p_cap numeric, p_cooling_off_hours integer)
  RETURNS TABLE (intent_id bigint, used numeric, due_at timestamptz)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_wait interval := make_interval(hours => p_cooling_off_hours);
    v_used numeric;
    v_more numeric;
    v_due timestamptz;
    v_intent bigint;
    v_new jsonb;
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
     WHERE p.currency = p_currency AND p.signed_at > clock_timestamp() - interval '24 hours';
    FOR v_intent IN
      SELECT (o->>'intent')::bigint FROM jsonb_array_elements(p_outputs) WITH ORDINALITY AS e (o, n)
       GROUP BY 1 ORDER BY min(n)
    LOOP
      SELECT coalesce(sum(x.more), 0), max(x.due), jsonb_agg(jsonb_build_object('address', x.address, 'more', x.more))
        INTO v_more, v_due, v_new
        FROM (
          SELECT d.address, d.first_seen_at + v_wait AS due,
                 sum((o->>'units')::numeric) - coalesce((
                   SELECT sum(p.units) FROM signer.new_payment p
                    WHERE p.intent_id = v_intent AND p.address = d.address AND p.currency = p_currency), 0) AS more
            FROM jsonb_array_elements(p_outputs) o
            JOIN signer.destination d ON d.network = p_network AND d.address = o->>'address'
           WHERE (o->>'intent')::bigint = v_intent AND d.first_seen_at + v_wait > clock_timestamp()
           GROUP BY d.address, d.first_seen_at) x
       WHERE x.more > 0;
      IF v_more = 0 THEN
        CONTINUE;
      ELSIF v_used + v_more > p_cap THEN
        RETURN QUERY SELECT v_intent, v_used, v_due;
      ELSE
        INSERT INTO signer.new_payment (intent_id, address, currency, units)
          SELECT v_intent, n->>'address', p_currency, (n->>'more')::numeric FROM jsonb_array_elements(v_new) n;
        v_used := v_used + v_more;
      END IF;
    END LOOP;
  END $$;
