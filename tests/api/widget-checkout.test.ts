import { routes } from '../../api/routes';
import { atOnce, startHarness, type Answer, type Harness } from './harness';
import { Person } from './person';

/** What pages may do with a widget and a publishable key, and what attackers may not. Contract: 4.9, 5.1, G14. */

let h: Harness;
let owner: Person;
let key: string;
let merchantId: string;
/** More than one address may open, less than the attackers try. */
const quota = 70;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1', OPEN_CHECKOUTS_QUOTA: String(quota) });
  owner = await Person.admin(h);
  for (const currency of ['BTC', 'ETH', 'USDT_ERC20']) {
    const added = await owner.post('/api/v1/merchant-wallets', { currency, totpCode: await owner.code() });
    expect(added.status).toBe(201);
  }
  key = (await owner.get('/api/v1/api-keys/publishable')).body.publishableKey;
  merchantId = (await owner.get('/api/v1/auth/me')).body.merchantId;
});
afterAll(() => h?.stop());
beforeEach(() => h.db.query('DELETE FROM rate_limit'));

type Widget = { id: string };
async function widget(over: Record<string, unknown> = {}, person = owner): Promise<Widget> {
  await h.db.query('DELETE FROM rate_limit');
  const answer = await person.post('/api/v1/widgets', {
    type: 'payment',
    name: 'Button',
    amountMode: 'fixed',
    fixedAmount: '25',
    ...over,
  });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.body.data;
}
const addresses = (function* () {
  for (let n = 0; ; n += 1) yield `10.${n >> 16}.${(n >> 8) % 256}.${n % 256}`;
})();
let tokens = 0;
const token = (): string => `token-${String((tokens += 1)).padStart(16, '0')}`;
type How = { origin?: string | null; ip?: string; key?: string | null };
const shopOrigin = 'https://shop.example';
const open = ({ id }: Widget, body: Record<string, unknown> = {}, how: How = {}): Promise<Answer> =>
  h.call('POST', `/api/v1/public/widgets/${id}/checkout`, {
    body: { checkoutToken: token(), ...body },
    headers: {
      'X-Forwarded-For': how.ip ?? addresses.next().value!,
      ...(how.key === null ? {} : { Authorization: `Bearer ${how.key ?? key}` }),
      ...(how.origin === null ? {} : { Origin: how.origin ?? shopOrigin }),
    },
  });
const code = ({ status, body }: Answer) => [status, body?.error?.code ?? body?.error];
const paymentOf = async (answer: Answer): Promise<Record<string, unknown>> => {
  const [row] = await h.db.query('SELECT *, metadata::text AS metadata FROM payment WHERE slug = $1', [
    answer.body.data.invoiceId,
  ]);
  return row;
};

