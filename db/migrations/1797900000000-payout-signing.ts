import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the signer and the sender of a mass payout read and write of many payments at once, each in one call: they have nothing else to
 *  wait for, and a plan is made once. */
const statements = [
  /** What the signer judges these transfers of one payout by, locked as signing one by one locks it: batch, intents, the whitelist, freezes,
   *  the wallet. NULL where nobody has let the batch go; without a nonce where it is to be admitted first. */
  `CREATE FUNCTION payout_to_sign(p_batch text, p_intents bigint[]) RETURNS jsonb LANGUAGE plpgsql AS $$
    DECLARE
      v_batch payout_batch; v_intents jsonb; v_legs jsonb; v_listed jsonb; v_frozen boolean; v_admitted boolean;
      v_network text; v_from text; v_sequence wallet_sequence;
    BEGIN
      SELECT * INTO v_batch FROM payout_batch WHERE id = p_batch FOR UPDATE;
      IF v_batch.approved_at IS NULL THEN RETURN NULL; END IF;
      SELECT jsonb_agg(jsonb_build_object('id', i.id::text, 'network', i.network, 'currency', i.currency, 'from_address', i.from_address,
               'outputs', i.outputs, 'max_unit_price', i.max_unit_price::text) ORDER BY i.id)
        INTO v_intents FROM (
          SELECT * FROM intent one WHERE one.id = ANY(p_intents) AND one.kind = 'leg' AND one.owner_workflow = 'payout-batch/' || p_batch
             AND one.status = 'planned' AND cardinality(one.deposit_ids) = 0
             AND NOT EXISTS (SELECT FROM attempt a WHERE a.intent_id = one.id) ORDER BY one.id FOR UPDATE) i;
      IF v_intents IS NULL THEN RETURN NULL; END IF;
      v_network := v_intents->0->>'network';
      v_from := v_intents->0->>'from_address';
      SELECT jsonb_agg(jsonb_build_object('id', l.id, 'intent_id', l.intent_id::text, 'network', l.network, 'currency', l.currency,
               'address', l.address, 'destination_tag', l.destination_tag, 'net_amount', l.net_amount::text) ORDER BY l.row_index)
        INTO v_legs FROM payout_leg l WHERE l.intent_id = ANY(p_intents) AND l.batch_id = p_batch AND l.status = 'pending';
      SELECT jsonb_agg(jsonb_build_array(w.currency, w.address, w.destination_tag))
        INTO v_listed FROM (
          SELECT * FROM whitelist_entry one WHERE one.merchant_id = v_batch.merchant_id AND one.type = 'wallet'
             AND one.address = ANY(ARRAY(SELECT l->>'address' FROM jsonb_array_elements(v_legs) l))
             AND one.active_at <= now() AND one.removed_at IS NULL FOR SHARE) w;
      LOCK TABLE egress_freeze IN SHARE MODE;
      v_frozen := EXISTS (SELECT FROM egress_freeze WHERE currency IN (v_intents->0->>'currency', '*'));
      v_admitted := EXISTS (SELECT FROM egress_admission WHERE kind = 'mass_payout' AND ref = p_batch AND signed_at IS NOT NULL AND released_at IS NULL);
      IF v_admitted AND NOT v_frozen THEN
        INSERT INTO wallet_sequence (network, address) VALUES (v_network, v_from) ON CONFLICT DO NOTHING;
        SELECT * INTO v_sequence FROM wallet_sequence WHERE network = v_network AND address = v_from FOR UPDATE;
      END IF;
      RETURN jsonb_build_object('status', v_batch.status, 'intents', v_intents, 'legs', coalesce(v_legs, '[]'), 'listed', coalesce(v_listed, '[]'),
        'isFrozen', v_frozen, 'isAdmitted', v_admitted, 'nonce', v_sequence.next_nonce, 'walletFrozen', v_sequence.frozen_reason,
        'key', (SELECT jsonb_build_object('role', role, 'index', key_index) FROM address WHERE network = v_network AND address = v_from),
        'price', (SELECT jsonb_build_object('unitPrice', unit_price::text, 'tipPrice', tip_price::text) FROM network_fee
                   WHERE network = v_network AND taken_at > now() - interval '10 minutes'));
    END $$`,
  /** Keeps what was signed of one wallet with nonces in a row, whole or not at all. */
  `CREATE FUNCTION store_payout_signatures(p_network text, p_from text, p_rows jsonb) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
      v_intents bigint[]; v_legs text[]; v_first integer; v_count integer := jsonb_array_length(p_rows); v_done integer;
    BEGIN
      SELECT array_agg((r->>'intent_id')::bigint), array_agg(r->>'leg_id'), min((r->>'nonce')::integer)
        INTO v_intents, v_legs, v_first FROM jsonb_array_elements(p_rows) r;
      INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, unit_price, max_fee_units, moved_units, outputs)
        SELECT a.intent_id, 1, p_network, a.tx_id, a.raw, p_from, a.nonce, a.unit_price, a.max_fee_units, a.moved_units, a.outputs
          FROM jsonb_to_recordset(p_rows) AS a (intent_id bigint, tx_id text, raw text, nonce integer, unit_price numeric, max_fee_units numeric,
            moved_units numeric, outputs jsonb) ORDER BY a.nonce;
      UPDATE wallet_sequence SET next_nonce = next_nonce + v_count WHERE network = p_network AND address = p_from AND next_nonce = v_first;
      IF NOT FOUND THEN RAISE EXCEPTION 'wallet % is not at nonce %', p_from, v_first; END IF;
      UPDATE intent SET status = 'stored', updated_at = now() WHERE id = ANY(v_intents) AND status = 'planned';
      GET DIAGNOSTICS v_done = ROW_COUNT;
      IF v_done <> v_count THEN RAISE EXCEPTION 'intents of wallet % have changed meanwhile', p_from; END IF;
      UPDATE payout_leg l SET status = 'processing', state_version = l.state_version + 1, updated_at = clock_timestamp()
        FROM unnest(v_legs, v_intents) AS r (id, intent_id) WHERE l.id = r.id AND l.intent_id = r.intent_id AND l.status = 'pending';
      GET DIAGNOSTICS v_done = ROW_COUNT;
      IF v_done <> v_count THEN RAISE EXCEPTION 'payments of wallet % have changed meanwhile', p_from; END IF;
    END $$`,
  /** A node has these attempts: so say their rows, and those of the payments that they make. Whether the batch may now stand otherwise. */
  `CREATE FUNCTION note_payout_sent(p_batch text, p_attempts bigint[]) RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE
      v_status text;
    BEGIN
      SELECT status INTO v_status FROM payout_batch WHERE id = p_batch FOR UPDATE;
      UPDATE payout_leg l SET status = 'broadcast', tx_id = a.tx_id, state_version = l.state_version + 1, updated_at = clock_timestamp()
        FROM attempt a WHERE a.id = ANY(p_attempts) AND l.intent_id = a.intent_id AND l.batch_id = p_batch AND l.status = 'processing';
      UPDATE attempt SET status = 'sent', sent_at = coalesce(sent_at, now()), missing_at_height = NULL
        WHERE id IN (SELECT id FROM attempt WHERE id = ANY(p_attempts) AND status = 'stored' ORDER BY id FOR UPDATE);
      UPDATE intent SET status = 'sent', updated_at = now()
        WHERE id IN (SELECT id FROM intent WHERE id IN (SELECT intent_id FROM attempt WHERE id = ANY(p_attempts))
                        AND status IN ('planned', 'stored') ORDER BY id FOR UPDATE);
      RETURN v_status IS DISTINCT FROM 'processing'
        OR NOT EXISTS (SELECT FROM payout_leg WHERE batch_id = p_batch AND status IN ('pending', 'processing'));
    END $$`,
];

export class PayoutSigning1797900000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const statement of statements) await q.query(statement);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP FUNCTION payout_to_sign, store_payout_signatures, note_payout_sent');
  }
}
