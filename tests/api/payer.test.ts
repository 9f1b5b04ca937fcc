import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import { refundUnderpaid } from '../../commands/refunds/create';
import type { PaymentRow } from '../../domain/payments/payment';
import { startCheckout } from './checkout-server';
import { startHarness, type Harness, type Shop } from './harness';
import { failedPayment } from './refundable';

/** Whom the refund of an underpayment by policy reaches. */

let h: Harness;
let shop: Shop;
let checkout: Server;
let checkoutUrl: string;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
  shop = await h.shop({ underpaidPolicy: 'refund' });
  ({ server: checkout, url: checkoutUrl } = await startCheckout(h, 0));
});
afterAll(async () => {
  checkout?.close();
  await h?.stop();
});

const newAddress = (): string => `0x${randomBytes(20).toString('hex')}`;
let callers = 0;
const post = (slug: string, what: string, body: object) =>
  h.call('POST', `/invoice/${slug}/${what}`, { body, headers: { 'X-Forwarded-For': `10.9.6.${(callers += 1)}` } });
const become = (slug: string, body: object = {}) => post(slug, 'payer', body);
const invoice = async (slug: string) => (await h.call('GET', `/getInvoiceStatus?invoiceId=${slug}`)).body;
async function anInvoice(currency: string | null = 'ETH') {
  const { body } = await h.call('POST', '/api/v1/payments', {
    key: shop.key,
    body: { amount: 40, ...(currency ? { currency } : {}) },
  });
  return { id: body.paymentId as string, slug: body.invoiceUrl.split('/').pop() as string };
}
const rowOf = async (id: string): Promise<PaymentRow> =>
  (await h.db.query('SELECT * FROM payment WHERE id = $1', [id]))[0];
const deps = () => ({ codecs: h.api.deps.codecs, rateMaxAgeSeconds: 3600 });

/** An invoice that got too little, and the refund of it by policy. `before`: acts before the money comes. */
async function underpaid(before: (slug: string, id: string) => Promise<unknown>) {
  let slug = '';
  const id = await failedPayment(h, shop, [['ETH', '0.004']], async (made) => {
    ({ slug } = made);
    await before(slug, made.id);
  });
  await h.db.transaction(async (tx) => refundUnderpaid(tx, deps(), await rowOf(id)));
  const [refund] = await h.db.query('SELECT id, status, address FROM refund WHERE payment_id = $1', [id]);
  return { id, slug, refund: refund as { id: string; status: string; address: string | null } };
}

