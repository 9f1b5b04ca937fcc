import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { DataSource } from 'typeorm';
import { createCodecs } from '../../chains/codecs';
import { audit } from '../../db/audit/audit';
import { startCheckout } from '../api/checkout-server';
import { startHarness, type Harness, type Shop } from '../api/harness';
import { unguarded } from '../unguarded';
import { paymentsAt } from './run-payment';

/** What a merchant and a payer are told of coins that the payment did not ask for, and when they are taken. */

let h: Harness;
let db: DataSource;
let shop: Shop;
let server: Server;
let checkout: string;
let act: ReturnType<typeof paymentsAt>;
beforeAll(async () => {
  h = await startHarness();
  db = h.db;
  const { config } = h.api.deps;
  act = paymentsAt({ db, config, codecs: createCodecs(config.chain) });
  shop = await h.shop({}, ['ETH', 'USDT_ERC20']);
  ({ server, url: checkout } = await startCheckout(h, 0));
});
afterAll(async () => {
  server?.close();
  await h?.stop();
});

type Made = { id: string; slug: string; address: string };
/** A payment of 64 dollars in USDT_ERC20, with these settings of its day. */
async function open(settings: Record<string, unknown> = {}): Promise<Made> {
  const { body } = await h.call('POST', '/api/v1/payments', {
    key: shop.key,
    body: { amount: 64, currency: 'USDT_ERC20' },
  });
  for (const [column, value] of Object.entries(settings))
    await db.query(`UPDATE payment SET ${column} = $2 WHERE id = $1`, [body.paymentId, value]);
  return { id: body.paymentId, slug: body.invoiceUrl.split('/').pop(), address: body.depositAddress };
}
async function deposit({ id, address }: Made, currency: string, amount: string): Promise<string> {
  const txId = `0x${randomBytes(32).toString('hex')}`;
  await db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
       is_dust, status, block_hash, height, first_seen_at, confirmed_at)
     VALUES ('ethereum', $1, 0, $2, 'deposit', $3, $4, $5, $5, false, 'confirmed', '0xb', 90,
       clock_timestamp(), now())`,
    [txId, address, id, currency, amount],
  );
  return txId;
}
const orphan = (txId: string): Promise<unknown> =>
  db.query(`UPDATE deposit SET status = 'orphaned' WHERE tx_id = $1`, [txId]);
const read = async ({ id }: Made) => (await h.call('GET', `/api/v1/payments/${id}`, { key: shop.key })).body;
const invoiceOf = async ({ slug }: Made) => (await h.call('GET', `/getInvoiceStatus?invoiceId=${slug}`)).body;
const page = async ({ slug }: Made) => (await fetch(`${checkout}/i/${slug}`)).text();
const lastEvent = async ({ id }: Made) =>
  (await db.query('SELECT type, data FROM event WHERE entity_id = $1 ORDER BY seq DESC LIMIT 1', [id]))[0];
const clean = async () => {
  const wrong = await audit(db, { settleMs: 1 });
  expect(wrong.filter(({ invariant }) => ['I1', 'I2', 'I3', 'I6', 'I12'].includes(invariant))).toEqual([]);
};
const clockOf = (iso: string) => `datetime="${iso}"`;

describe('B9: a wrong coin', () => {
  it('is named with asset, amount, hash and value on every resource, and its deadline with it', async () => {
    const made = await open();
    const txId = await deposit(made, 'USDC_ERC20', '10');
    await act.runPayment(made.id);
    const other = [{ currency: 'USDC_ERC20', amount: '10', txId, fiatValue: '10' }];

    const payment = await read(made);
    expect(payment).toMatchObject({
      status: 'CROSS_CHAIN_PENDING',
      amountPaid: 0,
      txIds: [txId],
      receivedOther: other,
    });
    const rejectAt = new Date(Date.parse(payment.expiresAt) + 86_400_000).toISOString();
    expect(payment.crossChainRejectAt).toBe(rejectAt);
    const { body: list } = await h.call('GET', `/api/v1/payments?search=${txId}`, { key: shop.key });
    expect(list.items).toMatchObject([{ _id: made.id, txIds: [txId], receivedOther: other }]);
    const event = await lastEvent(made);
    expect([event.type, event.data.txIds, event.data.receivedOther]).toEqual([
      'payment.cross_chain_pending',
      [txId],
      other,
    ]);
    const { body: timeline } = await h.call('GET', `/api/v1/payments/${made.id}/timeline`, { key: shop.key });
    expect(timeline.data.items.filter(({ kind }: { kind: string }) => kind === 'change').at(-1)).toMatchObject({
      to: 'CROSS_CHAIN_PENDING',
      txIds: [txId],
      receivedOther: other,
    });
    expect(await invoiceOf(made)).toMatchObject({
      txIds: [txId],
      receivedOther: other,
      crossChainAutoAcceptAt: null,
      crossChainRejectAt: rejectAt,
      paymentUri: null,
    });
    const text = await page(made);
    for (const words of ['10 USDC', txId, clockOf(rejectAt), 'The merchant decides']) expect(text).toContain(words);
  });

  it('is shown with the day on which it is accepted by itself', async () => {
    const made = await open({ auto_accept_cross_chain_hours: 1 });
    await db.query(
      `INSERT INTO merchant_wallet (id, merchant_id, currency, settlement_address, custody)
       SELECT left(md5(random()::text), 24), merchant_id, 'USDC_ERC20', settlement_address, custody FROM merchant_wallet
        WHERE merchant_id = $1 AND currency = 'USDT_ERC20' AND NOT EXISTS (
          SELECT FROM merchant_wallet WHERE merchant_id = $1 AND currency = 'USDC_ERC20')`,
      [shop.id],
    );
    await deposit(made, 'USDC_ERC20', '70');
    await act.runPayment(made.id);
    const { crossChainAutoAcceptAt, crossChainRejectAt } = await invoiceOf(made);
    expect([typeof crossChainAutoAcceptAt, crossChainRejectAt]).toEqual(['string', null]);
    expect(await page(made)).toContain(`accepted as your payment on <time ${clockOf(crossChainAutoAcceptAt)}`);
  });

  it('is told of when more of it comes, and is held', async () => {
    const made = await open();
    const first = await deposit(made, 'USDC_ERC20', '10');
    await act.runPayment(made.id);
    const { stateVersion } = await read(made);
    const second = await deposit(made, 'ETH', '0.01');
    await act.runPayment(made.id);
    const event = await lastEvent(made);
    expect([event.type, event.data.stateVersion]).toEqual(['payment.cross_chain_pending', stateVersion + 1]);
    expect((await read(made)).receivedOther).toEqual([
      { currency: 'USDC_ERC20', amount: '10', txId: first, fiatValue: '10' },
      { currency: 'ETH', amount: '0.01', txId: second, fiatValue: '32' },
    ]);
    await clean();
  });

  it('is told of when it comes to a payment that has ended, and when the chain takes it back', async () => {
    const made = await open();
    await act.cancelPayment(made.id, 'merchant');
    const txId = await deposit(made, 'USDC_ERC20', '10');
    await act.runPayment(made.id);
    const event = await lastEvent(made);
    expect([event.type, event.data.status, event.data.txIds]).toEqual(['payment.other_deposit', 'CANCELLED', [txId]]);
    expect(await page(made)).toContain('It is held, and the merchant can send it back to you');
    await clean();
    await orphan(txId);
    await act.runPayment(made.id);
    const lost = await lastEvent(made);
    expect([lost.type, lost.data.receivedOther]).toEqual(['payment.reorged', []]);
    await clean();
  });

  it.each([
    ['all of it', ['64.5'], 'full'],
    ['a part of it', ['10'], 'partial'],
    ['nothing', [], 'none'],
  ])('is refunded when %s has gone back, in its own coin', async (_what, amounts, refundStatus) => {
    const made = await open();
    await deposit(made, 'USDC_ERC20', '64.5');
    await act.runPayment(made.id);
    await act.rejectCrossChain(made.id);
    for (const amount of amounts)
      await unguarded(db, (tx) =>
        tx.query(
          `INSERT INTO refund (id, merchant_id, payment_id, body_hash, status, type, currency, network, source,
             deposit_ids, fee_bearer, amount, network_fee, gross_amount, net_amount, fiat_amount, fiat_currency,
             address)
           VALUES (left(md5(random()::text), 24), $1, $2, 'h', 'completed', 'full', 'USDC_ERC20', 'ethereum', 'deposit',
             (SELECT array_agg(id) FROM deposit WHERE payment_id = $2), 'payer', $3::numeric, 1,
             $3::numeric, $3::numeric - 1, $3::numeric, 'USD', '0xa')`,
          [shop.id, made.id, amount],
        ),
      );
    expect(await read(made)).toMatchObject({
      refundStatus,
      refundedAmount: '0',
      refundedOther: amounts.map((amount) => ({ currency: 'USDC_ERC20', amount })),
    });
  });
});

describe('B10: the deadline of the automatic acceptance', () => {
  /** Another asset that is worth the price, with a deadline. */
  async function pending(amount = '70'): Promise<Made & { txId: string }> {
    const made = await open({ auto_accept_cross_chain_hours: 1 });
    const txId = await deposit(made, 'ETH', amount);
    await act.runPayment(made.id);
    return { ...made, txId };
  }
  const pass = ({ id }: Made): Promise<unknown> =>
    db.query(`UPDATE payment SET cross_chain_auto_accept_at = clock_timestamp() WHERE id = $1`, [id]);

  it('accepts what is worth the price then', async () => {
    const made = await pending('0.021');
    await pass(made);
    expect((await act.runPayment(made.id)).status).toBe('CONFIRMED');
  });

  it('does not accept a smaller deposit that replaced the first as if it were the first', async () => {
    const made = await pending('0.021');
    expect((await read(made)).crossChainAutoAcceptAt).toEqual(expect.any(String));
    await deposit(made, 'ETH', '0.001');
    await orphan(made.txId);
    await act.runPayment(made.id);
    await pass(made);
    await act.runPayment(made.id);
    const payment = await read(made);
    expect([payment.status, payment.exceptions, payment.crossChainAutoAcceptAt]).toEqual([
      'CROSS_CHAIN_PENDING',
      ['reorged'],
      undefined,
    ]);
    expect(payment.crossChainRejectAt).toEqual(expect.any(String));
    await db.query(`UPDATE deposit SET first_seen_at = first_seen_at - interval '30 hours' WHERE payment_id = $1`, [
      made.id,
    ]);
    await db.query(`UPDATE payment SET expires_at = clock_timestamp() - interval '25 hours' WHERE id = $1`, [made.id]);
    expect((await act.runPayment(made.id)).status).toBe('FAILED');
    await clean();
  });

  it('puts the coin that is left on offer, where the one that was is gone', async () => {
    const made = await pending('0.021');
    await deposit(made, 'USDC_ERC20', '10');
    await act.runPayment(made.id);
    await orphan(made.txId);
    await act.runPayment(made.id);
    expect((await read(made)).crossChainAutoAcceptAt).toBeUndefined();
    expect(await act.acceptCrossChain(made.id)).toEqual({ status: 'CONFIRMING' });
    expect(await read(made)).toMatchObject({ currency: 'USDC_ERC20', amountPaid: 10, originalCurrency: 'USDT_ERC20' });
  });
});
