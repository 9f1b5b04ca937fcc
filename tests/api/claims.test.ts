import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import { audit } from '../../db/audit/audit';
import { routes } from '../../api/routes';
import { openRefund, refundUnderpaid } from '../../commands/refunds/create';
import { assetOf, contractOf } from '../../domain/chains/assets';
import { newId } from '../../domain/ids';
import type { PaymentRow } from '../../domain/payments/payment';
import { bytes, written } from '../chain/lightning-writer';
import { startCheckout } from './checkout-server';
import { atOnce, startHarness, type Answer, type Harness, type Shop } from './harness';
import { Person } from './person';
import { failedPayment, settledPayment } from './refundable';

/** How payers claim refunds: the link, the pages behind it, and every way in which a link must not work. */

let h: Harness;
let checkout: Server;
let checkoutUrl: string;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
  ({ server: checkout, url: checkoutUrl } = await startCheckout(h, 0));
});
afterAll(async () => {
  checkout?.close();
  await h?.stop();
});
afterEach(async () =>
  expect(
    (await audit(h.db, { settleMs: 1 })).filter(({ invariant }) => ['I1', 'I2', 'I3', 'I7', 'I9'].includes(invariant)),
  ).toEqual([]),
);

const address = (): string => `0x${randomBytes(20).toString('hex')}`;
const same = (text: string): RegExp => new RegExp(text, 'i');
const refund = (shop: Pick<Shop, 'key'>, id: string, body: object) =>
  h.call('POST', `/api/v1/payments/${id}/refunds`, { key: shop.key, body });
const tokenOf = (url: string): string => new URL(url).pathname.replace('/r/', '');
let callers = 0;
/** Each time from another address, but for those who want to be the same. */
const claim = (token: string, body: object, from = `10.9.8.${(callers += 1)}`): Promise<Answer> =>
  h.call('POST', `/refund-claims/${token}`, { body, headers: { 'X-Forwarded-For': from } });
const statusOf = async (id: string): Promise<string> =>
  (await h.db.query('SELECT status FROM refund WHERE id = $1', [id]))[0].status;
const sends = async (id: string): Promise<boolean> =>
  (await h.db.query(`SELECT FROM temporal_request WHERE workflow_id = 'refund/' || $1`, [id])).length === 1;

/** A refund that a key has asked for, without an address. */
async function unaddressed(currency = 'ETH') {
  const shop = await h.shop({ name: 'Books & <b>Tea</b>' });
  const payment = await settledPayment(h, shop, { currency, credit: '100' });
  const made = await refund(shop, payment.id, { type: 'full', reason: 'kept to ourselves' });
  expect(made.status).toBe(201);
  return {
    shop,
    payment,
    id: made.body.data._id as string,
    refund: made.body.data,
    token: tokenOf(made.body.data.claimUrl),
  };
}

it('a refund without an address holds its money and has a link, for the payer to name one', async () => {
  const { shop, id, refund: made, token, payment } = await unaddressed();
  expect(made).toMatchObject({ status: 'awaiting_address', address: null });
  expect(made.claimUrl).toBe(`${h.api.deps.config.CHECKOUT_URL}/r/${token}`);
  expect((await h.call('GET', `/api/v1/refunds/${id}`, { key: shop.key })).body.data).toEqual(made);
  const seen = await h.call('GET', `/refund-claims/${token}`);
  expect(seen.body).toMatchObject({
    status: 'awaiting_address',
    merchantName: 'Books & <b>Tea</b>',
    currency: 'ETH',
    network: 'ethereum',
    netToDestination: payment.paid,
    address: null,
  });
  expect(seen.text).not.toContain('kept to ourselves');
  const to = address();
  const looked = await claim(token, { address: to });
  expect(looked.body.address).toMatch(same(to));
  expect(await statusOf(id)).toBe('awaiting_address');
  const named = await claim(token, { address: to, confirm: true });
  expect(named.body).toMatchObject({ status: 'awaiting_approval', address: looked.body.address });
  expect(await sends(id)).toBe(false);
  const [event] = await h.db.query(`SELECT data FROM event WHERE entity_id = $1 AND type = 'refund.claimed'`, [id]);
  expect(event.data).toMatchObject({ status: 'awaiting_approval', address: looked.body.address, claimUrl: null });
  const read = (await h.call('GET', `/api/v1/refunds/${id}`, { key: shop.key })).body.data;
  expect(read).toEqual(event.data);
  // Once only: the same address finds it, another is refused.
  expect((await claim(token, { address: to, confirm: true })).body).toEqual(named.body);
  expect((await claim(token, { address: address(), confirm: true })).status).toBe(409);
  expect((await claim(token, { address: address() })).status).toBe(409);
});

