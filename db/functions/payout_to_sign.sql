-- What the signing of these transfers of one mass payout is decided by, read in one call and locked as the signing of a
-- single transfer locks it: batch, intents, whitelist, freezes, wallet. NULL where the batch is not approved; without a
-- nonce where it has to be admitted first. Called by `payoutToSign`.
CREATE OR REPLACE FUNCTION payout_to_sign(p_batch text, p_intents bigint[]) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    v_batch payout_batch; v_intents jsonb; v_legs jsonb; v_listed jsonb; v_frozen boolean; v_admitted boolean;
    v_network text; v_from text; v_sequence wallet_sequence;
  BEGIN
    SELECT * INTO v_batch FROM payout_batch WHERE id = p_batch FOR UPDATE;
    IF v_batch.approved_at IS NULL THEN RETURN NULL; END IF;
    SELECT jsonb_agg(jsonb_build_object('id', i.id::text, 'network', i.network, 'currency', i.currency,
             'from_address', i.from_address, 'outputs', i.outputs, 'max_unit_price', i.max_unit_price::text)
             ORDER BY i.id)
      INTO v_intents FROM (
        SELECT * FROM intent one
         WHERE one.id = ANY(p_intents) AND one.kind = 'leg'
           AND one.owner_kind = 'payout-batch' AND one.owner_id = p_batch
           AND one.status = 'planned' AND cardinality(one.deposit_ids) = 0
           AND NOT EXISTS (SELECT FROM attempt a WHERE a.intent_id = one.id) ORDER BY one.id FOR UPDATE) i;
    IF v_intents IS NULL THEN RETURN NULL; END IF;
    v_network := v_intents->0->>'network';
    v_from := v_intents->0->>'from_address';
    SELECT jsonb_agg(jsonb_build_object('id', l.id, 'intent_id', l.intent_id::text, 'network', l.network,
             'currency', l.currency, 'address', l.address, 'destination_tag', l.destination_tag,
             'net_amount', l.net_amount::text) ORDER BY l.row_index)
      INTO v_legs FROM payout_leg l
     WHERE l.intent_id = ANY(p_intents) AND l.batch_id = p_batch AND l.status = 'pending';
    SELECT jsonb_agg(jsonb_build_array(w.currency, w.address, w.destination_tag))
      INTO v_listed FROM (
        SELECT * FROM whitelist_entry one WHERE one.merchant_id = v_batch.merchant_id AND one.type = 'wallet'
           AND one.address = ANY(ARRAY(SELECT l->>'address' FROM jsonb_array_elements(v_legs) l))
           AND one.active_at <= now() AND one.removed_at IS NULL FOR SHARE) w;
    LOCK TABLE egress_freeze IN SHARE MODE;
    v_frozen := EXISTS (SELECT FROM egress_freeze WHERE currency IN (v_intents->0->>'currency', '*'));
    v_admitted := EXISTS (SELECT FROM egress_admission
      WHERE kind = 'mass_payout' AND ref = p_batch AND signed_at IS NOT NULL AND released_at IS NULL);
    IF v_admitted AND NOT v_frozen THEN
      INSERT INTO wallet_sequence (network, address) VALUES (v_network, v_from) ON CONFLICT DO NOTHING;
      SELECT * INTO v_sequence FROM wallet_sequence WHERE network = v_network AND address = v_from FOR UPDATE;
    END IF;
    RETURN jsonb_build_object('status', v_batch.status, 'intents', v_intents, 'legs', coalesce(v_legs, '[]'),
      'listed', coalesce(v_listed, '[]'),
      'isFrozen', v_frozen, 'isAdmitted', v_admitted, 'nonce', v_sequence.next_nonce,
      'walletFrozen', v_sequence.frozen_reason,
      'key', (SELECT jsonb_build_object('role', role, 'index', key_index) FROM address
               WHERE network = v_network AND address = v_from),
      'price', (SELECT jsonb_build_object('unitPrice', unit_price::text, 'tipPrice', tip_price::text) FROM network_fee
                 WHERE network = v_network AND taken_at > now() - interval '10 minutes'));
  END $$;