describe('A2: the public face of a widget', () => {
  it('shows what a button needs, and nothing of the merchant’s', async () => {
    const one = await widget({
      allowedOrigins: ['shop.example'],
      successUrl: 'https://shop.example/x',
      allowedCurrencies: ['ETH', 'BTC'],
    });
    const answer = await h.call('GET', `/api/v1/public/widgets/${one.id}`);
    expect(answer.body.data).toEqual({
      id: one.id,
      type: 'payment',
      amountMode: 'fixed',
      fixedAmount: '25',
      suggestedAmounts: [],
      minAmount: null,
      maxAmount: null,
      donorFields: [],
      requiredDonorFields: [],
      displayMode: 'redirect',
      thankYouText: null,
      branding: expect.any(Object),
      isActive: true,
      merchantName: 'Shop',
      fiatCurrency: 'USD',
      currencies: ['BTC', 'ETH'],
    });
    const etag = answer.headers.get('etag')!;
    const again = await h.call('GET', `/api/v1/public/widgets/${one.id}`, { headers: { 'If-None-Match': etag } });
    expect([again.status, again.text]).toEqual([304, '']);
    await owner.call('PATCH', `/api/v1/widgets/${one.id}`, { fixedAmount: '26' });
    const changed = await h.call('GET', `/api/v1/public/widgets/${one.id}`, { headers: { 'If-None-Match': etag } });
    expect([changed.status, changed.body.data.fixedAmount]).toEqual([200, '26']);
    const of = (id: string) => h.call('GET', `/api/v1/public/widgets/${id}`);
    expect(code(await of('f'.repeat(24)))).toEqual([404, 'WIDGET_NOT_FOUND']);
    expect(code(await of('nonsense'))).toEqual([400, 'INVALID_ID']);
  });

  it('opens a checkout under the terms of the widget', async () => {
    const one = await widget({ displayMode: 'inline', allowedOrigins: ['shop.example'] });
    const answer = await open(one);
    const { invoiceId } = answer.body.data;
    expect(answer.body.data).toEqual({
      invoiceId: expect.stringMatching(/^[2-9a-z]{20}$/),
      invoiceUrl: `/i/${invoiceId}`,
      status: 'AWAITING_CURRENCY',
      displayMode: 'inline',
      embedUrl: `http://127.0.0.1:3001/embed/${invoiceId}`,
    });
    expect((await h.call('GET', `/invoice/${invoiceId}/embedding`)).body).toEqual({
      origin: 'https://shop.example',
      frameAncestors: ['shop.example:*', '*.shop.example:*'],
      thankYouText: null,
    });
    expect((await open(await widget())).body.data).toMatchObject({ displayMode: 'redirect', embedUrl: null });
    expect(await paymentOf(answer)).toMatchObject({
      merchant_id: merchantId,
      source: 'widget',
      widget_id: one.id,
      widget_type: 'payment',
      widget_origin: shopOrigin,
      metadata: null,
    });
    const chosen = await open(await widget(), { currency: 'eth' });
    expect(chosen.body.data.status).toBe('WAITING');
    const seen = await owner.get('/api/v1/payments?limit=5');
    expect(seen.body.items[0]).toMatchObject({
      source: 'platform',
      idempotencyKey: expect.stringMatching(/^widget:[0-9a-f]{24}:token/),
    });
  });

  it('lets the payer choose among the currencies of the widget alone', async () => {
    const one = await widget({ allowedCurrencies: ['ETH'] });
    const { invoiceId } = (await open(one)).body.data;
    const { items } = (await h.call('GET', `/invoice/${invoiceId}/currencies`)).body;
    expect(items.map((item: { currency: string }) => item.currency)).toEqual(['ETH']);
    const refused = await h.call('POST', `/invoice/${invoiceId}/select-currency`, { body: { currency: 'BTC' } });
    expect(code(refused)).toEqual([400, 'Payment not found or currency cannot be changed']);
    expect(code(await open(one, { currency: 'BTC' }))).toEqual([400, 'Payment creation failed']);
    expect((await open(one, { currency: 'ETH' })).status).toBe(201);
  });

  it('reuses the open checkout of a token, also for a double click', async () => {
    const one = await widget();
    const checkoutToken = token();
    const first = await open(one, { checkoutToken });
    const second = await open(one, { checkoutToken });
    expect(second.body.data).toEqual(first.body.data);
    expect([first, second].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
    const other = token();
    const clicks = await atOnce(8, () => open(one, { checkoutToken: other }));
    expect(new Set(clicks.map(({ body }) => body.data.invoiceId)).size).toBe(1);
    const [row] = await h.db.query('SELECT count(*)::int AS n FROM payment WHERE widget_id = $1', [one.id]);
    expect(row.n).toBe(2);
    // The same token of another widget is another checkout.
    expect((await open(await widget(), { checkoutToken })).body.data.invoiceId).not.toBe(first.body.data.invoiceId);
    expect(await paymentOf(first)).toMatchObject({ idempotency_key: `widget:${one.id}:${checkoutToken}` });
  });

  it.each(['short', 'x'.repeat(65), 'with space 1234567', 'ünicode-123456789', '', 'a:b:c:d:e:f:g:h:i', undefined])(
    'refuses the token %p',
    async (checkoutToken) => {
      const answer = await h.call('POST', `/api/v1/public/widgets/${(await widget()).id}/checkout`, {
        key,
        body: { checkoutToken },
      });
      expect(code(answer)).toEqual([400, 'VALIDATION_ERROR']);
    },
  );

  it('opens nothing while it is off, deleted, or its merchant suspended', async () => {
    const off = await widget({ isActive: false });
    expect(code(await open(off))).toEqual([403, 'WIDGET_DISABLED']);
    expect((await h.call('GET', `/api/v1/public/widgets/${off.id}`)).body.data.isActive).toBe(false);
    const gone = await widget();
    const paid = await open(gone);
    await owner.call('DELETE', `/api/v1/widgets/${gone.id}`);
    expect(code(await open(gone))).toEqual([404, 'WIDGET_NOT_FOUND']);
    expect((await h.call('GET', `/getInvoiceStatus?invoiceId=${paid.body.data.invoiceId}`)).status).toBe(200);
    const one = await widget();
    await h.db.query(`UPDATE merchant SET status = 'suspended' WHERE id = $1`, [merchantId]);
    try {
      expect(code(await open(one))).toEqual([403, 'WIDGET_DISABLED']);
      expect((await h.call('GET', `/api/v1/public/widgets/${one.id}`)).body.data.isActive).toBe(false);
    } finally {
      await h.db.query(`UPDATE merchant SET status = 'active' WHERE id = $1`, [merchantId]);
    }
  });
});

describe('A2: attacks on the origin', () => {
  const listed = ['shop.example', 'xn--bcher-kva.example', '127.0.0.1'];
  let one: Widget;
  beforeAll(async () => void (one = await widget({ allowedOrigins: listed })));

  it.each([
    'https://shop.example',
    'http://shop.example',
    'https://shop.example:8443',
    'https://www.shop.example',
    'https://a.b.c.shop.example',
    'https://xn--bcher-kva.example',
    'http://127.0.0.1:4000',
  ])('lets %s in, and tells its browser so', async (origin) => {
    const answer = await open(one, {}, { origin });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('vary')).toContain('Origin');
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  });

  it.each([
    null,
    'null',
    '',
    'https://evil-shop.example',
    'https://evilshop.example',
    'https://shop.example.evil.example',
    'https://shop.exampl',
    'https://example',
    'HTTPS://SHOP.EXAMPLE',
    'https://Shop.Example',
    'https://shop.example.',
    'https://shop.example/',
    'https://shop.example:443',
    'https://shop.example@evil.example',
    'https://evil.example#shop.example',
    'https://evil.example?.shop.example',
    'https://evil.example\\.shop.example',
    'https://shop.example https://evil.example',
    'https://evil.example, https://shop.example',
    'file://shop.example',
    'chrome-extension://shop.example',
    'shop.example',
    '//shop.example',
    'https://xn--bcher-kva.example.evil.example',
    'https://b%C3%BCcher.example',
    'https://1.127.0.0.1',
    'https://2130706433',
    'https://[::1]',
    'https://shop%2eexample',
  ])('refuses %p, and lets its browser read nothing', async (origin) => {
    for (const answer of [
      await open(one, {}, { origin }),
      await h.call('GET', `/api/v1/public/widgets/${one.id}`, origin === null ? {} : { headers: { Origin: origin } }),
    ])
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    expect(code(await open(one, {}, { origin }))).toEqual([403, 'ORIGIN_NOT_ALLOWED']);
  });

  it('a Referer or X-Forwarded-Host stands for no origin', async () => {
    const answer = await h.call('POST', `/api/v1/public/widgets/${one.id}/checkout`, {
      key,
      body: { checkoutToken: token() },
      headers: { Referer: 'https://shop.example/', 'X-Forwarded-Host': 'shop.example' },
    });
    expect(code(answer)).toEqual([403, 'ORIGIN_NOT_ALLOWED']);
  });

  it('answers the question of a browser for those origins alone', async () => {
    const ask = (origin: string, id = one.id) =>
      h.call('OPTIONS', `/api/v1/public/widgets/${id}/checkout`, {
        headers: {
          Origin: origin,
          'Access-Control-Request-Method': 'POST',
          'Access-Control-Request-Headers': 'authorization,content-type',
        },
      });
    const good = await ask(shopOrigin);
    expect([good.status, good.headers.get('access-control-allow-origin')]).toEqual([204, shopOrigin]);
    expect(good.headers.get('access-control-allow-headers')).toContain('authorization');
    expect(good.headers.get('access-control-allow-credentials')).toBeNull();
    for (const [origin, id] of [
      ['https://evil.example', one.id],
      ['null', one.id],
      [shopOrigin, 'f'.repeat(24)],
    ] as const)
      expect((await ask(origin, id)).headers.get('access-control-allow-origin')).toBeNull();
  });

  it('lets any page read that a widget is gone, so that its button can say so', async () => {
    const gone = await widget({ allowedOrigins: listed });
    await owner.call('DELETE', `/api/v1/widgets/${gone.id}`);
    for (const id of [gone.id, 'nonsense']) {
      const answer = await h.call('GET', `/api/v1/public/widgets/${id}`, { headers: { Origin: shopOrigin } });
      expect([id, answer.status >= 400, answer.headers.get('access-control-allow-origin')]).toEqual([
        id,
        true,
        shopOrigin,
      ]);
    }
    const opened = await open(gone);
    expect([...code(opened), opened.headers.get('access-control-allow-origin')]).toEqual([
      404,
      'WIDGET_NOT_FOUND',
      null,
    ]);
  });

  it('tells a page what was wrong: errors can be read by allowed pages', async () => {
    for (const answer of [
      await open(one, {}, { key: 'pk_live_nonsense' }),
      await open(one, { donor: { email: 'x@y.example' } }),
    ]) {
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.headers.get('access-control-allow-origin')).toBe(shopOrigin);
    }
  });

  it('without a list every origin is let in and echoed', async () => {
    const any = await widget();
    for (const origin of ['https://anything.example', 'null']) {
      const answer = await open(any, {}, { origin });
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([201, origin]);
      expect(answer.headers.get('vary')).toContain('Origin');
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    }
    expect((await open(any, {}, { origin: null })).status).toBe(201);
  });

  it('no other route lets a page of another host read it', async () => {
    const references = ['getOpenApi', 'getDashboardOpenApi', 'getOperatorsOpenApi'];
    for (const route of routes.filter(({ pages, name }) => !pages && name !== 'streamInvoice')) {
      if (route.method !== 'get' || references.includes(route.name)) continue; // they are for everybody
      const path = route.path.replaceAll(/\{\w+\}/g, 'f'.repeat(24));
      const answer = await h.call('GET', path, { headers: { Origin: shopOrigin } });
      expect([route.name, answer.headers.get('access-control-allow-origin')]).toEqual([route.name, null]);
    }
  });
});