it.each(['ETH', 'BTC'])('one of %s is claimed by no Lightning invoice', async (currency) => {
  const { id, token } = await unaddressed(currency);
  const fields = [
    ['p', randomBytes(32)],
    ['s', bytes(9)],
    ['d', Buffer.from('tea')],
  ] as const;
  const invoice = written(fields, { prefix: 'lnbcrt200u', createdAt: Math.floor(Date.now() / 1000) });
  const refuses = async (): Promise<void> => {
    for (const confirm of [false, true])
      expect((await claim(token, { address: invoice, confirm })).body.error.code).toBe('INVALID_ADDRESS');
  };
  await refuses();
  const own = currency === 'ETH' ? address() : 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
  expect((await claim(token, { address: own, confirm: true })).body.status).toBe('awaiting_approval');
  await refuses();
  expect(await statusOf(id)).toBe('awaiting_approval');
});

it('one that a user has approved is sent as soon as its address is known', async () => {
  const ann = await Person.admin(h);
  const me = await ann.get('/api/v1/auth/me');
  await ann.post('/api/v1/merchant-wallets', { currency: 'ETH', totpCode: await ann.code() });
  const made = await ann.post('/api/v1/api-keys', {
    name: 'k',
    scopes: ['payments:create', 'refunds:read'],
    totpCode: await ann.code(),
  });
  const key = made.body.data.apiKey as string;
  const payment = await settledPayment(h, { id: me.body.merchantId, key }, { credit: '1' });
  const opened = await ann.post(`/api/v1/payments/${payment.id}/refunds`, { type: 'full', totpCode: await ann.code() });
  expect(opened.body.data).toMatchObject({ status: 'awaiting_address', address: null });
  const id = opened.body.data._id as string;
  // A key that may read must not learn where to send what a user has approved.
  expect((await h.call('GET', `/api/v1/refunds/${id}`, { key })).body.data.claimUrl).toBeNull();
  expect((await ann.get(`/api/v1/refunds/${id}`)).body.data.claimUrl).toBe(opened.body.data.claimUrl);
  const viewer = await Person.member(ann, ['payments:view']);
  expect((await viewer.get(`/api/v1/refunds/${id}`)).body.data.claimUrl).toBeNull();
  expect(await sends(id)).toBe(false);
  const named = await claim(tokenOf(opened.body.data.claimUrl), { address: address(), confirm: true });
  expect(named.body.status).toBe('pending');
  expect(await sends(id)).toBe(true);
});

it('keeps such a link out of lists for keys, and out of events', async () => {
  const shop = await h.shop();
  const payment = await settledPayment(h, shop, { credit: '1' });
  const { row } = await h.db.transaction((tx) =>
    openRefund(
      tx,
      { codecs: h.api.deps.codecs, rateMaxAgeSeconds: 3600 },
      {
        merchantId: shop.id,
        paymentId: payment.id,
        ask: { type: 'full' },
        by: { userId: newId() },
        idempotencyKey: null,
      },
    ),
  );
  const read = (await h.call('GET', `/api/v1/refunds/${row.id}`, { key: shop.key })).body.data;
  expect(read).toMatchObject({ status: 'awaiting_address', claimUrl: null });
  for (const path of ['/api/v1/refunds', `/api/v1/payments/${payment.id}/refunds`])
    expect((await h.call('GET', path, { key: shop.key })).body.data.items).toEqual([read]);
  expect((await h.db.query('SELECT data FROM event WHERE entity_id = $1', [row.id]))[0].data.claimUrl).toBeNull();
});

