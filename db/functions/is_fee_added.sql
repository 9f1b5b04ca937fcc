-- Whether a change of a row that leaves makes its network fee higher, and what its receiver gets lower by as much, and
-- changes nothing else: once, before anything is signed of it, and where its merchant was not charged for the same.
-- Called by the guards of such rows, which know whether the receiver bears the fee.
CREATE OR REPLACE FUNCTION is_fee_added(p_kind text, p_intent bigint, p_old jsonb, p_new jsonb) RETURNS boolean
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT coalesce(p_old->>'status' = 'pending' AND p_old->>'added_fee' IS NULL AND (p_new->>'added_fee')::numeric > 0
     AND (p_new->>'network_fee')::numeric - (p_old->>'network_fee')::numeric = (p_new->>'added_fee')::numeric
     AND (p_old->>'net_amount')::numeric - (p_new->>'net_amount')::numeric = (p_new->>'added_fee')::numeric
     AND (p_new->>'net_amount')::numeric > 0
     AND (p_new->>'state_version')::integer > (p_old->>'state_version')::integer
     AND p_new - change = p_old - change, false)
     AND NOT EXISTS (SELECT FROM attempt WHERE intent_id IN (
       SELECT id FROM intent WHERE kind = p_kind AND ref = p_old->>'id' UNION SELECT p_intent))
     AND NOT EXISTS (SELECT FROM journal WHERE key = concat('hold/', p_kind, '/', p_old->>'id', '/gas'))
    FROM (VALUES (ARRAY['added_fee', 'network_fee', 'net_amount', 'state_version', 'updated_at'])) AS may (change)
  $$;