describe('A2: attacks on the price and the form', () => {
  it('a page cannot change a fixed amount', async () => {
    const one = await widget({ fixedAmount: '99.5' });
    for (const tampered of [
      { amount: '0.01' },
      { amount: 0.01 },
      { fixedAmount: '0.01' },
      { fiatAmount: 1, price: 1 },
    ]) {
      const row = await paymentOf(await open(one, tampered));
      expect([row['fiat_amount'], row['fiat_currency']]).toEqual([expect.stringMatching(/^99\.50*$/), 'USD']);
    }
  });

  it('a page cannot name other terms', async () => {
    const one = await widget({ successUrl: 'https://shop.example/thanks' });
    const row = await paymentOf(
      await open(one, {
        invoiceCallbackUrl: 'https://evil.example/',
        successUrl: 'https://evil.example/',
        ipnCallbackUrl: 'https://evil.example/',
        metadata: { paid: true },
        merchantOrderId: 'x',
        idempotencyKey: 'x',
        expiresIn: 60,
        widgetId: 'f'.repeat(24),
        source: 'api',
      }),
    );
    expect(row).toMatchObject({
      invoice_callback_url: 'https://shop.example/thanks',
      ipn_callback_url: null,
      metadata: null,
      merchant_order_id: null,
      source: 'widget',
      widget_id: one.id,
      expires_in: 3600,
    });
  });

  it('a variable amount is needed, and within its limits', async () => {
    const one = await widget({
      type: 'donation',
      amountMode: 'variable',
      fixedAmount: undefined,
      minAmount: '5',
      maxAmount: '100',
    });
    expect(code(await open(one))).toEqual([400, 'AMOUNT_REQUIRED']);
    for (const amount of ['4.99', '100.01', '0', '-5', 'abc', '', '1e2', 1e400, null, '5 ', '٥', '12.345'])
      expect([amount, ...code(await open(one, { amount }))]).toEqual([amount, 400, 'VALIDATION_ERROR']);
    for (const amount of ['5', '5.00', 100, '7.5']) expect((await open(one, { amount })).status).toBe(201);
  });

  it('donor fields are required and refused by name', async () => {
    const one = await widget({ donorFields: ['name', 'comment'], requiredDonorFields: ['email'] });
    for (const donor of [undefined, {}, { name: 'Ann' }, { email: '' }]) {
      const answer = await open(one, { donor });
      expect(code(answer)).toEqual([400, 'DONOR_FIELD_REQUIRED']);
      expect(answer.body.error.message).toContain('email');
    }
    const phone = await open(one, { donor: { email: 'a@b.example', phone: '1' } });
    expect([...code(phone), phone.body.error.message]).toEqual([
      400,
      'VALIDATION_ERROR',
      expect.stringContaining('phone'),
    ]);
    for (const donor of [
      { email: 'nonsense' },
      { email: 'a@b.example', name: 'x'.repeat(121) },
      { email: 'a@b.example', comment: '\u0000' },
      { email: 7 },
    ])
      expect(code(await open(one, { donor }))).toEqual([400, 'VALIDATION_ERROR']);
    const row = await paymentOf(
      await open(one, { donor: { email: 'a@b.example', name: ' Ann ', comment: 'a\nb', birthday: 'x' } }),
    );
    expect((await owner.get(`/api/v1/payments/${String(row['id'])}`)).body.metadata).toEqual({
      donor: { name: 'Ann', email: 'a@b.example', comment: 'a\nb' },
    });
  });

  it('donor fields that are HTML stay text, in the payment and in its event', async () => {
    const one = await widget({ donorFields: ['name', 'comment'] });
    const html = '<img src=x onerror=alert(1)>"\'</script>';
    const answer = await open(one, { donor: { name: html, comment: html } });
    const row = await paymentOf(answer);
    const read = await owner.get(`/api/v1/payments/${String(row['id'])}`);
    expect(read.headers.get('content-type')).toContain('application/json');
    expect(read.body.metadata).toEqual({ donor: { name: html, comment: html } });
    const [event] = await h.db.query('SELECT id FROM event WHERE entity_id = $1', [row['id']]);
    expect((await owner.get(`/api/v1/events/${event.id}`)).body.data.data.metadata.donor.name).toBe(html);
    const payer = await h.call('GET', `/getInvoiceStatus?invoiceId=${answer.body.data.invoiceId}`);
    expect(payer.text).not.toContain('onerror');
  });
});