describe('a link', () => {
  it('is of one refund, and cannot be guessed from another', async () => {
    const [one, two] = [await unaddressed(), await unaddressed()];
    const proof = one.token.slice(24);
    for (const token of [
      two.id + proof,
      one.id + proof.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      one.id,
      one.id + proof + '0',
      one.id + proof.toUpperCase().replace(/^[0-9]*/, 'F'),
      'x'.repeat(64),
      '%00',
    ]) {
      expect((await h.call('GET', `/refund-claims/${token}`)).status).toBe(404);
      expect((await claim(token, { address: address(), confirm: true })).status).toBe(404);
    }
  });

  it('ends with its refund, and returns what was held', async () => {
    const { shop, id, token } = await unaddressed();
    await h.call('POST', `/api/v1/refunds/${id}/cancel`, { key: shop.key });
    expect((await h.call('GET', `/refund-claims/${token}`)).body.status).toBe('cancelled');
    expect((await claim(token, { address: address(), confirm: true })).status).toBe(409);
    const balances = (await h.call('GET', '/api/v1/ledger/balances', { key: shop.key })).body.balances;
    expect(balances.find((one: { currency: string }) => one.currency === 'ETH').reserved).toBe('0');
  });

  it('takes one of many who come at once', async () => {
    const { token, id } = await unaddressed();
    const answers = await atOnce(8, () => claim(token, { address: address(), confirm: true }));
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 409)]);
    const winner = answers.find((answer) => answer.status === 200)!;
    expect((await h.db.query('SELECT address FROM refund WHERE id = $1', [id]))[0].address).toBe(winner.body.address);
  });

  it('cannot be tried without end', async () => {
    const { token } = await unaddressed();
    const answers: number[] = [];
    for (let i = 0; i < 12; i += 1) answers.push((await claim(token, { address: 'nonsense' }, '10.9.9.9')).status);
    expect(answers.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 400));
    expect(answers.at(-1)).toBe(429);
  });

  it.each<[string, (h: Harness, shop: Shop, paymentId: string) => Promise<string> | string]>([
    ['nonsense', () => 'nonsense'],
    ['the zero address', () => `0x${'0'.repeat(40)}`],
    ['a contract of ours', () => contractOf(assetOf('USDT_ERC20'), h.api.deps.config.chain)!.toLowerCase()],
    ['a wrong checksum', () => '0x52908400098527886E0F7030069857D2E4169Ee7'],
    ['an address of Bitcoin', () => 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'],
    [
      'the deposit address itself',
      async (_h, _shop, id) =>
        (await h.db.query('SELECT deposit_address FROM payment WHERE id = $1', [id]))[0].deposit_address,
    ],
  ])('refuses %s', async (_what, make) => {
    const { token, shop, payment, id } = await unaddressed();
    const wrong = await make(h, shop, payment.id);
    for (const confirm of [false, true]) {
      const answer = await claim(token, { address: wrong, confirm });
      expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_ADDRESS']);
    }
    expect(await statusOf(id)).toBe('awaiting_address');
  });
});

describe('the pages', () => {
  const get = (token: string) => fetch(`${checkoutUrl}/r/${token}`);
  const send = (token: string, form: Record<string, string>) =>
    fetch(`${checkoutUrl}/r/${token}`, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });

  it('lead from the link to the address without JavaScript, asking once more', async () => {
    const { token, id, payment } = await unaddressed();
    const first = await get(token);
    const text = await first.text();
    expect(first.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(first.headers.get('referrer-policy')).toBe('no-referrer');
    expect(first.headers.get('cache-control')).toBe('no-store');
    expect(text).toContain('Books &amp; &lt;b&gt;Tea&lt;/b&gt;');
    expect(text).toContain(`${payment.paid} ETH`);
    expect(text).not.toContain('<script');
    expect(text).toContain('<label for="address">');

    const wrong = await send(token, { address: '"><script>alert(1)</script>' });
    expect(wrong.status).toBe(400);
    const mended = await wrong.text();
    expect(mended).not.toContain('<script');
    expect(mended).toContain('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"');
    expect(mended).toContain('role="alert"');

    const to = address();
    const sure = await send(token, { address: ` ${to} ` });
    expect(sure.status).toBe(200);
    const asked = await sure.text();
    const [, shown] = /name="address" value="(0x[0-9a-fA-F]{40})"/.exec(asked)!;
    expect(shown).toMatch(same(to));
    expect(await statusOf(id)).toBe('awaiting_address');

    const done = await send(token, { address: shown!, confirm: 'yes' });
    expect([done.status, done.headers.get('location')]).toEqual([303, `/r/${token}`]);
    expect(await statusOf(id)).toBe('awaiting_approval');
    const after = await (await get(token)).text();
    expect(after).toContain('Waiting for the merchant to approve');
    expect(after).toContain(shown);
    expect(after).not.toContain('<form');
  });

  it('B3: show what the merchant shows of themselves, as the invoice does', async () => {
    const { token, shop, payment } = await unaddressed();
    await h.db.query(
      `INSERT INTO merchant_branding (merchant_id, support_email, terms_url, accent_color)
       VALUES ($1, 'help@shop.example', 'https://shop.example/terms', '#ffd166')`,
      [shop.id],
    );
    const [{ slug }] = await h.db.query('SELECT slug FROM payment WHERE id = $1', [payment.id]);
    const invoice = await h.call('GET', `/getInvoiceStatus?invoiceId=${slug}`);
    expect((await h.call('GET', `/refund-claims/${token}`)).body.branding).toEqual(invoice.body.branding);
    const page = await (await get(token)).text();
    for (const part of [
      `href="mailto:help@shop.example?subject=${slug}"`,
      'href="https://shop.example/terms"',
      'href="/static/accent-ffd166.css',
    ])
      expect(page).toContain(part);
  });

  it('exist for our own links alone, and take forms from their own host alone', async () => {
    expect((await get('0'.repeat(64))).status).toBe(404);
    expect((await get('short')).status).toBe(404);
    const { token } = await unaddressed();
    const forged = await fetch(`${checkoutUrl}/r/${token}`, {
      method: 'POST',
      headers: { origin: 'https://evil.example' },
    });
    expect(forged.status).toBe(403);
  });
});

