import { randomBytes } from 'node:crypto';
import { post } from '../../db/ledger/ledger';
import { openIncident } from '../../db/incidents';
import { depositJournal, settleJournal, sweepJournal } from '../../domain/ledger/ledger';
import { unguarded } from '../unguarded';
import type { Harness, Shop } from './harness';

export type Settled = Readonly<{
  id: string;
  slug: string;
  orderId: string;
  address: string;
  depositTx: string;
  sweepTx: string;
  intentId: string;
}>;

/** A settled payment in every table that its way leaves rows in, as workers write them. `name`: of its order. */
export async function settledStory(h: Harness, shop: Shop, name: string): Promise<Settled> {
  const made = await h.call('POST', '/api/v1/payments', {
    key: shop.key,
    body: {
      amount: 40,
      currency: 'ETH',
      merchantOrderId: name,
      ipnCallbackUrl: 'https://shop.example/ipn?token=of-the-shop',
      metadata: { custom: { orderId: `${name}-custom` } },
    },
  });
  expect(made.status).toBe(201);
  const { paymentId: id, depositAddress: address, invoiceUrl, amount } = made.body;
  const [depositTx, sweepTx] = [randomBytes(32), randomBytes(32)].map((bytes) => `0x${bytes.toString('hex')}`);
  const paid = String(amount);
  const intentId = await unguarded(h.db, async (tx) => {
    await tx.query(
      `UPDATE payment SET status = 'SETTLED', amount_paid = $2, settled_fee_amount = 0, settled_net_amount = $2,
              settled_at = now() WHERE id = $1`,
      [id, paid],
    );
    await tx.query(
      `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
         is_dust, status, first_seen_at, confirmed_at, allocation)
       VALUES ('ethereum', $1, 0, $2, 'deposit', $3, 'ETH', $4, $4, false, 'confirmed', now(), now(), 'settled')`,
      [depositTx, address, id, paid],
    );
    const [intent] = await tx.query<Array<{ id: string }>>(
      `INSERT INTO intent (kind, ref, network, currency, from_address, outputs, max_unit_price, fee_budget, status,
         payment_id, merchant_id, owner_kind, owner_id, booked)
       VALUES ('sweep', $1 || '/1', 'ethereum', 'ETH', $2, '[]', 1, 1, 'final', $1, $3, 'sweep', $1, true)
       RETURNING id::text`,
      [id, address, shop.id],
    );
    await tx.query(
      `INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, unit_price, max_fee_units,
         moved_units, outputs, status, block_hash, height, success, fee_units)
       VALUES ($1, 1, 'ethereum', $2, '0x5ec4e7', $3, 0, 1, 1, 1, '[]', 'final', 'h9', 9, true, 1)`,
      [intent!.id, sweepTx, address],
    );
    return intent!.id;
  });
  await h.db.query('UPDATE merchant_counter SET open_payments = open_payments - 1 WHERE merchant_id = $1', [shop.id]);
  const coin = { currency: 'ETH', merchantId: shop.id };
  await h.db.transaction(async (tx) => {
    await post(tx, depositJournal({ ...coin, network: 'ethereum', txId: depositTx!, index: 0, amount: paid }));
    const net = { commission: '0', network: '0', net: paid };
    await post(tx, settleJournal({ ...coin, ...net, paymentId: id }));
    await post(tx, sweepJournal({ ref: intentId, currency: 'ETH', native: 'ETH', chainFee: '0', moved: paid }));
  });
  await openIncident(h.db, {
    kind: 'sweep-overdue',
    subject: { kind: 'payment', id },
    details: { why: `<img src=x onerror=alert(1)> ${name}` },
  });
  return {
    id,
    slug: invoiceUrl.split('/').pop(),
    orderId: name,
    address,
    depositTx: depositTx!,
    sweepTx: sweepTx!,
    intentId,
  };
}