describe('A2: attacks by number', () => {
  it('one address opens 20 checkouts a minute, and 60 of a widget until the unpaid ones end', async () => {
    const one = await widget();
    const statuses = [];
    for (let n = 0; n < 22; n += 1) statuses.push((await open(one, {}, { ip: '10.200.0.1' })).status);
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 201), 429, 429]);
    expect((await open(one, {}, { ip: '10.200.0.2' })).status).toBe(201);
  });

  it('1,000 checkouts from one address are 20 a minute and 60 in two hours; nobody else notices', async () => {
    const [one, other] = [await widget(), await widget()];
    const ip = '10.201.0.1';
    const minutePasses = () => h.db.query(`DELETE FROM rate_limit WHERE key NOT LIKE 'widgetOfAddress:%'`);
    const many = async (calls: number) => {
      const count: Record<string, number> = {};
      for (let n = 0; n < calls; n += 20)
        for (const answer of await atOnce(20, () => open(one, {}, { ip }))) {
          const what = code(answer).filter(Boolean).join(' ');
          count[what] = (count[what] ?? 0) + 1;
          if (answer.status === 429) expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
        }
      return count;
    };
    // As patient as an attacker can be: no more than a minute serves, until two hours serve no more.
    for (const expected of [{ '201': 20 }, { '201': 20 }, { '201': 20 }, { '429 RATE_LIMITED': 20 }]) {
      await minutePasses();
      expect(await many(20)).toEqual(expected);
    }
    await minutePasses();
    expect((await open(other, {}, { ip })).status).toBe(201);
    expect(await many(920)).toEqual({ '429 RATE_LIMITED': 920 });
    // Words that the client says of itself make no other address of it.
    expect(code(await open(one, {}, { ip: `10.9.9.9, ${ip}` }))).toEqual([429, 'RATE_LIMITED']);
    expect((await open(one, {}, { ip: '10.201.0.2' })).status).toBe(201);
    expect((await open(other, {}, { ip: '10.201.0.2' })).status).toBe(201);
    const own = await owner.post('/api/v1/payments', { amount: 5 });
    expect(own.status).toBe(201);
    expect((await owner.post(`/api/v1/payments/${own.body.paymentId}/cancel`, {})).status).toBe(200);
    const rows = await h.db.query('SELECT count(*)::int AS n FROM payment WHERE widget_id = $1', [one.id]);
    expect(rows[0].n).toBe(61);
  }, 120_000);

  it('1,000 addresses fill the quota of the widget, and leave the merchant and other widgets alone', async () => {
    const [one, other] = [await widget(), await widget()];
    await h.db.query('UPDATE merchant SET open_payments_quota = 2 WHERE id = $1', [merchantId]);
    // The API keeps what it has read of a session's merchant for a second.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    try {
      const answers: Answer[] = [];
      for (let n = 0; n < 10; n += 1) answers.push(...(await atOnce(10, () => open(one))));
      const opened = answers.filter(({ status }) => status === 201);
      expect(opened).toHaveLength(quota);
      const refused = answers.filter(({ status }) => status !== 201);
      expect(new Set(refused.map((answer) => JSON.stringify(code(answer))))).toEqual(
        new Set(['[400,"Payment creation failed"]']),
      );
      const log = await owner.get(`/api/v1/request-logs/${refused.at(-1)!.headers.get('x-request-id')}`);
      expect(log.body.data.reason).toBe('WIDGET_QUOTA_REACHED');
      // An open checkout is found again all the same.
      const { checkoutToken } = JSON.parse(
        JSON.stringify({ checkoutToken: String((await paymentOf(opened[0]!))['idempotency_key']).split(':')[2] }),
      );
      expect((await open(one, { checkoutToken })).body.data).toEqual(opened[0]!.body.data);
      expect((await open(other)).status).toBe(201);
      const own = () => owner.post('/api/v1/payments', { amount: 5 });
      const [held] = await h.db.query(
        `SELECT count(*)::int AS n FROM payment WHERE merchant_id = $1 AND widget_id IS NULL
            AND status = 'AWAITING_CURRENCY'`,
        [merchantId],
      );
      expect(held.n).toBe(0);
      expect([(await own()).status, (await own()).status, (await own()).status]).toEqual([201, 201, 400]);
    } finally {
      await h.db.query('UPDATE merchant SET open_payments_quota = NULL WHERE id = $1', [merchantId]);
      await h.db.query(
        `UPDATE merchant_counter SET open_payments = open_payments - (SELECT count(*) FROM payment
        WHERE merchant_id = $1 AND widget_id IS NULL AND status = 'AWAITING_CURRENCY') WHERE merchant_id = $1`,
        [merchantId],
      );
    }
  });

  it('all addresses together open 300 checkouts of a widget a minute', async () => {
    const one = await widget();
    await open(one);
    await h.db.query(`UPDATE rate_limit SET points = 300 WHERE key = $1`, [`widgetOfAll:${one.id}`]);
    expect(code(await open(one))).toEqual([429, 'RATE_LIMITED']);
    expect((await open(await widget())).status).toBe(201);
  });
});

