-- The signer's own node has proven a transaction void. A proof that does not cover its blocks is refused. The signer
-- alone may call it. Called by `noteAbsence`.
CREATE OR REPLACE FUNCTION note_absence(p_network text, p_tx_id text, p_absence jsonb) RETURNS void LANGUAGE sql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  UPDATE signer.validity SET absence = p_absence WHERE network = p_network AND tx_id = p_tx_id AND absence IS NULL $$;
