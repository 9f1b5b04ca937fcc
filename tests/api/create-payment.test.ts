import { atOnce, eventually, startHarness, type Answer, type Harness, type Shop } from './harness';

let h: Harness;
let shop: Shop;
beforeAll(async () => {
  h = await startHarness();
  shop = await h.shop();
});
afterAll(() => h?.stop());

const create = (body: unknown, headers: Record<string, string> = {}, key = shop.key) =>
  h.call('POST', '/api/v1/payments', { key, body, headers });

describe('creating a payment', () => {
  it('quotes the amount and derives an address of its own', async () => {
    const answer = await create({ amount: 25, currency: 'usdt_erc20' });
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.body).sort()).toEqual(
      [
        'paymentId',
        'depositAddress',
        'amount',
        'feeAmount',
        'netAmount',
        'expiresAt',
        'quoteExpiresAt',
        'invoiceUrl',
        'currency',
        'status',
      ].sort(),
    );
    expect(answer.body).toMatchObject({ amount: 25, currency: 'USDT_ERC20', status: 'WAITING' });
    expect(answer.body.invoiceUrl).toMatch(/^\/i\/[2-9a-z]{20}$/);
    expect(answer.body.feeAmount + answer.body.netAmount).toBeCloseTo(25, 6);
    const second = await create({ amount: 25, currency: 'USDT_ERC20' });
    expect(second.body.depositAddress).not.toBe(answer.body.depositAddress);
  });

  it('echoes the fiat amount and nothing else while no currency is chosen', async () => {
    const { body } = await create({ amount: 25.5 });
    expect(body).toEqual({
      paymentId: expect.stringMatching(/^[0-9a-f]{24}$/),
      amount: 25.5,
      invoiceUrl: expect.any(String),
      status: 'AWAITING_CURRENCY',
    });
  });

  it('writes row, address, timeline, event and the request for the workflow together', async () => {
    const { body } = await create({ amount: 100, currency: 'BTC', ipnCallbackUrl: 'https://shop.example.com/ipn' });
    const [row] = await h.db.query(
      `SELECT (SELECT count(*)::int FROM address WHERE payment_id = $1) addresses,
         (SELECT count(*)::int FROM payment_event WHERE payment_id = $1) changes,
        (SELECT count(*)::int FROM event WHERE entity_id = $1) events,
          (SELECT count(*)::int FROM temporal_request WHERE workflow_id = 'payment/' || $1) requests,
        (SELECT count(*)::int FROM delivery d JOIN event e ON e.id = d.event_id WHERE e.entity_id = $1) deliveries`,
      [body.paymentId],
    );
    expect(row).toEqual({ addresses: 1, changes: 1, events: 1, requests: 1, deliveries: 1 });
  });

  it('tells the event exactly what GET answers', async () => {
    const metadata = '{"a":12345678901234567890,"a":1,  "\\u0000":0,"__proto__":{"x":[1.10, null]}}';
    const made = await h.call('POST', '/api/v1/payments', {
      key: shop.key,
      text: `{"amount": 40, "currency":"ETH","metadata":${metadata} ,"merchantOrderId":"o-1"}`,
    });
    expect(made.status).toBe(201);
    const got = await h.call('GET', `/api/v1/payments/${made.body.paymentId}`, { key: shop.key });
    expect(got.text).toContain(`"metadata":${metadata}}`);
    const [event] = await h.db.query('SELECT data::text AS data FROM event WHERE entity_id = $1', [
      made.body.paymentId,
    ]);
    expect(event.data).toBe(got.text);
  });

  it('counts open payments once', async () => {
    const other = await h.shop();
    await create({ amount: 30 }, {}, other.key);
    await create({ amount: 30 }, {}, other.key);
    const [counter] = await h.db.query('SELECT * FROM merchant_counter WHERE merchant_id = $1', [other.id]);
    expect(counter).toMatchObject({ open_payments: 2, event_seq: '2' });
  });

  it('E: takes a price in whole minor units, without the noise of doubles, and refuses finer ones', async () => {
    const yen = await h.shop({ displayCurrency: 'JPY' });
    expect((await create({ amount: 0.1 + 0.2 })).body.amount).toBe(0.3);
    expect((await create({ amount: 5000.0001 }, {}, yen.key)).body.amount).toBe(5000);
    for (const [amount, key] of [
      [0.001, undefined],
      [50.123456789, undefined],
      [5000.01, yen.key],
    ] as const) {
      const { status, body } = await create({ amount }, {}, key);
      expect([status, body.error.code, body.error.message]).toEqual([
        400,
        'VALIDATION_ERROR',
        expect.stringContaining('amount'),
      ]);
    }
  });

  it('E: takes an order id of any characters but U+0000 and half a surrogate pair', async () => {
    const merchantOrderId = 'a,"b"\n\tc \u007f\u2028';
    const { body } = await create({ amount: 5, merchantOrderId });
    const got = await h.call('GET', `/api/v1/payments/${body.paymentId}`, { key: shop.key });
    expect(got.body.merchantOrderId).toBe(merchantOrderId);
    for (const wrong of ['a\u0000b', 'a\ud800'])
      expect((await create({ amount: 5, merchantOrderId: wrong })).body.error.code).toBe('VALIDATION_ERROR');
  });

  it('refuses NUL and half a surrogate pair in every text, and in a path', async () => {
    const wrong = [
      ...['E\u0000TH', '\ud800', '\ud800x'].map((currency) => ({ amount: 5, currency })),
      ...['ipnCallbackUrl', 'invoiceCancelUrl', 'invoiceCallbackUrl'].map((name) => ({
        ...{ amount: 5, [name]: 'https://shop.example/\ud800' },
      })),
    ];
    for (const body of wrong) {
      const answer = await create(body);
      expect({ body, status: answer.status, code: answer.body.error.code }).toMatchObject({
        status: 400,
        code: 'VALIDATION_ERROR',
      });
    }
    for (const path of ['/invoice/%00/embedding', '/invoice/a%00b/embedding'])
      expect({ path, status: (await h.call('GET', path)).status }).toEqual({ path, status: 404 });
  });

  it('E: takes metadata that nests as deep as its bytes allow, and 32 levels of all else', async () => {
    const deep = '['.repeat(4096) + ']'.repeat(4096);
    const text = `{"amount":5,"metadata":${deep}}`;
    const made = await h.call('POST', '/api/v1/payments', { key: shop.key, text });
    expect(made.status).toBe(201);
    const got = await h.call('GET', `/api/v1/payments/${made.body.paymentId}`, { key: shop.key });
    expect(got.text).toContain(`"metadata":${deep}`);
    const elsewhere = `{"amount":5,"other":${'['.repeat(32)}${']'.repeat(32)}}`;
    expect((await h.call('POST', '/api/v1/payments', { key: shop.key, text: elsewhere })).status).toBe(400);
  });

  it('covers the whole price where the customer bears the fee', async () => {
    const store = await h.shop({ feeBearer: 'customer' });
    const { body } = await create({ amount: 50, currency: 'USDC_ERC20' }, {}, store.key);
    const got = await h.call('GET', `/api/v1/payments/${body.paymentId}`, { key: store.key });
    expect(got.body.netAmount).toBeGreaterThanOrEqual(50);
    expect(got.body.netFiat).toBe(50);
    expect(got.body.grossFiat).toBeCloseTo(50 + got.body.feeFiat, 2);
  });
});