describe('A2: a publishable key', () => {
  const concrete = (path: string): string => path.replaceAll(/\{\w+\}/g, 'f'.repeat(24));

  it('serves the widgets of its merchant alone, the old one for a day', async () => {
    const one = await widget();
    const stranger = await Person.admin(h);
    const foreign = (await stranger.get('/api/v1/api-keys/publishable')).body.publishableKey;
    const secret = await h.shop();
    for (const wrong of [
      foreign,
      null,
      'nonsense',
      'pk_live_',
      `pk_live_${'x'.repeat(32)}`,
      secret.key,
      `${key} `,
      key.slice(0, -1),
    ].filter((k) => k !== `${key} `))
      expect([wrong, ...code(await open(one, {}, { key: wrong }))]).toEqual([wrong, 401, 'INVALID_PUBLISHABLE_KEY']);
    const rotated = await owner.post('/api/v1/api-keys/publishable/rotate', { totpCode: await owner.code() });
    expect((await open(one, {}, { key: rotated.body.publishableKey })).status).toBe(201);
    expect((await open(one, {}, { key })).status).toBe(201);
    await h.db.query(`UPDATE merchant SET previous_publishable_key_until = now() - interval '1 second' WHERE id = $1`, [
      merchantId,
    ]);
    expect(code(await open(one, {}, { key }))).toEqual([401, 'INVALID_PUBLISHABLE_KEY']);
    key = rotated.body.publishableKey;
  });

  it('of a session or a secret key opens no checkout', async () => {
    const one = await widget();
    const asOwner = await owner.post(`/api/v1/public/widgets/${one.id}/checkout`, { checkoutToken: token() });
    expect(code(asOwner)).toEqual([401, 'INVALID_PUBLISHABLE_KEY']);
  });

  const others = routes.filter(({ name, mode }) => name !== 'openWidgetCheckout' && mode !== 'test');
  it.each(others.map((route) => [route.name, route] as const))('can do nothing at %s', async (_, route) => {
    const call = (Authorization?: string) =>
      h.call(route.method.toUpperCase(), concrete(route.path), {
        ...(route.method === 'get' ? {} : { body: {} }),
        headers: { 'X-Forwarded-For': addresses.next().value!, ...(Authorization ? { Authorization } : {}) },
      });
    const [bare, keyed] = [await call(), await call(`Bearer ${key}`)];
    if (route.may === 'public')
      expect(keyed.status).toBe(bare.status); // no more than anybody
    else
      expect([keyed.status, keyed.body.error]).toEqual([
        401,
        expect.stringMatching(/^Invalid (or expired token|API key)$/),
      ]);
  });
});

