import { randomBytes } from 'node:crypto';
import { post } from '../../db/ledger/ledger';
import { unallocatedJournal } from '../../domain/ledger/ledger';
import { adjustment } from '../../domain/ledger/entry';
import type { Harness, Shop } from './harness';
import { unguarded } from '../unguarded';

/** A payment that has settled, as workers would have left it; the balance has what they would have credited. */
export async function settledPayment(
  h: Harness,
  shop: Pick<Shop, 'id' | 'key'>,
  over: { currency?: string; paid?: string; custody?: string; credit?: string } = {},
): Promise<{ id: string; paid: string }> {
  const currency = over.currency ?? 'ETH';
  const made = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 40, currency } });
  const id: string = made.body.paymentId;
  const paid = over.paid ?? String(made.body.amount);
  await unguarded(h.db, (tx) =>
    tx.query(
      `UPDATE payment SET status = 'SETTLED', state_version = state_version + 1, amount_paid = $2,
         custody = coalesce($3, custody),
            settled_fee_amount = 0, settled_net_amount = $2 WHERE id = $1`,
      [id, paid, over.custody ?? null],
    ),
  );
  await h.db.query('UPDATE merchant_counter SET open_payments = open_payments - 1 WHERE merchant_id = $1', [shop.id]);
  const credit = over.credit ?? paid;
  if (credit !== '0')
    await h.db.transaction((tx) =>
      post(tx, {
        key: `test/${id}`,
        entry: adjustment,
        postings: [{ debit: 'A:treasury', credit: `L:available:${shop.id}`, asset: currency, amount: credit }],
      }),
    );
  return { id, paid };
}

/** A payment that has failed, and what it still holds. `before`: what happens before its money comes. */
export async function failedPayment(
  h: Harness,
  shop: Pick<Shop, 'id' | 'key'>,
  held: ReadonlyArray<readonly [currency: string, amount: string]>,
  before: (made: { id: string; slug: string; depositAddress: string }) => Promise<unknown> = async () => undefined,
) {
  const made = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 40, currency: 'ETH' } });
  const { paymentId: id, depositAddress } = made.body;
  await before({ id, slug: made.body.invoiceUrl.split('/').pop(), depositAddress });
  await unguarded(h.db, (tx) =>
    tx.query(`UPDATE payment SET status = 'FAILED', state_version = 2, exceptions = '{underpaid}' WHERE id = $1`, [id]),
  );
  await h.db.query('UPDATE merchant_counter SET open_payments = open_payments - 1 WHERE merchant_id = $1', [shop.id]);
  for (const [currency, amount] of held) {
    const txId = randomBytes(32).toString('hex');
    await h.db.query(
      `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
         is_dust, status, first_seen_at, allocation)
       VALUES ('ethereum', $1, 0, $2, 'deposit', $3, $4, $5, $5, false, 'confirmed', now(), 'unallocated')`,
      [txId, depositAddress, id, currency, amount],
    );
    const deposit = { network: 'ethereum', txId, index: 0, currency, amount, merchantId: shop.id };
    await h.db.transaction((tx) => post(tx, unallocatedJournal(deposit)));
  }
  return id as string;
}
