import type { DataSource } from 'typeorm';
import { followInvoices } from '../../activities/lightning/follow';
import { lndInvoices } from '../../chains/lightning/invoices';
import { lndReadings } from '../../chains/lightning/readings';
import { offerInvoice } from '../../commands/lightning/offer';
import { noteNode } from '../../db/lightning/node';
import { lockPayment } from '../../db/payments/payments';
import { newId, newSlug } from '../../domain/ids';
import type { LndSimulator } from './lnd-simulator';

/** Payments that wait for Lightning money, as their commands will leave them. */

export type Offered = Readonly<{ merchantId: string; paymentId: string; invoiceId: string }>;
export const price = '0.001';
export const askedMsat = 100_000_000n;

/** A payment that waits, of this merchant or a new one, and the invoice that it is offered. `payments`: as the role
 *  that offers. */
export async function aPaymentWithInvoice(
  db: DataSource,
  payments: DataSource,
  merchantId: string = newId(),
): Promise<Offered> {
  const paymentId = newId();
  await db.query(
    `INSERT INTO merchant (id, name, ipn_secret_sealed, publishable_key) VALUES ($1::text, 'Shop', 'x', $1::text)
     ON CONFLICT (id) DO NOTHING`,
    [merchantId],
  );
  await db.query(
    `INSERT INTO merchant_counter (merchant_id, open_payments) VALUES ($1, 1)
     ON CONFLICT (merchant_id) DO UPDATE SET open_payments = merchant_counter.open_payments + 1`,
    [merchantId],
  );
  await db.query(
    `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
       tolerance_pct, underpaid_policy, expires_at, expires_in, currency, network, amount, quote_amount, exchange_rate,
       commission_amount, network_fee_amount, fee_amount, net_amount, quoted_at, quote_expires_at)
     VALUES ($1, $2, $3, 'WAITING', 'api', 100, 'USD', 'merchant', 40, 1, 'hold', now() + interval '1 h', 3600,
       'BTC_LN', 'bitcoin', $4, $4, 100000, 0.000004, 0.00001, 0.000014, 0.000986, now(), now() + interval '15 min')`,
    [paymentId, merchantId, newSlug(), price],
  );
  return { merchantId, paymentId, invoiceId: await offerTo(payments, paymentId) };
}

export const offerTo = async (payments: DataSource, paymentId: string): Promise<string> =>
  (await payments.transaction(async (tx) => offerInvoice(tx, await lockPayment(tx, paymentId))))!;

/** A node, with the database as its chain worker has it. */
export type Followed = Readonly<{ db: DataSource; chain: DataSource; node: LndSimulator }>;

/** What the node is heard to say. */
export async function hears(
  { db, chain, node }: Followed,
  more: Readonly<{ isSynced?: boolean; receivable?: bigint; age?: number }> = {},
): Promise<void> {
  const { isSynced = true, receivable = 5_000_000n, age = 0 } = more;
  await noteNode(chain, { key: node.key, height: 100, channels: 1, sendable: 0n, isSynced, receivable });
  await db.query('UPDATE lightning_node SET looked_at = looked_at - make_interval(secs => $1)', [age]);
}

/** One look of the chain worker; how many invoices are left. */
export const follow = (
  { chain, node }: Followed,
  error: (fields: object) => void = (fields) => expect(fields).toEqual({}),
): Promise<number> =>
  followInvoices({
    ...{ db: chain, invoices: lndInvoices(node.login, 'regtest'), readings: lndReadings(node.login, 'regtest') },
    ...{ keys: ['11'.repeat(32)], log: { error } },
  });
