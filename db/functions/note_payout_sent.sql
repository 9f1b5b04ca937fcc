-- A node has these attempts: marks them, their intents and their payout lines as sent. Returns whether the status of
-- the batch may change with it. Called by `noteSent`.
CREATE OR REPLACE FUNCTION note_payout_sent(p_batch text, p_attempts bigint[]) RETURNS boolean LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_status text;
  BEGIN
    SELECT status INTO v_status FROM payout_batch WHERE id = p_batch FOR UPDATE;
    UPDATE payout_leg l
       SET status = 'broadcast', tx_id = a.tx_id, state_version = l.state_version + 1, updated_at = clock_timestamp()
      FROM attempt a
     WHERE a.id = ANY(p_attempts) AND l.intent_id = a.intent_id AND l.batch_id = p_batch AND l.status = 'processing';
    UPDATE attempt SET status = 'sent', sent_at = coalesce(sent_at, now()), missing_at_height = NULL
      WHERE id IN (SELECT id FROM attempt WHERE id = ANY(p_attempts) AND status = 'stored' ORDER BY id FOR UPDATE);
    UPDATE intent SET status = 'sent', updated_at = now()
      WHERE id IN (SELECT id FROM intent WHERE id IN (SELECT intent_id FROM attempt WHERE id = ANY(p_attempts))
                      AND status IN ('planned', 'stored') ORDER BY id FOR UPDATE);
    RETURN v_status IS DISTINCT FROM 'processing'
      OR NOT EXISTS (SELECT FROM payout_leg WHERE batch_id = p_batch AND status IN ('pending', 'processing'));
  END $$;