/** Every answer of the API and of the checkout that needs the public id of an invoice, or its payment's id, and nothing
 *  else. */
async function publicAnswers(paymentId: string, slug: string): Promise<Array<{ where: string; text: string }>> {
  const publicReads = routes.filter(({ may, path }) => may === 'public' && path.includes('{'));
  const asked = publicReads.flatMap(({ method, path }) =>
    [slug, paymentId].map((id) => [method, path.replace(/\{\w+\}/g, id)] as const),
  );
  const ofTheApi = [...asked, ...[slug, paymentId].map((id) => ['get', `/getInvoiceStatus?invoiceId=${id}`] as const)];
  const ofTheCheckout = ['', '/cancel', '/events'].map((page) => `/i/${slug}${page}`);
  const answers: Array<{ where: string; text: string }> = [];
  for (const [method, path] of ofTheApi) {
    const init = { headers: { 'X-Forwarded-For': `10.9.7.${(callers += 1)}`, 'Content-Type': 'application/json' } };
    const answer = await fetch(h.url + path, method === 'get' ? init : { ...init, method, body: '{"confirm":true}' });
    answers.push({ where: `${method} ${path}`, text: await answer.text() });
  }
  for (const path of ofTheCheckout) answers.push({ where: path, text: await (await fetch(checkoutUrl + path)).text() });
  return answers;
}

describe('the refund of an underpayment by policy', () => {
  it('has a link that the merchant hands on, and that no public answer tells', async () => {
    const ann = await Person.admin(h);
    await ann.post('/api/v1/merchant-wallets', { currency: 'ETH', totpCode: await ann.code() });
    const made = await ann.post('/api/v1/api-keys', {
      name: 'k',
      scopes: ['payments:create', 'payments:read', 'refunds:read'],
      totpCode: await ann.code(),
    });
    const key = made.body.data.apiKey as string;
    expect((await ann.call('PATCH', '/api/v1/settings', { underpaidPolicy: 'refund' })).status).toBe(200);
    const shop = { id: (await ann.get('/api/v1/auth/me')).body.merchantId as string, key };
    const id = await failedPayment(h, shop, [
      ['ETH', '0.002'],
      ['ETH', '0.001'],
    ]);
    const [payment] = (await h.db.query('SELECT * FROM payment WHERE id = $1', [id])) as PaymentRow[];
    const { slug } = payment!;
    await h.db.transaction((tx) =>
      refundUnderpaid(tx, { codecs: h.api.deps.codecs, rateMaxAgeSeconds: 3600 }, payment!),
    );
    const refunds = `/api/v1/payments/${id}/refunds`;
    const [forKeys] = (await h.call('GET', refunds, { key })).body.data.items;
    expect(forKeys).toMatchObject({ type: 'underpaid', status: 'awaiting_address', amount: '0.003', claimUrl: null });
    const [forUsers] = (await ann.get(refunds)).body.data.items;
    const token = tokenOf(forUsers.claimUrl);
    expect(token).toMatch(/^[0-9a-f]{64}$/);

    const answers = await publicAnswers(id, slug);
    const telling = answers.filter(({ text }) => text.includes(token) || text.includes('/r/'));
    expect(telling.map(({ where }) => where)).toEqual([]);
    const showing = answers.filter(({ text }) => text.includes(slug)).map(({ where }) => where);
    expect(showing).toEqual(
      expect.arrayContaining([
        `get /getInvoiceStatus?invoiceId=${slug}`,
        `get /invoice/${slug}/events`,
        `/i/${slug}`,
        `/i/${slug}/events`,
      ]),
    );
    expect((await h.call('GET', `/getInvoiceStatus?invoiceId=${slug}`)).body.underpaidRefund).toBe('awaiting_address');
    const page = async () => (await fetch(`${checkoutUrl}/i/${slug}`)).text();
    expect(await page()).toContain('The merchant will send you a link');

    await claim(token, { address: address(), confirm: true });
    expect(await statusOf(forUsers._id)).toBe('pending');
    expect(await sends(forUsers._id)).toBe(true);
    expect(await page()).toContain('Your refund is being prepared');
    await h.db.query(`UPDATE refund SET status = 'cancelled', state_version = 9 WHERE id = $1`, [forUsers._id]);
    await h.db.query(`UPDATE deposit SET allocation = 'unallocated' WHERE payment_id = $1`, [id]);
    expect((await h.call('GET', `/getInvoiceStatus?invoiceId=${slug}`)).body.underpaidRefund).toBeNull();
    expect(await page()).toContain('what you sent is held for you');
  });
});