describe('refusals of a creation', () => {
  it.each([
    ['nothing', {}, 'amount'],
    ['zero', { amount: 0 }, 'amount'],
    ['less than zero', { amount: -1 }, 'amount'],
    ['text', { amount: '25' }, 'amount'],
    ['null', { amount: null }, 'amount'],
    ['too soon', { amount: 5, expiresIn: 59 }, 'expiresIn'],
    ['too late', { amount: 5, expiresIn: 172_801 }, 'expiresIn'],
    ['just too soon', { amount: 5, expiresIn: 59.9 }, 'expiresIn'],
    ['just too late', { amount: 5, expiresIn: 172_800.1 }, 'expiresIn'],
    ['a long order id', { amount: 5, merchantOrderId: 'x'.repeat(257) }, 'merchantOrderId'],
    ['NUL in an order id', { amount: 5, merchantOrderId: 'a\0b' }, 'merchantOrderId'],
    ['a long URL', { amount: 5, ipnCallbackUrl: `https://a.example/${'x'.repeat(2048)}` }, 'ipnCallbackUrl'],
    ['no URL', { amount: 5, invoiceCallbackUrl: 'javascript:alert(1)' }, 'invoiceCallbackUrl'],
    ['credentials in a URL', { amount: 5, ipnCallbackUrl: 'https://u:p@a.example.com/' }, 'ipnCallbackUrl'],
  ])('%s', async (_, body, property) => {
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ ok: false, error: { code: 'VALIDATION_ERROR' } });
    expect(answer.body.error.message).toContain(property);
  });

  it.each(['{"amount":1e400}', '{"amount":1e300}'])('numbers beyond any price: %s', async (text) => {
    const answer = await h.call('POST', '/api/v1/payments', { key: shop.key, text });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  });

  it.each(['{"amount":0x10}', '{"amount":NaN}', '{"amount":', '[1', '"', '{"amount":1}}'])(
    'what is no JSON: %s',
    async (text) => {
      const answer = await h.call('POST', '/api/v1/payments', { key: shop.key, text });
      expect([answer.status, answer.body]).toEqual([400, { error: 'The body is not valid JSON' }]);
    },
  );

  it('bytes that are no UTF-8', async () => {
    const response = await fetch(`${h.url}/api/v1/payments`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${shop.key}`, 'Content-Type': 'application/json' },
      body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    });
    expect(response.status).toBe(400);
  });

  it.each([
    ['http', { ipnCallbackUrl: 'http://shop.example.com/' }, 'Callback URLs must use HTTPS in production'],
    ['loopback', { ipnCallbackUrl: 'https://127.0.0.1/' }, 'Callback URLs must not point to internal addresses'],
    ['odd loopback', { invoiceCancelUrl: 'https://0x7f.1/' }, 'Callback URLs must not point to internal addresses'],
    ['metadata', { metadata: 'x'.repeat(8191) }, 'metadata exceeds 8192 bytes'],
  ])('in the words of the specification: %s', async (_, more, error) => {
    const answer = await create({ amount: 25, ...more });
    expect([answer.status, answer.body]).toEqual([400, { error }]);
  });

  it('an address that we would never send to, by name; browsers may go there', async () => {
    const elsewhere = 'https://shop.example.com:8080/';
    const answer = await create({ amount: 25, ipnCallbackUrl: elsewhere });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(answer.body.error.message).toBe('ipnCallbackUrl must name port 443 or 8443, or none');
    const taken = { ipnCallbackUrl: 'https://shop.example.com:8443/', invoiceCallbackUrl: elsewhere };
    expect((await create({ amount: 25, ...taken, invoiceCancelUrl: elsewhere })).status).toBe(201);
  });

  it('takes metadata of exactly 8192 bytes', async () => {
    expect((await create({ amount: 25, metadata: 'x'.repeat(8190) })).status).toBe(201);
  });

  it.each([
    [60, 60],
    [90.5, 91],
    [172_799.01, 172_800],
  ])('takes %s seconds until it expires as %s whole ones', async (expiresIn, seconds) => {
    const { body } = await create({ amount: 25, currency: 'BTC', expiresIn });
    const [row] = await h.db.query(
      'SELECT extract(epoch FROM expires_at - created_at)::float8 AS lasts, expires_in FROM payment WHERE id = $1',
      [body.paymentId],
    );
    expect([Math.round(row.lasts), row.expires_in]).toEqual([seconds, seconds]);
  });

  const generic = { error: 'Payment creation failed' };
  it('gives one text for many reasons, and the reason to the merchant alone', async () => {
    const picky = await h.shop({ callbackDomains: ['shop.example.com'], openPaymentsQuota: 1 }, ['USDT_ERC20']);
    const reasons = [
      [{ amount: 25, currency: 'DOGE' }, 'UNKNOWN_CURRENCY'],
      [{ amount: 25, currency: 'BTC' }, 'NO_WALLET'],
      [{ amount: 0.01, currency: 'USDT_ERC20' }, 'BELOW_MINIMUM'],
      [{ amount: 25, ipnCallbackUrl: 'https://evil-shop.example.com/' }, 'CALLBACK_HOST_NOT_ALLOWED'],
      [{ amount: 25, ipnCallbackUrl: 'https://shop.example.com.evil.io/' }, 'CALLBACK_HOST_NOT_ALLOWED'],
    ] as const;
    for (const [body, reason] of reasons) {
      const answer = await create(body, {}, picky.key);
      expect([answer.status, answer.body]).toEqual([400, generic]);
      const id = answer.headers.get('x-request-id')!;
      const log = await h.call('GET', `/api/v1/request-logs/${id}`, { key: picky.key });
      expect(log.body.data.reason).toBe(reason);
      const foreign = await h.call('GET', `/api/v1/request-logs/${id}`, { key: shop.key });
      const unknown = await h.call('GET', '/api/v1/request-logs/unknown-id-1', { key: shop.key });
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
    }
    expect((await create({ amount: 25, ipnCallbackUrl: 'https://a.shop.example.com/' }, {}, picky.key)).status).toBe(
      201,
    );
    const over = await create({ amount: 25 }, {}, picky.key);
    expect([over.status, over.body]).toEqual([400, generic]);
    const [counter] = await h.db.query('SELECT open_payments FROM merchant_counter WHERE merchant_id = $1', [picky.id]);
    expect(counter.open_payments).toBe(1);
  });

  it('takes the least order that min-orders names, and no cent less', async () => {
    const { body } = await h.call('GET', '/api/v1/min-orders/BTC');
    const least = body.data.minAmountUsd;
    expect((await create({ amount: least, currency: 'BTC' })).status).toBe(201);
    expect((await create({ amount: Math.round(least * 100 - 1) / 100, currency: 'BTC' })).body).toEqual(generic);
  });

  it.each([0.001, 0.009, 1e-9])(
    'refuses %s dollars as what is below the least order, not as no price',
    async (amount) => {
      for (const currency of ['BTC', 'ETH']) {
        const below = await create({ amount, currency });
        expect([below.status, below.body]).toEqual([400, generic]);
      }
      expect((await create({ amount })).body.error.code).toBe('VALIDATION_ERROR');
    },
  );

  it('without a fresh rate: 503, and no row', async () => {
    await h.setRates(3600);
    try {
      const [before] = await h.db.query('SELECT count(*) FROM payment');
      const answer = await create({ amount: 25, currency: 'BTC' });
      expect([answer.status, answer.body.error.code]).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
      expect(answer.headers.get('retry-after')).toBeTruthy();
      expect((await h.db.query('SELECT count(*) FROM payment'))[0]).toEqual(before);
      expect((await create({ amount: 25 })).status).toBe(201);
    } finally {
      await h.setRates();
    }
  });
});

describe('idempotency', () => {
  it('E: returns the first payment whatever the body, and says so', async () => {
    const key = { 'Idempotency-Key': 'order-1' };
    const first = await create({ amount: 25, currency: 'USDT_ERC20' }, key);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    for (const body of [{ amount: 25, currency: 'USDT_ERC20' }, { amount: 99 }, { amount: 1, currency: 'NOPE' }]) {
      const again = await create(body, key);
      expect([again.status, again.text]).toEqual([201, first.text]);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
    }
    const got = await h.call('GET', `/api/v1/payments/${first.body.paymentId}`, { key: shop.key });
    expect(got.body.idempotencyKey).toBe('order-1');
  });

  it('lets the header come before the body', async () => {
    const first = await create({ amount: 25, idempotencyKey: 'from-body' });
    const other = await create({ amount: 25, idempotencyKey: 'from-body' }, { 'Idempotency-Key': 'from-header' });
    expect(other.body.paymentId).not.toBe(first.body.paymentId);
    const again = await create({ amount: 25, idempotencyKey: 'not valid' }, { 'Idempotency-Key': 'from-header' });
    expect(again.body.paymentId).toBe(other.body.paymentId);
    expect((await create({ amount: 1, idempotencyKey: 'from-body' })).body.paymentId).toBe(first.body.paymentId);
  });

  it('keeps merchants apart', async () => {
    const other = await h.shop();
    const mine = await create({ amount: 25 }, { 'Idempotency-Key': 'shared' });
    const theirs = await create({ amount: 25 }, { 'Idempotency-Key': 'shared' }, other.key);
    expect(theirs.body.paymentId).not.toBe(mine.body.paymentId);
  });

  it.each([
    [`widget:${'a'.repeat(24)}:token`, 'Invalid Idempotency-Key (reserved namespace)'],
    ['has space', 'Invalid Idempotency-Key (1-255 printable ASCII characters, no spaces)'],
    ['x'.repeat(256), 'Invalid Idempotency-Key (1-255 printable ASCII characters, no spaces)'],
    ['ümlaut', 'Invalid Idempotency-Key (1-255 printable ASCII characters, no spaces)'],
  ])('refuses the key %s', async (value, error) => {
    const fromBody = await create({ amount: 25, idempotencyKey: value });
    expect([fromBody.status, fromBody.body]).toEqual([400, { error }]);
    const fromHeader = await create({ amount: 25 }, { 'Idempotency-Key': value });
    expect([fromHeader.status, fromHeader.body]).toEqual([400, { error }]);
  });

  it('takes what only looks like a key of a widget', async () => {
    for (const key of [`Widget:${'a'.repeat(24)}:token`, `widget:${'a'.repeat(23)}:token`, 'widget:'])
      expect((await create({ amount: 25 }, { 'Idempotency-Key': key })).status).toBe(201);
  });

  it('takes 255 characters', async () => {
    expect((await create({ amount: 25 }, { 'Idempotency-Key': 'x'.repeat(255) })).status).toBe(201);
  });

  it('makes one payment of 50 at once', async () => {
    const body = { amount: 25, currency: 'ETH' };
    const answers = await atOnce(50, () => create(body, { 'Idempotency-Key': 'race' }));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201]));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(answers.filter((answer) => answer.headers.get('idempotency-replayed') === null)).toHaveLength(1);
    const [row] = await h.db.query("SELECT count(*)::int AS n FROM payment WHERE idempotency_key = 'race'");
    expect(row.n).toBe(1);
  });
});

describe('payments of a merchant that are created at once', () => {
  /** `count` creations that have come before any of them can be written: another transaction holds the counter of the
   *  merchant's events. */
  async function whileHeld(of: Shop, count: number, ask: (n: number) => Promise<Answer>): Promise<Answer[]> {
    const holder = h.db.createQueryRunner();
    await holder.startTransaction();
    await holder.query('SELECT FROM merchant_counter WHERE merchant_id = $1 FOR UPDATE', [of.id]);
    const answers = atOnce(count, ask);
    try {
      await eventually(async () => {
        const [row] = await h.db.query('SELECT max(points) AS points FROM rate_limit WHERE key = $1', [
          `createPayment:${of.id}`,
        ]);
        return row.points >= count;
      });
    } finally {
      await holder.commitTransaction();
      await holder.release();
    }
    return answers;
  }
  const transactions = async (of: Shop): Promise<number> => {
    const [row] = await h.db.query(
      'SELECT count(DISTINCT xmin::text)::int AS count FROM event WHERE merchant_id = $1',
      [of.id],
    );
    return row.count;
  };

  it('share transactions, and each has its own address and place among the events', async () => {
    const many = await h.shop();
    const answers = await whileHeld(many, 30, (n) =>
      create({ amount: n + 100, currency: n % 2 ? 'ETH' : 'BTC', metadata: { n: `"${n}\\` } }, {}, many.key),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body }) => body.depositAddress)).size).toBe(30);
    expect(await transactions(many)).toBeLessThan(20);
    const events = await h.db.query('SELECT entity_id, seq::int, data FROM event WHERE merchant_id = $1 ORDER BY seq', [
      many.id,
    ]);
    expect(events.map(({ seq }: { seq: number }) => seq)).toEqual(Array.from({ length: 30 }, (_, n) => n + 1));
    const [day] = await h.db.query('SELECT created::int FROM payment_day WHERE merchant_id = $1', [many.id]);
    expect(day.created).toBe(30);
    for (const [n, { body }] of answers.entries()) {
      const [row] = await h.db.query(
        `SELECT p.fiat_amount::float8, p.metadata->>'n' AS n, a.address, p.deposit_address
           FROM payment p JOIN address a ON a.payment_id = p.id AND NOT a.is_elsewhere WHERE p.id = $1`,
        [body.paymentId],
      );
      expect(row).toEqual({
        fiat_amount: n + 100,
        n: `"${n}\\`,
        address: body.depositAddress,
        deposit_address: body.depositAddress,
      });
    }
  });

  it('are as many as the quota has room for, and the others say why', async () => {
    const few = await h.shop({ openPaymentsQuota: 11 });
    const answers = await whileHeld(few, 20, () => create({ amount: 25 }, {}, few.key));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(9);
    for (const { status, body } of refused) expect([status, body]).toEqual([400, { error: expect.any(String) }]);
    const reasons = await h.db.query('SELECT reason FROM request_log WHERE merchant_id = $1', [few.id]);
    expect(reasons).toEqual(Array.from({ length: 9 }, () => ({ reason: 'QUOTA_REACHED' })));
    const [row] = await h.db.query(
      `SELECT (SELECT count(*)::int FROM payment WHERE merchant_id = $1) AS payments, open_payments::int, event_seq::int
         FROM merchant_counter WHERE merchant_id = $1`,
      [few.id],
    );
    expect(row).toEqual({ payments: 11, open_payments: 11, event_seq: 11 });
  });

  it('are one where they have the same key', async () => {
    const one = await h.shop();
    const answers = await whileHeld(one, 20, (n) =>
      create({ amount: 25, currency: 'ETH' }, { 'Idempotency-Key': `key-${n % 2}` }, one.key),
    );
    expect(new Set(answers.map(({ body }) => body.paymentId)).size).toBe(2);
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(2);
    const events = await h.db.query('SELECT FROM event WHERE merchant_id = $1', [one.id]);
    expect(events).toHaveLength(2);
  });
});
