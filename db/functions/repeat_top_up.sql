-- Plans a gas top-up whose transaction was reverted once more, without an estimate. Called by `topUpAgain`.
CREATE OR REPLACE FUNCTION repeat_top_up(p_intent bigint) RETURNS void LANGUAGE sql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
    INSERT INTO intent (kind, ref, network, currency, from_address, outputs, deposit_ids, max_unit_price, fee_budget,
        payment_id, merchant_id, owner_kind, owner_id)
      SELECT i.kind, i.ref || '/after-' || i.id, i.network, i.currency, i.from_address, i.outputs, i.deposit_ids,
             i.max_unit_price, i.fee_budget, i.payment_id, i.merchant_id, i.owner_kind, i.owner_id
        FROM intent i WHERE i.id = p_intent AND i.kind = 'gas'
         AND EXISTS (SELECT FROM attempt a WHERE a.intent_id = i.id AND a.status = 'final' AND NOT a.success)
      ON CONFLICT (kind, ref) DO NOTHING;
  $$;
