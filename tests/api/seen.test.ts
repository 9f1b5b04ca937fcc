import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import { Client } from 'pg';
import { applyMempool } from '../../db/chains/mempool';
import { startCheckout } from './checkout-server';
import { eventually, startHarness, type Harness, type Shop } from './harness';

/** What a payer is told while no worker counts deposits: here none runs at all. */

let h: Harness;
let shop: Shop;
let checkout: Server;
let checkoutUrl: string;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
  shop = await h.shop();
  ({ server: checkout, url: checkoutUrl } = await startCheckout(h, 0));
});
afterAll(async () => {
  checkout?.close();
  await h?.stop();
});

async function anInvoice(body: object = { currency: 'BTC' }) {
  const made = (await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 25, ...body } })).body;
  return { id: made.paymentId as string, slug: made.invoiceUrl.split('/').pop() as string, ...made };
}
/** A transaction in the mempool, taken as the follower takes it. */
async function arrives(to: string, amount: number): Promise<string> {
  const txId = randomBytes(32).toString('hex');
  const units = BigInt(Math.round(amount * 1e8));
  const transfers = [{ txId, index: 0, to, currency: 'BTC', units, inputs: [`${txId}:0`] }];
  await h.db.transaction((tx) =>
    applyMempool(tx, 'bitcoin', { ids: new Set([txId]), transfers, since: new Map() }, 600),
  );
  return txId;
}
const view = async (slug: string) => (await h.call('GET', `/getInvoiceStatus?invoiceId=${slug}`)).body;
const page = async (slug: string) => (await fetch(`${checkoutUrl}/i/${slug}`)).text();

describe('B1: a deposit that no worker has counted', () => {
  it('is on the page and in the answer at once, and nothing asks for money any more', async () => {
    const made = await anInvoice();
    expect(await view(made.slug)).toMatchObject({ paymentSeen: false, amountSeen: '0', cancellable: true });
    expect(await page(made.slug)).toContain('class="qr"');
    const txId = await arrives(made.depositAddress, made.amount);
    expect(await view(made.slug)).toMatchObject({
      status: 'WAITING',
      paymentSeen: true,
      amountPaid: '0',
      amountSeen: String(made.amount),
      txIds: [txId],
      paymentUri: null,
      cancellable: false,
      refundAddressLocked: true,
    });
    const text = await page(made.slug);
    for (const words of ['We have seen your payment', `0 of 2 confirmations`, txId]) expect(text).toContain(words);
    for (const words of ['class="qr"', 'bitcoin:', 'data-copy', 'Send exactly', '/cancel', 'data-renew'])
      expect(text).not.toContain(words);
  });

  it('is told to open pages by the follower itself', async () => {
    const made = await anInvoice();
    const client = new Client({ connectionString: h.api.deps.config.DATABASE_URL });
    const heard: Array<string | undefined> = [];
    client.on('notification', ({ payload }) => heard.push(payload));
    await client.connect();
    await client.query('LISTEN payment_changed');
    await arrives(made.depositAddress, made.amount);
    await eventually(async () => heard.length > 0);
    await client.end();
    expect(heard).toEqual([made.id]);
  });

  it('is no whole payment where it is short, and none where it is gone again', async () => {
    const made = await anInvoice();
    const txId = await arrives(made.depositAddress, made.amount / 2);
    expect(await page(made.slug)).toContain('This is less than the price');
    await h.db.query("UPDATE deposit SET status = 'replaced' WHERE tx_id = $1", [txId]);
    expect(await view(made.slug)).toMatchObject({ paymentSeen: false, amountSeen: '0', txIds: [] });
    expect(await page(made.slug)).toContain('class="qr"');
  });

  it('is none where it is dust, or came too late', async () => {
    const made = await anInvoice();
    await arrives(made.depositAddress, 0.000005);
    expect(await view(made.slug)).toMatchObject({ paymentSeen: false });
    await h.db.query(
      `UPDATE payment SET expires_at = now() - interval '1 minute', quote_expires_at = now() - interval '1 minute'
        WHERE id = $1`,
      [made.id],
    );
    await arrives(made.depositAddress, made.amount);
    expect(await view(made.slug)).toMatchObject({ paymentSeen: false, amountSeen: '0' });
  });

  it('of a coin that was chosen before is named, and the page does not ask for the other meanwhile', async () => {
    const made = await anInvoice();
    await h.db.query(
      `UPDATE payment SET currency = 'ETH', network = 'ethereum', amount = 0.0078125, state_version = state_version + 1
        WHERE id = $1`,
      [made.id],
    );
    await arrives(made.depositAddress, made.amount);
    expect(await view(made.slug)).toMatchObject({
      paymentSeen: true,
      amountSeen: '0',
      seenOther: [{ currency: 'BTC', amount: String(made.amount) }],
    });
    expect(await page(made.slug)).toContain('Another coin is on its way');
  });
});

