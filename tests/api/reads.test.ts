import { emitPaymentEvents, lockPayment, movePayment } from '../../db/payments/payments';
import { routes } from '../../api/routes';
import { paging } from '../../api/http/schemas';
import { startHarness, type Harness, type Shop } from './harness';
import { adjustment } from '../../domain/ledger/entry';
import { unguarded } from '../unguarded';

let h: Harness;
let shop: Shop;
let other: Shop;
beforeAll(async () => {
  h = await startHarness({ TEMPORAL_UI_URL: 'https://temporal.example/ui/' });
  shop = await h.shop();
  other = await h.shop();
});
afterAll(() => h?.stop());

const create = async (body: unknown, key = shop.key) => {
  const answer = await h.call('POST', '/api/v1/payments', { key, body });
  expect(answer.status).toBe(201);
  return answer.body;
};
const get = (path: string, key: string | undefined = shop.key) => h.call('GET', path, { key });
const unknownId = 'f'.repeat(24);

describe('reading payments', () => {
  it('shows the resource of the specification', async () => {
    const made = await create({
      amount: 25,
      currency: 'USDT_ERC20',
      merchantOrderId: 'A-1',
      customerId: 'c',
      extraId: 'e',
    });
    const { body } = await get(`/api/v1/payments/${made.paymentId}`);
    expect(body).toMatchObject({
      _id: made.paymentId,
      status: 'WAITING',
      stateVersion: 1,
      basis: 'quoted',
      fiatAmount: 25,
      fiatCurrency: 'USD',
      exchangeRate: 1,
      publicKey: made.depositAddress,
      addressRole: 'primary',
      source: 'api',
      merchantOrderId: 'A-1',
      customerId: 'c',
      extraId: 'e',
      amountPaid: 0,
      amountRemaining: '25',
      overpaidAmount: '0',
      txIds: [],
      repeatDepositChildIds: [],
      refundStatus: 'none',
      requiredConfirmations: 12,
    });
    expect(body.feeAmount).toBeCloseTo(body.commissionAmount + body.sweepCostCrypto, 8);
    expect(body.grossFiat).toBeCloseTo(body.netFiat + body.feeFiat, 8);
    expect(body).not.toHaveProperty('metadata');
    expect(body).not.toHaveProperty('settledFeeAmount');
  });

  it('answers foreign and unknown ids byte for byte alike', async () => {
    const { paymentId } = await create({ amount: 25 });
    const calls: Array<[string, string, unknown?]> = [
      ['GET', ''],
      ['GET', '/timeline'],
      ['POST', '/cancel', {}],
      ['POST', '/select-currency', { currency: 'BTC' }],
    ];
    for (const [method, tail, body] of calls) {
      const foreign = await h.call(method, `/api/v1/payments/${paymentId}${tail}`, { key: other.key, body });
      const unknown = await h.call(method, `/api/v1/payments/${unknownId}${tail}`, { key: other.key, body });
      expect([foreign.status, foreign.text]).toEqual([unknown.status, unknown.text]);
      const malformed = await h.call(method, `/api/v1/payments/nope${tail}`, { key: other.key, body });
      const message = 'Invalid ID format';
      const refusal = tail === '/timeline' ? { ok: false, error: { code: 'INVALID_ID', message } } : { error: message };
      expect([malformed.status, malformed.body]).toEqual([400, refusal]);
    }
    expect((await get(`/api/v1/payments/${unknownId}`)).body).toEqual({ error: 'Payment not found' });
  });

  it('tells what happened, why, at which rate, and who was told', async () => {
    const { body: made } = await h.call('POST', '/api/v1/payments', {
      text:
        '{"amount":25,"currency":"BTC","ipnCallbackUrl":"https://shop.example/ipn",' +
        '"metadata":{"a":"\\u0000","confirmations":77}}',
      key: shop.key,
    });
    const id = made.paymentId;
    const sources = [
      { source: 'kraken', value: '64000', takenAt: '2026-01-01T00:00:00.000Z' },
      { source: 'okx', value: '99000', takenAt: '2026-01-01T00:00:00.000Z', refused: 'outlier' },
    ];
    await h.db.query('UPDATE rate SET sources = $2 WHERE id = (SELECT rate_id FROM payment WHERE id = $1)', [
      id,
      JSON.stringify(sources),
    ]);
    await h.db.query(
      `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
         is_dust, status, height, first_seen_at)
         SELECT 'bitcoin', 'f00d', 0, deposit_address, 'deposit', id, 'BTC', amount, amount, false, 'mined', 99, now()
           FROM payment WHERE id = $1`,
      [id],
    );
    await h.db.transaction(async (tx) => {
      const before = await lockPayment(tx, id);
      const details = { txIds: ['f00d'] };
      const after = await movePayment(tx, before, { to: 'CONFIRMING', cause: 'deposit-seen', events: [], details });
      await emitPaymentEvents(tx, before, after, ['payment.confirming']);
    });
    await h.db.transaction(async (tx) => {
      const before = await lockPayment(tx, id);
      const [deposit] = await tx.query<Array<{ id: string }>>('SELECT id FROM deposit WHERE payment_id = $1', [id]);
      const details = { depositIds: [deposit!.id], reason: 'as <b>asked</b>' };
      await movePayment(tx, before, { to: 'FAILED', cause: 'test', events: [], details });
    });
    const [delivery] = await h.db.query<Array<{ id: string }>>(
      `SELECT d.id FROM delivery d JOIN event e ON e.id = d.event_id
        WHERE e.entity_id = $1 AND e.type = 'payment.confirming'`,
      [id],
    );
    for (const n of [1, 2])
      await h.db.query(
        `INSERT INTO delivery_attempt (delivery_id, n, at, duration_ms, status_code, error)
          VALUES ($1, $2::integer, now() + $2::integer * $3::interval, 12, $4, $5)`,
        [delivery!.id, n, '1 minute', n === 1 ? null : 200, n === 1 ? 'ECONNREFUSED' : null],
      );

    const { body } = await get(`/api/v1/payments/${id}/timeline`);
    const at = expect.any(String);
    const change = { kind: 'change', at, reason: null, by: null, rate: null, receivedOther: [] };
    const told = {
      kind: 'delivery',
      at,
      deliveryId: delivery!.id,
      type: 'payment.confirming',
      stateVersion: 2,
      endpointId: 'ipn',
      durationMs: 12,
    };
    const rate = { currency: 'BTC', fiat: 'USD', value: '64000', takenAt: at, sources };
    expect(body.data.items).toEqual([
      { ...change, from: null, to: 'WAITING', cause: 'created', stateVersion: 1, txIds: [], confirmations: 0, rate },
      {
        ...change,
        from: 'WAITING',
        to: 'CONFIRMING',
        cause: 'deposit-seen',
        stateVersion: 2,
        txIds: ['f00d'],
        confirmations: 2,
      },
      {
        ...change,
        from: 'CONFIRMING',
        to: 'FAILED',
        cause: 'test',
        reason: 'as <b>asked</b>',
        stateVersion: 3,
        txIds: ['f00d'],
        confirmations: null,
      },
      { ...told, attempt: 1, statusCode: null, error: 'ECONNREFUSED' },
      { ...told, attempt: 2, statusCode: 200, error: null },
    ]);
    expect(body.data.workflow).toEqual({
      id: `payment/${id}`,
      url: `https://temporal.example/ui/namespaces/default/workflows/payment%2F${id}`,
    });
  });

  it('names no page for the workflow where there is no UI', async () => {
    const own = await startHarness();
    try {
      const { key } = await own.shop();
      const { body: made } = await own.call('POST', '/api/v1/payments', { key, body: { amount: 25 } });
      const { body } = await own.call('GET', `/api/v1/payments/${made.paymentId}/timeline`, { key });
      expect(body.data).toMatchObject({
        items: [{ to: 'AWAITING_CURRENCY', txIds: [], confirmations: 0, rate: null }],
        workflow: { id: `payment/${made.paymentId}`, url: null },
      });
    } finally {
      await own.stop();
    }
  });
});

