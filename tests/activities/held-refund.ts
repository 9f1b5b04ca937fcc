import type { refundActivities } from '../../activities/refunds/refunds';
import { openRefund } from '../../commands/refunds/create';
import { post } from '../../db/ledger/ledger';
import { newId, newSlug } from '../../domain/ids';
import { unallocatedJournal } from '../../domain/ledger/ledger';
import type { RefundRow } from '../../domain/refunds/refund';
import { unguarded } from '../unguarded';
import { codecs, seed, strangers, type RichShop } from './rich-shop';

/** Refunds of a hundredth of an ether that came to a payment which had ended, from where it came to. */

export type Held = Readonly<{ id: string; intentId: string; paymentId: string; address: string }>;
type Activities = Pick<ReturnType<typeof refundActivities>, 'nextRefundIntent'>;

const away = codecs.ethereum.derive(strangers, 0);
let lastIndex = 100;

/** Asks for what the payment still holds. */
export const askHeld = async ({ db, merchantId }: RichShop, paymentId: string): Promise<RefundRow> => {
  const ask = { type: 'full', address: away } as const;
  const { row } = await db.transaction((tx) =>
    openRefund(
      tx,
      { codecs, rateMaxAgeSeconds: 3600 },
      { merchantId, paymentId, ask, by: { userId: newId() }, idempotencyKey: null },
    ),
  );
  return row;
};

/** The intent that is to be signed for it. */
export async function intentOf(activities: Activities, id: string): Promise<string> {
  const next = await activities.nextRefundIntent(id);
  if (!next || !('id' in next)) throw new Error(`Nothing planned: ${JSON.stringify(next)}`);
  return next.id;
}

/** One of them, planned and not signed. */
export async function heldRefund(shop: RichShop, activities: Activities): Promise<Held> {
  const { db, merchantId } = shop;
  const [paymentId, txId] = [newId(), newId()];
  const address = codecs.ethereum.derive(codecs.ethereum.extendedKey(seed, 'deposit'), (lastIndex += 1));
  await unguarded(db, (tx) =>
    tx.query(
      `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
         tolerance_pct, underpaid_policy,
       currency, network, amount, exchange_rate, amount_paid, settlement_address, custody, expires_at, expires_in)
     VALUES ($1, $2, $3, 'EXPIRED', 'api', 32, 'USD', 'merchant', 40, 1, 'hold', 'ETH', 'ethereum', 0.01, 3200, 0, $4,
       'platform', now(), 60)`,
      [paymentId, merchantId, newSlug(), shop.hot],
    ),
  );
  await db.query(
    `INSERT INTO address (network, address, role, key_index, merchant_id, payment_id)
       VALUES ('ethereum', $1, 'deposit', $2, $3, $4)`,
    [address, lastIndex, merchantId, paymentId],
  );
  await db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
       is_dust, status, first_seen_at,
       confirmed_at, allocation) VALUES ('ethereum', $1, 0, $2, 'deposit', $3, 'ETH', 0.01, 0.01, false, 'confirmed',
         now(), now(), 'unallocated')`,
    [txId, address, paymentId],
  );
  const deposit = { network: 'ethereum', txId, index: 0, currency: 'ETH', amount: '0.01', merchantId };
  await db.transaction((tx) => post(tx, unallocatedJournal(deposit)));
  const { id } = await askHeld(shop, paymentId);
  return { id, intentId: await intentOf(activities, id), paymentId, address };
}