describe('B12: who is the payer', () => {
  it('nobody by a view: pages and reads leave no cookie and nothing in the database', async () => {
    const { id, slug } = await anInvoice();
    for (const path of [`/i/${slug}`, `/i/${slug}/cancel`])
      expect((await fetch(checkoutUrl + path)).headers.get('set-cookie')).toBeNull();
    await invoice(slug);
    expect(await h.db.query('SELECT FROM payer_browser WHERE payment_id = $1', [id])).toEqual([]);
  });

  it('the browser that says so on the page gets the link; no other does', async () => {
    let cookie = '';
    const { slug, refund } = await underpaid(async (opened) => {
      const answer = await fetch(`${checkoutUrl}/i/${opened}/payer`, { method: 'POST', redirect: 'manual' });
      expect([answer.status, answer.headers.get('location')]).toEqual([303, `/i/${opened}`]);
      const set = answer.headers.get('set-cookie')!;
      for (const word of ['HttpOnly', 'SameSite=Lax', `Path=/i/${opened}`, 'Secure']) expect(set).toContain(word);
      cookie = set.split(';')[0]!;
    });
    expect(refund.status).toBe('awaiting_address');
    const ask = (headers: Record<string, string>) =>
      fetch(`${checkoutUrl}/i/${slug}/refund-link`, { method: 'POST', redirect: 'manual', headers });
    expect((await ask({ cookie })).headers.get('location')).toMatch(new RegExp(`^/r/${refund.id}[0-9a-f]{40}$`));
    const link = await post(slug, 'refund-link', { payerToken: cookie.split('=')[1] });
    expect(link.body.claimUrl).toMatch(new RegExp(`/r/${refund.id}[0-9a-f]{40}$`));
    expect(await (await fetch(`${checkoutUrl}/i/${slug}`, { headers: { cookie } })).text()).toContain('refund-link');
    for (const other of [{}, { cookie: `payer_${slug}=${'a'.repeat(40)}` }])
      expect((await ask(other as Record<string, string>)).headers.get('location')).toBe(`/i/${slug}?refused`);
    expect(await (await fetch(`${checkoutUrl}/i/${slug}`)).text()).not.toContain('refund-link');
    expect((await post(slug, 'refund-link', { payerToken: 'b'.repeat(40) })).status).toBe(404);
  });

  it('an address that was left before money came is shown, is locked then, and gets the refund', async () => {
    const address = newAddress();
    const { slug, refund } = await underpaid(async (opened) => {
      const first = await become(opened, { address: newAddress() });
      const { payerToken } = first.body;
      const changed = await become(opened, { address, payerToken });
      expect(changed.body).toMatchObject({ payerToken, refundContested: false });
      expect(changed.body.refundAddress).toMatch(new RegExp(address, 'i'));
      expect(await invoice(opened)).toMatchObject({ refundAddressLocked: false });
      expect((await (await fetch(`${checkoutUrl}/i/${opened}`)).text()).toLowerCase()).toContain(address);
    });
    expect([refund.status, refund.address?.toLowerCase()]).toEqual(['pending', address]);
    expect(await invoice(slug)).toMatchObject({ refundAddressLocked: true });
    expect((await become(slug, { address: newAddress() })).body).toMatchObject({
      error: { code: 'REFUND_ADDRESS_LOCKED' },
    });
  });

  it('nobody where two differ: a user of the merchant decides', async () => {
    const tokens: string[] = [];
    const { slug, refund } = await underpaid(async (opened) => {
      for (const address of [newAddress(), newAddress()])
        tokens.push((await become(opened, { address })).body.payerToken);
      expect(await invoice(opened)).toMatchObject({ refundAddress: null, refundContested: true });
    });
    expect(refund).toMatchObject({ status: 'awaiting_address', address: null });
    for (const payerToken of tokens) expect((await post(slug, 'refund-link', { payerToken })).status).toBe(404);
  });

  it('nobody who comes later, not even between the money and the follower’s look', async () => {
    let token = '';
    const { slug, refund } = await underpaid(async (opened, id) => {
      token = (await become(opened, { address: newAddress() })).body.payerToken;
      await h.db.query(
        `UPDATE payer_browser SET marked_at = now() + interval '1 hour', address_at = now() + interval '1 hour'
          WHERE payment_id = $1`,
        [id],
      );
    });
    expect(refund).toMatchObject({ status: 'awaiting_address', address: null });
    expect((await post(slug, 'refund-link', { payerToken: token })).status).toBe(404);
    expect((await become(slug)).status).toBe(409);
  });

  it('a change of the address that comes later does not count, and neither does the address', async () => {
    const { refund } = await underpaid(async (opened, id) => {
      await become(opened, { address: newAddress() });
      await h.db.query(`UPDATE payer_browser SET address_at = now() + interval '1 hour' WHERE payment_id = $1`, [id]);
    });
    expect(refund).toMatchObject({ status: 'awaiting_address', address: null });
  });

  it('an address counts on its own network alone', async () => {
    const { id, slug } = await anInvoice();
    await become(slug, { address: newAddress() });
    await h.db.query(`UPDATE payer_browser SET network = 'bitcoin' WHERE payment_id = $1`, [id]);
    expect((await invoice(slug)).refundAddress).toBeNull();
  });

  it('refuses what is no address there, an address of ours, and one before a currency is chosen', async () => {
    const { id, slug } = await anInvoice();
    const { deposit_address: ours } = await rowOf(id);
    for (const address of ['bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', 'x', ours])
      expect((await become(slug, { address })).body).toMatchObject({ error: { code: 'INVALID_ADDRESS' } });
    const open = await anInvoice(null);
    expect((await become(open.slug, { address: newAddress() })).body).toMatchObject({
      error: { code: 'VALIDATION_ERROR' },
    });
    expect((await become(open.slug)).status).toBe(200);
    expect(await h.db.query('SELECT FROM payer_browser WHERE payment_id = $1', [id])).toEqual([]);
  });

  it('costs an invoice ten rows at the most', async () => {
    const { id, slug } = await anInvoice();
    const answers = [];
    for (let n = 0; n < 12; n++) answers.push((await become(slug)).status);
    expect(answers).toEqual([...Array<number>(10).fill(200), 409, 409]);
    const [row] = await h.db.query('SELECT count(*)::int AS n FROM payer_browser WHERE payment_id = $1', [id]);
    expect(row.n).toBe(10);
  });
});