describe('listing payments', () => {
  let store: Shop;
  const ids: string[] = [];
  const list = async (query = '') => (await get(`/api/v1/payments${query}`, store.key)).body;
  const found = async (query: string) => (await list(query)).items.map((item: { _id: string }) => item._id);
  beforeAll(async () => {
    store = await h.shop();
    const bodies = [
      { amount: 10, currency: 'USDT_ERC20', merchantOrderId: 'm1', metadata: { custom: { orderId: 'o1' } } },
      { amount: 20, currency: 'BTC', merchantOrderId: 'm2' },
      { amount: 30 },
    ];
    for (const body of bodies) ids.push((await create(body, store.key)).paymentId);
    await h.db.query("UPDATE payment SET status = 'EXPIRED', state_version = 2, source = 'widget' WHERE id = $1", [
      ids[2],
    ]);
  });

  it('gives pages, newest first, and the total', async () => {
    expect(await found('')).toEqual([...ids].reverse());
    expect(await list('?page=2&limit=2')).toMatchObject({ total: 3, items: [{ _id: ids[0] }] });
    expect((await list('?limit=1000')).items).toHaveLength(3);
    expect(Object.keys(await list())).toEqual(['items', 'total']);
    expect((await list()).items[1]).toMatchObject({ invoicedFiat: 20, receivedFiat: 0 });
  });

  it.each([
    ['status', '?status=WAITING', [1, 0]],
    ['currency, any case', '?currency=btc', [1]],
    ['order id of the metadata', '?orderId=o1', [0]],
    ['merchant order id', '?merchantOrderId=m2', [1]],
    ['abandoned left out', '?excludeAbandoned=1', [1, 0]],
    ['from a day', '?dateFrom=2020-01-01', [2, 1, 0]],
    ['to a day', '?dateTo=2020-01-01', []],
    ['from a moment', '?dateFrom=2020-01-01T00:00:00%2B02:00', [2, 1, 0]],
    ['nothing found', '?search=nothing', []],
  ])('filters by %s', async (_, query, expected) => {
    expect(await found(query)).toEqual((expected as number[]).map((index) => ids[index]));
  });

  it('finds an order id that is a number by how it was written', async () => {
    const numbers = await h.shop();
    const made: string[] = [];
    for (const orderId of ['12345678901234567890', '-1.50', '"7"', '{"a":1}', 'true', 'null']) {
      const text = `{"amount": 5, "metadata": {"custom": { "orderId": ${orderId} }}}`;
      const answer = await h.call('POST', '/api/v1/payments', { key: numbers.key, text });
      expect(answer.status).toBe(201);
      made.push(answer.body.paymentId);
    }
    const by = async (orderId: string) =>
      (await get(`/api/v1/payments?orderId=${encodeURIComponent(orderId)}`, numbers.key)).body.items.map(
        ({ _id }: { _id: string }) => _id,
      );
    expect(await by('12345678901234567890')).toEqual([made[0]]);
    expect(await by('12345678901234567000')).toEqual([]);
    expect(await by('-1.50')).toEqual([made[1]]);
    expect(await by('7')).toEqual([made[2]]);
    for (const other of ['true', 'null', '{"a":1}', '[object Object]']) expect(await by(other)).toEqual([]);
  });

  it('finds by id, slug and address in any spelling', async () => {
    const { items } = await list('?merchantOrderId=m1');
    const [payment] = items;
    for (const text of [
      payment._id,
      payment.shortSlug,
      payment.publicKey,
      payment.publicKey.toLowerCase(),
      ` ${payment.publicKey} `,
    ])
      expect(await found(`?search=${encodeURIComponent(text)}`)).toEqual([ids[0]]);
    expect((await get(`/api/v1/payments?search=${payment.publicKey}`, shop.key)).body).toEqual({ items: [], total: 0 });
  });

  it.each([
    '?status=NOPE',
    '?status=WAITING&status=SETTLED',
    '?page=0',
    '?page=x',
    '?limit=0',
    '?dateFrom=yesterday',
    '?dateTo=2026-13-01',
    '?search=%00',
    '?page=99999999999',
  ])('refuses %s', async (query) => {
    const answer = await get(`/api/v1/payments${query}`, store.key);
    expect([answer.status, answer.body.error?.code]).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('counts by status', async () => {
    const { body } = await get('/api/v1/payments/status-counts', store.key);
    expect(body).toMatchObject({
      total: 3,
      byStatus: { WAITING: 2, EXPIRED: 1, SETTLED: 0 },
      groups: { pending: 2, processing: 0, completed: 0, failed: 1 },
    });
    expect((await get('/api/v1/payments/status-counts?excludeAbandoned=1', store.key)).body.total).toBe(2);
  });
});

describe('what a payer may see', () => {
  it('is the invoice and nothing private', async () => {
    const made = await create({ amount: 25, currency: 'BTC', metadata: { secret: 1 }, merchantOrderId: 'A' });
    const slug = made.invoiceUrl.split('/').pop();
    const { status, body, text, headers } = await get(`/getInvoiceStatus?invoiceId=${slug}`, undefined);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      invoiceId: slug,
      status: 'WAITING',
      merchantName: 'Shop',
      currency: 'BTC',
      network: 'bitcoin',
      depositAddress: made.depositAddress,
      amountPaid: '0',
      cancellable: true,
      redirectUrl: null,
      requiredConfirmations: 2,
    });
    expect(Number(body.amount)).toBe(made.amount);
    expect(body.paymentUri).toMatch(/^bitcoin:bcrt1.*amount=/);
    for (const word of ['metadata', 'secret', 'fee', 'net"', 'settle', made.paymentId])
      expect(text).not.toContain(word);
    const again = await h.call('GET', `/getInvoiceStatus?invoiceId=${slug}`, {
      headers: { 'If-None-Match': headers.get('etag')! },
    });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it('is not found by the payment id or anything else', async () => {
    const { paymentId } = await create({ amount: 25 });
    for (const id of [paymentId, 'x', '2'.repeat(20), '%00']) {
      const answer = await get(`/getInvoiceStatus?invoiceId=${id}`, undefined);
      expect([answer.status, answer.body]).toEqual([404, { error: 'Invoice not found' }]);
    }
    expect((await get('/getInvoiceStatus', undefined)).body.error.code).toBe('VALIDATION_ERROR');
  });

  it('lists what the invoice can be paid in', async () => {
    const store = await h.shop({}, ['BTC', 'USDT_ERC20']);
    const slug = (await create({ amount: 0.5 }, store.key)).invoiceUrl.split('/').pop();
    const { body } = await get(`/invoice/${slug}/currencies`, undefined);
    expect(body.items.map((item: { currency: string }) => item.currency)).toEqual(['BTC', 'USDT_ERC20']);
    expect(body.items[0]).toMatchObject({ available: false, reason: 'BELOW_MINIMUM', amount: null });
    const icon = await h.call('GET', new URL(body.items[0].iconUrl).pathname);
    expect(icon.headers.get('content-type')).toBe('image/svg+xml');
    expect((await get('/invoice/nope/currencies', undefined)).status).toBe(404);
  });

  it('tells of each what the network takes from the payer, and how it is doing', async () => {
    const store = await h.shop({ displayCurrency: 'EUR' }, ['USDC_ERC20', 'BTC', 'ETH']);
    const made = await create({ amount: 250 }, store.key);
    const slug = made.invoiceUrl.split('/').pop();
    const items = async (): Promise<Array<Record<string, unknown>>> =>
      (await get(`/invoice/${slug}/currencies`, undefined)).body.items;
    // Coins in the registry's order. 141 bytes at 5, 21,000 and 65,000 gas at 2 gwei, at rates in euros.
    expect(await items()).toMatchObject([
      { currency: 'BTC', coinName: 'Bitcoin', payerFeeFiat: 0.415_104, estimatedSeconds: 1200 },
      { currency: 'ETH', coinName: 'Ether', payerFeeFiat: 0.123_648, status: 'active', statusMessage: null },
      { currency: 'USDC_ERC20', coinName: 'USD Coin', payerFeeFiat: 0.382_72, available: true },
    ]);
    await h.db.query("UPDATE chain_cursor SET stale_since = now(), stale_reason = 'x' WHERE network = 'bitcoin'");
    const slow = 'Payments are noticed late at the moment';
    expect((await items())[0]).toMatchObject({ status: 'delayed', statusMessage: slow, available: true });
    await h.db.query("DELETE FROM chain_cursor WHERE network = 'bitcoin'");
    expect((await items())[0]).toMatchObject({ status: 'disabled', available: false, amount: null });
    await h.setRates(10_000);
    const unpriced = { available: false, reason: 'TEMPORARILY_UNAVAILABLE', payerFeeFiat: null };
    for (const item of await items()) expect(item).toMatchObject(unpriced);
    await h.setRates();
  });

  it('streams each change', async () => {
    const made = await create({ amount: 25 });
    const slug = made.invoiceUrl.split('/').pop();
    const response = await fetch(`${h.url}/invoice/${slug}/events`);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let seen = '';
    const until = async (text: string) => {
      while (!seen.includes(text)) {
        const { value, done } = await reader.read();
        if (done) break;
        seen += value;
      }
      return seen;
    };
    expect(await until('"AWAITING_CURRENCY"')).toContain(`"invoiceId":"${slug}"`);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await h.db.query("UPDATE payment SET status = 'CANCELLED', state_version = 2 WHERE id = $1", [made.paymentId]);
    await h.db.query("SELECT pg_notify('payment_changed', $1)", [made.paymentId]);
    const started = Date.now();
    expect(await until('"CANCELLED"')).toContain('"CANCELLED"');
    expect(Date.now() - started).toBeLessThan(10_000);
    while (!(await reader.read()).done);
  });
});

describe('the length of a list', () => {
  it('is asked for alike by all of them', () => {
    const asked = routes.flatMap(({ name, query }) =>
      query?.properties.limit ? [[name, query.properties.limit]] : [],
    );
    expect(asked.map(([name]) => name)).toEqual(
      expect.arrayContaining([
        ...['listPayments', 'listRefunds', 'listConversions', 'listWithdrawals', 'listPayouts', 'listPayoutLegs'],
        ...['listWebhookEndpoints', 'listDeliveries', 'listEvents', 'ledgerHistory', 'listAuditLog', 'listMerchants'],
      ]),
    );
    for (const entry of asked) expect(entry[1]).toBe(paging.limit);
  });

  it('is a hundred where more is asked for', async () => {
    const long = await h.shop();
    for (let n = 0; n < 11; n++)
      await Promise.all(Array.from({ length: n ? 10 : 2 }, () => create({ amount: 25 }, long.key)));
    const list = async (path: string) => (await get(path, long.key)).body;
    expect((await list('/api/v1/payments?limit=200')).items).toHaveLength(100);
    const events = (await list('/api/v1/events?limit=200')).data;
    expect([events.items.length, events.hasMore]).toEqual([100, true]);
    expect((await list(`/api/v1/events?limit=101&after=${events.nextCursor}`)).data.items).toHaveLength(2);
    for (const path of [
      'webhook-endpoints',
      'webhook-deliveries',
      'ledger/history',
      'withdrawals',
      'refunds',
      'conversions',
    ])
      expect((await get(`/api/v1/${path}?limit=1000000000000`, long.key)).status).toBe(200);
    expect((await get('/api/v1/webhook-endpoints?limit=0', long.key)).status).toBe(400);
  });
});

describe('currencies, wallets, balances', () => {
  it('lists every currency', async () => {
    const { body } = await get('/api/v1/currencies', undefined);
    expect(body.data.map((entry: { currency: string; status: string }) => [entry.currency, entry.status])).toEqual([
      ['BTC', 'active'],
      ['ETH', 'active'],
      ['USDT_ERC20', 'active'],
      ['USDC_ERC20', 'active'],
    ]);
    await h.db.query("UPDATE chain_cursor SET scanned_through = now() - interval '1 hour' WHERE network = 'bitcoin'");
    expect((await get('/api/v1/currencies', undefined)).body.data[0].status).toBe('delayed');
    const can = async (what: 'payin' | 'payout' | 'convert') =>
      ((await get('/api/v1/currencies', undefined)).body.data as Array<Record<string, unknown>>)
        .filter((entry) => entry[what])
        .map((entry) => entry.currency);
    const all = ['BTC', 'ETH', 'USDT_ERC20', 'USDC_ERC20'];
    expect([await can('payin'), await can('payout'), await can('convert')]).toEqual([all, all, all]);
    await h.db.query(`INSERT INTO egress_freeze (currency, reason) VALUES ('ETH', 'test')`);
    expect([await can('payout'), await can('convert')]).toEqual([all.filter((one) => one !== 'ETH'), all]);
    await h.db.query(`UPDATE egress_freeze SET currency = '*'`);
    expect(await can('payout')).toEqual([]);
    await h.db.query('DELETE FROM egress_freeze');
    await h.setRates(10_000);
    expect([await can('payout'), await can('convert')]).toEqual([all, []]);
    await h.setRates();
    const [first, , , last] = (await get('/api/v1/currencies', undefined)).body.data;
    expect(first).toMatchObject({ coinName: 'Bitcoin', payerFeeUsd: 0.4512, estimatedSeconds: 1200 });
    expect(last).toMatchObject({ coinName: 'USD Coin', payerFeeUsd: 0.416, estimatedSeconds: 144 });
  });

  it('names the least order, for any commission', async () => {
    const all = await get('/api/v1/min-orders', undefined);
    expect(all.body.data).toHaveLength(4);
    const one = (await get('/api/v1/min-orders/btc', undefined)).body.data;
    expect(one).toEqual(all.body.data[0]);
    expect(one.feeBps).toBe(40);
    for (const [text, feeBps] of [
      ['1', 1],
      ['5000', 5000],
      ['0', 40],
      ['5001', 40],
      ['x', 40],
      ['', 40],
      ['1.5', 40],
      ['1&feeBps=2', 40],
    ])
      expect((await get(`/api/v1/min-orders/BTC?feeBps=${text}`, undefined)).body.data.feeBps).toBe(feeBps);
    expect((await get('/api/v1/min-orders/DOGE', undefined)).body.error.code).toBe('INVALID_CURRENCY');
    await h.db.query("UPDATE rate_latest SET taken_at = now() - interval '1 hour' WHERE currency = 'BTC'");
    expect((await get('/api/v1/min-orders/BTC', undefined)).body.error.code).toBe('CURRENCY_NOT_AVAILABLE');
    expect((await get('/api/v1/min-orders', undefined)).body.data).toHaveLength(3);
    await h.setRates();
  });

  it('lists wallets, old ones too', async () => {
    const store = await h.shop({}, ['BTC']);
    await h.db.query('UPDATE merchant_wallet SET is_active = false WHERE merchant_id = $1', [store.id]);
    const { body } = await get('/api/v1/merchant-wallets', store.key);
    expect(body).toMatchObject([{ currency: 'BTC', isActive: false, custody: 'platform' }]);
    expect(body[0].settlementAddress).toMatch(/^bcrt1/);
  });

  it('shows balances as exact text', async () => {
    const store = await h.shop({}, ['BTC', 'ETH']);
    await h.db.query(`SELECT post_journal('t/1', $1, $2)`, [
      adjustment,
      JSON.stringify([
        { debit: 'A:treasury', credit: `L:available:${store.id}`, asset: 'ETH', amount: '1.000000000000000001' },
        { debit: 'A:treasury', credit: `L:reserved:${store.id}`, asset: 'ETH', amount: '0.5' },
      ]),
    ]);
    const { paymentId } = await create({ amount: 64, currency: 'BTC' }, store.key);
    await unguarded(h.db, (tx) =>
      tx.query("UPDATE payment SET status = 'CONFIRMED', state_version = 2, amount_paid = amount WHERE id = $1", [
        paymentId,
      ]),
    );
    const net = (await get(`/api/v1/payments/${paymentId}`, store.key)).body.netAmount;
    const { body } = await get('/api/v1/ledger/balances', store.key);
    expect(body.balances).toMatchObject([
      { currency: 'BTC', balance: '0', reserved: '0', available: '0', pending: String(net) },
      {
        currency: 'ETH',
        balance: '1.000000000000000001',
        reserved: '0.5',
        available: '1.000000000000000001',
        pending: '0',
      },
    ]);
  });

  it('names the event types', async () => {
    const { body } = await get('/api/v1/webhook-event-types', undefined);
    const types = body.data.map((entry: { type: string }) => entry.type);
    expect(types).toEqual(
      expect.arrayContaining(
        [
          ...[
            'created',
            'currency_selected',
            'detected',
            'partially_paid',
            'cross_chain_pending',
            'cross_chain_accepted',
          ],
          ...['confirming', 'confirmed', 'sweep_queued', 'settled', 'expired', 'cancelled', 'failed', 'repeat_deposit'],
          ...['reorged', 'aml_screened'],
        ].map((name) => `payment.${name}`),
      ),
    );
    expect(types).toEqual(
      expect.arrayContaining(['wallet.added', 'wallet.settlement_changed', 'wallet.deactivated', 'whitelist.changed']),
    );
  });
});

describe('commands while Temporal is away', () => {
  const slugOf = (made: { invoiceUrl: string }) => made.invoiceUrl.split('/').pop();

  it('E: cancel and the choice of a currency are decided at once, and the workflow is told', async () => {
    const told = (id: string) =>
      h.db.query(`SELECT kind FROM temporal_request WHERE workflow_id = $1 AND kind = 'signal'`, [`payment/${id}`]);
    const body = { currency: 'BTC' };
    const made = await create({ amount: 25 });
    const chosen = await h.call('POST', `/api/v1/payments/${made.paymentId}/select-currency`, { key: shop.key, body });
    expect([chosen.status, chosen.body.currency, chosen.body.status]).toEqual([200, 'BTC', 'WAITING']);
    expect(await told(made.paymentId)).toHaveLength(1);
    const cancelled = await h.call('POST', `/api/v1/payments/${made.paymentId}/cancel`, { key: shop.key, body: {} });
    expect([cancelled.status, cancelled.body]).toEqual([200, { success: true, status: 'CANCELLED' }]);
    const open = await create({ amount: 25 });
    const bySlug = `/invoice/${slugOf(open)}`;
    expect((await h.call('POST', `${bySlug}/select-currency`, { body })).body.status).toBe('WAITING');
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => h.call('POST', `${bySlug}/cancel`, { body: { confirm: true } })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
    expect((await h.call('GET', `/getInvoiceStatus?invoiceId=${slugOf(open)}`)).body.status).toBe('CANCELLED');
    expect((await told(open.paymentId)).length).toBeGreaterThan(0);
    await h.db.query('DELETE FROM rate_limit');
  });

  it('cancel once, whoever asks at the same time', async () => {
    const { paymentId } = await create({ amount: 25 });
    const cancel = `/api/v1/payments/${paymentId}/cancel`;
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => h.call('POST', cancel, { key: shop.key, body: {} })),
    );
    const [one, ...others] = answers.toSorted((a, b) => a.status - b.status);
    expect([one!.status, one!.body]).toEqual([200, { success: true, status: 'CANCELLED' }]);
    for (const { status, body } of others)
      expect([status, body]).toEqual([400, { error: 'Payment not found or cannot be cancelled' }]);
    await h.db.query('DELETE FROM rate_limit');
  });

  it('are refused from the row where it already says no', async () => {
    const made = await create({ amount: 25, currency: 'BTC' });
    await h.db.query("UPDATE payment SET status = 'EXPIRED', state_version = 2 WHERE id = $1", [made.paymentId]);
    const cancel = { error: 'Payment not found or cannot be cancelled' };
    const choose = { error: 'Payment not found or currency cannot be changed' };
    const post = async (path: string, body: unknown, key?: string) => {
      const answer = await h.call('POST', path, { key, body });
      return [answer.status, answer.body];
    };
    const slug = slugOf(made);
    expect(await post(`/api/v1/payments/${made.paymentId}/cancel`, {}, shop.key)).toEqual([400, cancel]);
    expect(await post(`/invoice/${slug}/cancel`, { confirm: true })).toEqual([400, cancel]);
    expect(await post(`/invoice/${made.paymentId}/cancel`, { confirm: true, extra: 1 })).toEqual([400, cancel]);
    expect(await post(`/invoice/${slug}/select-currency`, { currency: 'ETH' })).toEqual([400, choose]);
    expect(await post(`/invoice/${slug}/refresh-quote`, {})).toEqual([
      400,
      { error: 'Payment not found or quote cannot be refreshed' },
    ]);
    const open = await create({ amount: 25 });
    expect(await post(`/invoice/${slugOf(open)}/select-currency`, { currency: 'DOGE' })).toEqual([400, choose]);
    expect(await post(`/api/v1/payments/${open.paymentId}/select-currency`, { currency: 'x' }, shop.key)).toEqual([
      400,
      choose,
    ]);
  });

  it('return the quote as it is while it is in force', async () => {
    const made = await create({ amount: 25, currency: 'BTC' });
    const answer = await h.call('POST', `/invoice/${slugOf(made)}/refresh-quote`, {});
    expect([answer.status, answer.body]).toEqual([200, made]);
  });
});

describe('the payer cancels', () => {
  it('with confirm alone, three times a minute', async () => {
    const own = await startHarness({});
    try {
      const codes: unknown[] = [];
      for (const body of [{}, { confirm: false }, { confirm: 'true' }, { confirm: true }]) {
        const answer = await own.call('POST', `/invoice/${'2'.repeat(20)}/cancel`, { body });
        codes.push([answer.status, answer.body.error.code]);
      }
      expect(codes).toEqual([
        [400, 'VALIDATION_ERROR'],
        [400, 'VALIDATION_ERROR'],
        [400, 'VALIDATION_ERROR'],
        [429, 'RATE_LIMITED'],
      ]);
    } finally {
      await own.stop();
    }
  });
});