describe('B5: the price', () => {
  it.each([60, 900, 7200])('is never held longer than the invoice lives: %s s', async (expiresIn) => {
    const made = await anInvoice({ currency: 'BTC', expiresIn });
    const open = await view(made.slug);
    const full = (await h.call('GET', `/api/v1/payments/${made.id}`, { key: shop.key })).body;
    for (const { quoteExpiresAt, expiresAt } of [made, open, full])
      expect(Date.parse(quoteExpiresAt)).toBeLessThanOrEqual(Date.parse(expiresAt));
    const text = await page(made.slug);
    expect(text.match(/data-countdown/g)).toHaveLength(1);
    expect(text).toContain(expiresIn === 7200 ? 'This price is held for' : 'Time left to pay');
  });
});

describe('B14: the root of the checkout', () => {
  it('says what this host is', async () => {
    const answer = await fetch(checkoutUrl);
    const text = await answer.text();
    expect(answer.status).toBe(200);
    expect(text).toContain('Merchants take payments in cryptocurrency on this host');
    expect(text).not.toContain('does not exist');
    expect((await fetch(`${checkoutUrl}/nothing`)).status).toBe(404);
  });
});

describe('B7: confirmations', () => {
  it('stop counting at the required depth', async () => {
    const made = await anInvoice();
    const txId = await arrives(made.depositAddress, made.amount);
    await h.db.query(
      `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
       VALUES ('bitcoin', 150, 'h150', 150, now())
       ON CONFLICT (network) DO UPDATE SET height = 150`,
    );
    await h.db.query("UPDATE deposit SET status = 'confirmed', height = 100, block_hash = 'h' WHERE tx_id = $1", [
      txId,
    ]);
    expect(await view(made.slug)).toMatchObject({ confirmations: 2, requiredConfirmations: 2 });
  });
});

describe('B10: a payment URI of Bitcoin', () => {
  it('tells the wallet whom it pays and for what, in words that change nothing else of it', async () => {
    const sly = await h.shop({ name: 'Tea & Co?amount=9#é' });
    const open = async (body: object) => {
      const made = await h.call('POST', '/api/v1/payments', {
        key: sly.key,
        body: { amount: 25, currency: 'BTC', ...body },
      });
      return { made: made.body, uri: new URL((await view(made.body.invoiceUrl.split('/').pop())).paymentUri) };
    };
    const { made, uri } = await open({ merchantOrderId: 'A-1' });
    expect([...uri.searchParams]).toEqual([
      ['amount', String(made.amount)],
      ['label', 'Tea & Co?amount=9#é'],
      ['message', 'A-1'],
    ]);
    expect([uri.pathname, uri.hash]).toEqual([made.depositAddress, '']);
    const unnamed = await open({});
    expect(unnamed.uri.searchParams.get('message')).toBe(unnamed.made.invoiceUrl.split('/').pop());
  });
});
