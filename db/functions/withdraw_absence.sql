-- A block has what the signer's own node had proven void. The proof counts no more: its intent is not signed again and
-- nothing of it goes back until that node has proven it once more. Called by `applyBlock`.
CREATE OR REPLACE FUNCTION withdraw_absence(p_network text, p_tx_ids text[]) RETURNS void LANGUAGE sql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  UPDATE signer.validity SET absence = NULL
   WHERE network = p_network AND tx_id = ANY(p_tx_ids) AND absence IS NOT NULL $$;