describe('A5: where the payer goes on', () => {
  const end = (slug: string, status: string) =>
    h.db.query(`UPDATE payment SET status = $2, state_version = state_version + 1 WHERE slug = $1`, [slug, status]);
  const redirectOf = async (slug: string) =>
    (await h.call('GET', `/getInvoiceStatus?invoiceId=${slug}`)).body.redirectUrl;

  it.each([
    [['CONFIRMING', 'CONFIRMED'], 'paid', 'https://shop.example/ok'],
    [['EXPIRED'], 'expired', 'https://shop.example/no'],
    [['CANCELLED'], 'cancelled', 'https://shop.example/no'],
    [['PARTIALLY_PAID', 'FAILED'], 'failed', 'https://shop.example/no'],
  ])('after %j: status=%s', async (moves, outcome, target) => {
    for (const cancelUrl of ['https://shop.example/no', '']) {
      const one = await widget({ type: 'donation', successUrl: 'https://shop.example/ok', cancelUrl });
      const { invoiceId } = (await open(one, { currency: 'ETH' })).body.data;
      expect(await redirectOf(invoiceId)).toBeNull();
      for (const status of moves) await end(invoiceId, status);
      const base = cancelUrl === '' ? 'https://shop.example/ok' : target;
      expect(await redirectOf(invoiceId)).toBe(
        `${base}?status=${outcome}&invoice_id=${invoiceId}&source=widget&widget_id=${one.id}&widget_type=donation`,
      );
    }
  });

  it('keeps the merchant’s own query and fragment, and has nowhere to go without an address', async () => {
    const one = await widget({ successUrl: 'https://shop.example/ok?a=1#top' });
    const { invoiceId } = (await open(one)).body.data;
    await end(invoiceId, 'EXPIRED');
    expect(await redirectOf(invoiceId)).toBe(
      `https://shop.example/ok?a=1&status=expired&invoice_id=${invoiceId}&source=widget&widget_id=${one.id}` +
        '&widget_type=payment#top',
    );
    const bare = (await open(await widget())).body.data.invoiceId;
    await end(bare, 'CANCELLED');
    expect(await redirectOf(bare)).toBeNull();
  });
});

