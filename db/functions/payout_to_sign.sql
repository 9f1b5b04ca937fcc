-- The rows that say whether these intents of one mass payout may be signed, read in one call and locked as the signing
-- of a single one locks them: batch, intents, whitelist, merchant, freezes, wallet. It decides nothing:
-- txmanager/sign/policy.ts does. NULL where the batch has none of them. The limits are locked before the wallet, so
-- that the wallet is neither locked nor read before they were asked. Called by `payoutRows`.
CREATE OR REPLACE FUNCTION payout_to_sign(p_batch text, p_intents bigint[]) RETURNS jsonb LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE
    v_batch payout_batch; v_intents jsonb; v_lines jsonb; v_listed jsonb; v_admission egress_admission;
    v_network text; v_from text; v_wallet jsonb; v_held text;
  BEGIN
    SELECT * INTO v_batch FROM payout_batch WHERE id = p_batch FOR UPDATE;
    SELECT jsonb_agg(jsonb_build_object('id', i.id::text, 'kind', i.kind, 'ref', i.ref, 'network', i.network,
             'currency', i.currency, 'from_address', i.from_address, 'outputs', i.outputs,
             'deposit_ids', i.deposit_ids::text[], 'status', i.status, 'owner_kind', i.owner_kind,
             'owner_id', i.owner_id,
             'payment_id', i.payment_id, 'merchant_id', i.merchant_id, 'max_unit_price', i.max_unit_price::text,
             'fee_budget', i.fee_budget::text, 'gas_limit', i.gas_limit::text,
             'is_signed', EXISTS (SELECT FROM attempt a WHERE a.intent_id = i.id)) ORDER BY i.id)
      INTO v_intents FROM (
        SELECT * FROM intent one
         WHERE one.id = ANY(p_intents) AND one.owner_kind = 'payout-batch'
           AND one.owner_id = p_batch
         ORDER BY one.id FOR UPDATE) i;
    IF v_intents IS NULL THEN RETURN NULL; END IF;
    v_network := v_intents->0->>'network';
    v_from := v_intents->0->>'from_address';
    SELECT jsonb_agg(jsonb_build_object('id', l.id, 'intent_id', l.intent_id::text, 'status', l.status,
             'currency', l.currency, 'address', l.address, 'destination_tag', l.destination_tag,
             'net_amount', l.net_amount::text) ORDER BY l.row_index)
      INTO v_lines FROM payout_leg l
     WHERE l.intent_id = ANY(p_intents) AND l.batch_id = p_batch;
    SELECT jsonb_agg(jsonb_build_array(w.currency, w.address, w.destination_tag))
      INTO v_listed FROM (
        SELECT * FROM whitelist_entry one WHERE one.merchant_id = v_batch.merchant_id AND one.type = 'wallet'
           AND one.address = ANY(ARRAY(SELECT l->>'address' FROM jsonb_array_elements(v_lines) l))
           AND one.active_at <= now() AND one.removed_at IS NULL FOR SHARE) w;
    SELECT held_because INTO v_held FROM merchant WHERE id = v_batch.merchant_id FOR SHARE;
    LOCK TABLE egress_freeze IN SHARE MODE;
    SELECT * INTO v_admission FROM egress_admission WHERE kind = 'mass_payout' AND ref = p_batch;
    IF v_admission.signed_at IS NOT NULL THEN
      INSERT INTO wallet_sequence (network, address) VALUES (v_network, v_from) ON CONFLICT DO NOTHING;
      SELECT jsonb_build_object('next_nonce', w.next_nonce, 'frozen_reason', w.frozen_reason)
        INTO v_wallet FROM wallet_sequence w WHERE w.network = v_network AND w.address = v_from FOR UPDATE;
    END IF;
    RETURN jsonb_build_object('status', v_batch.status, 'isApproved', v_batch.approved_at IS NOT NULL,
      'intents', v_intents, 'lines', coalesce(v_lines, '[]'), 'listed', coalesce(v_listed, '[]'),
      'freezes', coalesce((SELECT jsonb_agg(jsonb_build_object('currency', currency, 'reason', reason)
                              ORDER BY currency) FROM egress_freeze), '[]'),
      'held', v_held,
      'admission', CASE WHEN v_admission.ref IS NOT NULL THEN
         jsonb_build_object('isSigned', v_admission.signed_at IS NOT NULL,
           'isReleased', v_admission.released_at IS NOT NULL) END,
      'wallet', v_wallet,
      'own', coalesce((SELECT jsonb_agg(jsonb_build_object('address', address, 'role', role,
                          'merchant_id', merchant_id, 'branch', branch, 'key_index', key_index)) FROM address
                        WHERE network = v_network AND tag = '' AND address = ANY(ARRAY(
                          SELECT v_from UNION SELECT i->>'from_address' FROM jsonb_array_elements(v_intents) i
                          UNION SELECT o->>'address' FROM jsonb_array_elements(v_intents) i,
                                  jsonb_array_elements(i->'outputs') o))), '[]'),
      'price', (SELECT jsonb_build_object('unitPrice', unit_price::text, 'tipPrice', tip_price::text,
                  'dataPart', data_part::text,
                  'ageSeconds', floor(extract(epoch FROM now() - taken_at))::int) FROM network_fee
                 WHERE network = v_network));
  END $$;