describe('the daily cap', () => {
  const cap = (shop: Shop, usd: string | null) =>
    h.db.query('UPDATE merchant SET refund_daily_cap_usd = $2 WHERE id = $1', [shop.id, usd]);

  it('counts the last 24 hours, and what is cancelled no more', async () => {
    const shop = await h.shop();
    const payment = await settledPayment(h, shop, { paid: '1', credit: '2' });
    await cap(shop, '50'); // of ETH at 3200
    const part = { type: 'partial', amount: '0.01', address: address() };
    const first = await refund(shop, payment.id, part);
    expect(first.status).toBe(201);
    const second = await refund(shop, payment.id, part);
    expect([second.status, second.body.error.code]).toEqual([409, 'REFUND_CAP_REACHED']);
    expect((await refund(shop, payment.id, { ...part, amount: '0.0055' })).status).toBe(201);
    await h.call('POST', `/api/v1/refunds/${first.body.data._id}/cancel`, { key: shop.key });
    const third = await refund(shop, payment.id, part);
    expect(third.status).toBe(201);
    await h.db.query(
      `UPDATE egress_admission SET admitted_at = admitted_at - interval '25 hours' WHERE merchant_id = $1`,
      [shop.id],
    );
    expect((await refund(shop, payment.id, part)).status).toBe(201);
    await cap(shop, null);
    expect((await refund(shop, payment.id, { ...part, amount: '0.5' })).status).toBe(201);
  });

  it('holds for many at once, over several payments', async () => {
    const shop = await h.shop();
    const payments: Array<{ id: string }> = [];
    for (let i = 0; i < 5; i += 1) payments.push(await settledPayment(h, shop, { paid: '1', credit: '2' }));
    await cap(shop, '100');
    const answers = await atOnce(20, (i) =>
      refund(shop, payments[i % 5]!.id, { type: 'partial', amount: '0.01', address: address() }),
    );
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(3);
  });
});

it('a hundred parts at once never exceed what came', async () => {
  const shop = await h.shop();
  const payment = await settledPayment(h, shop, { paid: '0.0203', credit: '5' });
  const answers = await atOnce(100, (i) =>
    refund(shop, payment.id, {
      type: i % 9 === 8 ? 'full' : 'partial',
      ...(i % 9 === 8 ? {} : { amount: '0.001' }),
      address: address(),
    }),
  );
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201, 400]));
  const [sum] = await h.db.query('SELECT sum(amount)::text AS sum FROM refund WHERE payment_id = $1', [payment.id]);
  expect(sum.sum).toMatch(/^0\.0203/);
  const after = await refund(shop, payment.id, { type: 'partial', amount: '0.000001', address: address() });
  expect([after.status, after.body.error.code]).toEqual([400, 'REFUND_EXCEEDS_PAID']);
});