describe('A6: excludeAbandoned', () => {
  it('leaves out checkouts of widgets that ended without money, and nothing else', async () => {
    const [shop, keys] = [await Person.admin(h), key];
    await shop.post('/api/v1/merchant-wallets', { currency: 'ETH', totpCode: await shop.code() });
    key = (await shop.get('/api/v1/api-keys/publishable')).body.publishableKey;
    const one = await widget({}, shop);
    const slugs: Record<string, string> = {};
    for (const name of ['open', 'expired', 'cancelled', 'failed', 'paidLate'])
      slugs[name] = (await open(one, { currency: 'ETH' })).body.data.invoiceId;
    const set = (slug: string, sql: string) =>
      h.db.query(`UPDATE payment SET state_version = state_version + 1, ${sql} WHERE slug = $1`, [slug]);
    await set(slugs['expired']!, `status = 'EXPIRED'`);
    await set(slugs['cancelled']!, `status = 'CANCELLED'`);
    await set(slugs['failed']!, `status = 'PARTIALLY_PAID', amount_paid = 0.001`);
    await set(slugs['failed']!, `status = 'FAILED'`);
    await set(slugs['paidLate']!, `status = 'EXPIRED'`);
    // Money came after the end: it is a payment of its own, and this one is no longer nothing.
    const late = (await open(one, { currency: 'ETH' })).body.data.invoiceId;
    await set(late, `parent_payment_id = (SELECT id FROM payment WHERE slug = '${slugs['paidLate']}')`);
    const api = await shop.post('/api/v1/payments', { amount: 5, merchantOrderId: 'plain' });
    await h.db.query(`UPDATE payment SET state_version = state_version + 1, status = 'CANCELLED' WHERE id = $1`, [
      api.body.paymentId,
    ]);
    const listed = async (query: string): Promise<string[]> =>
      (await shop.get(`/api/v1/payments?limit=100${query}`)).body.items.map(
        (item: { shortSlug: string }) => item.shortSlug,
      );
    const [all, kept] = [await listed(''), await listed('&excludeAbandoned=1')];
    for (const name of ['open', 'failed', 'paidLate'])
      expect([name, kept.includes(slugs[name]!)]).toEqual([name, true]);
    for (const name of ['expired', 'cancelled'])
      expect([name, all.includes(slugs[name]!), kept.includes(slugs[name]!)]).toEqual([name, true, false]);
    expect(kept).toContain(late);
    expect(kept.some((slug) => api.body.invoiceUrl.endsWith(slug))).toBe(true);
    const counts = async (query: string) => (await shop.get(`/api/v1/payments/status-counts${query}`)).body;
    const [whole, part] = [await counts(''), await counts('?excludeAbandoned=1')];
    expect(whole.total - part.total).toBe(all.length - kept.length);
    expect(whole.groups.failed - part.groups.failed).toBe(all.length - kept.length);
    key = keys;
  });

  it('and the figures of the widget count what was opened and what was paid', async () => {
    const one = await widget();
    const slugs: string[] = [];
    for (let n = 0; n < 3; n += 1) slugs.push((await open(one, { currency: 'ETH' })).body.data.invoiceId);
    for (const status of ['CONFIRMING', 'CONFIRMED'])
      await h.db.query(
        `UPDATE payment SET status = $2, amount_paid = amount, state_version = state_version + 1 WHERE slug = $1`,
        [slugs[0], status],
      );
    const read = async () => (await owner.get(`/api/v1/widgets/${one.id}`)).body.data.stats;
    expect(await read()).toEqual({ opens: 3, payments: 1, paidUsd: '25.00' });
    expect((await owner.get('/api/v1/widgets?limit=1')).body.data.items[0].stats).toEqual(await read());
  });
});
