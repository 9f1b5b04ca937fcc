import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { requestsOf } from '../../db/access/api-requests';
import { forgetOldRequests } from '../../db/access/request-retention';
import { countByStatus, listPayments, type PaymentFilter } from '../../db/payments/payment-queries';
import type { Queryable } from '../../db/query';
import { parse } from 'csv-parse/sync';
import { paymentHead } from '../../domain/payments/payment-csv';
import { idOfMany, manyPayments, slugOfMany } from '../many-payments';
import { startHarness, type Harness, type Shop } from './harness';
import { unguarded } from '../unguarded';

/** `MANY_PAYMENTS=1000000` for the long run; the suite has less of it. */
const many = Number(process.env['MANY_PAYMENTS'] ?? 100_000);

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h?.stop());

const rowsOf = (text: string): Array<Record<string, string>> => {
  expect(text.split('\n', 1)[0]).toBe(paymentHead.join());
  return parse<Record<string, string>>(text, { columns: true });
};
const file = (shop: Shop, query = '') => h.call('GET', `/api/v1/payments.csv?${query}`, { key: shop.key });
const openCursors = async (): Promise<number> => {
  const [row] = await h.db.query<Array<{ n: number }>>(
    `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'FETCH%'
       AND state <> 'idle'`,
  );
  return row!.n;
};
const noCursors = async (): Promise<void> => {
  for (let tries = 0; (await openCursors()) > 0; tries++) {
    if (tries > 100) throw new Error('A cursor is still open');
    await sleep(50);
  }
};
/** The answer before its body is read. */
const opened = (shop: Shop, query = '') =>
  new Promise<IncomingMessage>((resolve, reject) =>
    httpGet(
      `${h.url}/api/v1/payments.csv?${query}`,
      { headers: { Authorization: `Bearer ${shop.key}` }, agent: false },
      resolve,
    ).on('error', reject),
  );

describe('payments as a file', () => {
  let shop: Shop;
  const ids: string[] = [];
  beforeAll(async () => {
    shop = await h.shop();
    for (const body of [
      {
        amount: 25,
        currency: 'USDT_ERC20',
        merchantOrderId: '=1+1',
        customerId: '+49',
        extraId: '@me',
        metadata: { custom: { orderId: '\t-5' } },
      },
      {
        amount: 64,
        currency: 'BTC',
        merchantOrderId: 'a "b", c',
        customerId: '-7',
        metadata: { custom: { orderId: 'two\r\nlines' } },
      },
      { amount: 10, merchantOrderId: 'ümlaut €' },
    ]) {
      const { status, body: made } = await h.call('POST', '/api/v1/payments', { key: shop.key, body });
      expect(status).toBe(201);
      ids.push(made.paymentId);
    }
    await unguarded(h.db, (tx) =>
      tx.query(
        `UPDATE payment SET status = 'SETTLED', state_version = 9, amount_paid = amount, settled_fee_amount = 0.000005,
           settled_net_amount = amount - 0.000005,
          exceptions = '{overpaid,paidLate}', tx_ids = '{aa,bb}', sweep_tx_id = 'cc',
            confirmed_at = '2026-01-02T03:04:05.678Z', settled_at = '2026-01-02T04:04:05Z' WHERE id = $1`,
        [ids[1]],
      ),
    );
  });

  it('has a line per payment, newest first, with exact amounts', async () => {
    const answer = await file(shop);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="payments-\d{4}-\d\d-\d\d\.csv"$/);
    const rows = rowsOf(answer.text);
    expect(rows.map((row) => row['paymentId'])).toEqual([...ids].reverse());
    expect(rows[1]).toMatchObject({
      status: 'SETTLED',
      basis: 'settled',
      currency: 'BTC',
      fiatAmount: '64',
      fiatCurrency: 'USD',
      exchangeRate: '64000',
      amount: '0.001',
      amountPaid: '0.001',
      feeAmount: '0.000005',
      netAmount: '0.000995',
      receivedFiat: '64',
      grossFiat: '64',
      feeFiat: '0.32',
      netFiat: '63.68',
      exceptions: 'overpaid paidLate',
      txIds: 'aa bb',
      sweepTxId: 'cc',
      confirmedAt: '2026-01-02T03:04:05.678Z',
      settledAt: '2026-01-02T04:04:05.000Z',
    });
    expect(rows[0]).toMatchObject({
      status: 'AWAITING_CURRENCY',
      amount: '',
      netFiat: '',
      depositAddress: '',
      settledAt: '',
      receivedFiat: '0',
    });
    const { body } = await h.call('GET', `/api/v1/payments/${ids[0]}`, { key: shop.key });
    expect(rows[2]).toMatchObject({
      depositAddress: body.publicKey,
      createdAt: body.createdAt,
      invoiceId: body.shortSlug,
    });
    for (const name of ['netFiat', 'feeFiat', 'grossFiat', 'amount', 'netAmount', 'feeAmount'])
      expect(Number(rows[2]![name])).toBe(body[name]);
  });

  it('has no cell that a spreadsheet takes for a formula', async () => {
    const rows = rowsOf((await file(shop)).text);
    expect(rows[2]).toMatchObject({ merchantOrderId: "'=1+1", customerId: "'+49", extraId: "'@me", orderId: "'\t-5" });
    expect(rows[1]).toMatchObject({ merchantOrderId: 'a "b", c', customerId: "'-7", orderId: 'two\r\nlines' });
    expect(rows[0]).toMatchObject({ merchantOrderId: 'ümlaut €' });
  });

  it('takes the filters of the list, not its pages', async () => {
    const found = async (query: string) => rowsOf((await file(shop, query)).text).map((row) => row['paymentId']);
    expect(await found('&status=SETTLED')).toEqual([ids[1]]);
    expect(await found('&currency=usdt_erc20')).toEqual([ids[0]]);
    expect(await found(`&search=${ids[0]}`)).toEqual([ids[0]]);
    expect(await found('&dateTo=2020-01-01')).toEqual([]);
    expect(await found('&page=2&limit=1')).toHaveLength(3);
    expect(rowsOf((await file(await h.shop())).text)).toEqual([]);
  });

  it('is JSON as well, with the rows of the list', async () => {
    const answer = await h.call('GET', '/api/v1/payments.json', { key: shop.key });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="payments-[\d-]{10}\.json"$/);
    const list = await h.call('GET', '/api/v1/payments', { key: shop.key });
    expect(answer.body).toEqual({ items: list.body.items });
    const found = async (query: string) =>
      (await h.call('GET', `/api/v1/payments.json?${query}`, { key: shop.key })).body.items.map(
        (item: { _id: string }) => item._id,
      );
    expect(await found('status=SETTLED')).toEqual([ids[1]]);
    expect(await found('dateTo=2020-01-01')).toEqual([]);
    await noCursors();
  });

  it('finds prices, in the list, its counts and its files', async () => {
    const found = async (query: string): Promise<unknown> => {
      const { body } = await h.call('GET', `/api/v1/payments?${query}`, { key: shop.key });
      const counts = await h.call('GET', `/api/v1/payments/status-counts?${query}`, { key: shop.key });
      expect([body.total, counts.body.total]).toEqual([body.items.length, body.items.length]);
      const lines = rowsOf((await file(shop, query)).text).map((row) => row['paymentId']);
      expect(lines).toEqual(body.items.map(({ _id }: { _id: string }) => _id));
      return lines;
    };
    expect(await found('amountFrom=25&amountTo=25')).toEqual([ids[0]]);
    expect(await found('amountFrom=25.01')).toEqual([ids[1]]);
    expect(await found('amountTo=24.99')).toEqual([ids[2]]);
    for (const amount of ['-1', '1e3', ' ', '1,5', '0x1'])
      expect((await file(shop, `amountFrom=${encodeURIComponent(amount)}`)).status).toBe(400);
  });

  it('is refused like the list', async () => {
    const reader = await h.shop({}, [], ['wallets:read']);
    expect((await file(reader)).status).toBe(403);
    for (const query of ['&status=NOPE', '&dateFrom=x']) expect((await file(shop, query)).status).toBe(400);
    expect((await h.call('GET', '/api/v1/payments?format=xml', { key: shop.key })).status).toBe(400);
    const head = await h.call('HEAD', '/api/v1/payments.csv', { key: shop.key });
    expect([head.status, head.headers.get('content-type'), head.text]).toEqual([200, 'text/csv; charset=utf-8', '']);
    await noCursors();
  });
});

type Plan = { [field: string]: unknown; 'Node Type': string; Plans?: Plan[] };
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
/** The database, that also tells how it would do (`analyse`: does) what it is asked. */
const watched = (plans: Plan[], analyse = false): Queryable => ({
  async query(sql: string, values?: unknown[]) {
    const how = `EXPLAIN (FORMAT JSON${analyse ? ', ANALYZE, BUFFERS' : ''}) ${sql}`;
    const [row] = (await h.db.query(how, values)) as Array<{ 'QUERY PLAN': Array<{ Plan: Plan }> }>;
    plans.push(row!['QUERY PLAN'][0]!.Plan);
    return h.db.query(sql, values);
  },
});

describe('many payments', () => {
  const shops: Shop[] = [];
  const each = 5000;
  beforeAll(async () => {
    for (let n = 0; n < 20; n++) shops.push(await h.shop());
    const merchants = shops.map(({ id }, series) => ({ id, series }));
    await manyPayments(h.databaseUrl, merchants, each);
  });

  const window = { dateFrom: new Date(Date.now() - 2_000_000), dateTo: new Date() };
  const hot: Array<[string, PaymentFilter, number | null, string | null]> = [
    ['the newest', {}, each, 'payment_newest'],
    ['of a status', { status: 'WAITING' }, each / 10, 'payment_status'],
    ['of a currency in a window', { currency: 'BTC', ...window }, null, null],
    ['of a currency', { currency: 'BTC' }, each / 2, 'payment_currency'],
    ['in a window', window, null, null],
    ['of an order', { orderId: 'o77' }, 1, 'payment_order'],
    ['of a merchant order', { merchantOrderId: 'm77' }, 1, 'payment_merchant_order'],
    ['of a price', { amountFrom: '63.5', amountTo: '64.5' }, null, 'payment_price'],
    ['found by id', { search: idOfMany(7, 77) }, 1, null],
    ['found by invoice', { search: slugOfMany(7, 77) }, 1, null],
    ['found by address', { search: 'address7/77' }, 1, null],
    ['found by transaction', { search: 'tx7/100' }, 1, null],
    ['of another merchant', { search: 'address8/77' }, 0, null],
  ];
  it.each(hot)('%s: from an index', async (_, filter, total, index) => {
    const plans: Plan[] = [];
    const list = await listPayments(watched(plans), shops[7]!.id, filter, { page: 1, limit: 50 });
    if (total !== null) expect(list.total).toBe(total);
    expect(list.items).toHaveLength(Math.min(list.total, 50));
    await countByStatus(watched(plans), shops[7]!.id, filter);
    expect(plans).toHaveLength(3);
    const scans = plans.flatMap(nodesOf).filter((node) => node['Relation Name'] !== undefined);
    // Tables of a few rows may be read whole.
    const small = ['chain_cursor', 'instance', 'payment_day'];
    const isSmall = (node: Plan): boolean => small.includes(node['Relation Name'] as string);
    expect(scans.filter((node) => node['Node Type'] === 'Seq Scan' && !isSmall(node))).toEqual([]);
    const names = plans.flatMap(nodesOf).map((node) => node['Index Name']);
    if (index) expect(names).toContain(index);
  });

  describe('of one merchant', () => {
    let big: Shop;
    beforeAll(async () => {
      big = await h.shop();
      await manyPayments(h.databaseUrl, [{ id: big.id, series: 100 }], many, { bare: true });
    }, 600_000);

    it('are paged to the end without looking at what is skipped', async () => {
      const page = Math.floor(many / 100);
      const plans: Plan[] = [];
      const list = await listPayments(watched(plans, true), big.id, {}, { page, limit: 50 });
      expect(list.total).toBe(many);
      const from = (page - 1) * 50 + 1;
      expect(list.items.map(({ row }) => row.id)).toEqual(
        Array.from({ length: 50 }, (_, n) => idOfMany(100, from + n)),
      );
      const scans = plans.flatMap(nodesOf).filter((node) => node['Relation Name'] === 'payment');
      const long = scans.filter((node) => (node['Actual Rows'] as number) > 50);
      expect(long.map((node) => [node['Node Type'], node['Heap Fetches']])).toEqual([['Index Only Scan', 0]]);
      const sorts = plans.flatMap(nodesOf).filter((node) => node['Node Type'] === 'Sort');
      for (const sort of sorts) expect(sort['Actual Rows']).toBeLessThanOrEqual(50);
    });

    it('fill a file while the heap stays as it is', async () => {
      setFlagsFromString('--expose-gc');
      const gc = runInNewContext('gc') as () => void;
      const held = (): number => (gc(), process.memoryUsage().heapUsed);
      const before = held();
      let most = 0;
      let lines = 0;
      let looks = 0;
      for await (const chunk of await opened(big)) {
        for (let at = -1; (at = (chunk as Buffer).indexOf(10, at + 1)) >= 0;) lines++;
        if (lines > (looks * many) / 10) {
          looks++;
          most = Math.max(most, held() - before);
        }
      }
      expect(lines).toBe(many + 1);
      expect(looks).toBeGreaterThan(9);
      expect(most).toBeLessThan(100_000_000);
      expect(held() - before).toBeLessThan(50_000_000);
    }, 600_000);

    it('are read no further when the caller hangs up', async () => {
      const response = await opened(big);
      await once(response, 'readable');
      expect(await openCursors()).toBe(1);
      response.destroy();
      await noCursors();
      const early = httpGet(`${h.url}/api/v1/payments.csv`, { headers: { Authorization: `Bearer ${big.key}` } });
      early.on('error', () => undefined);
      await sleep(20);
      early.destroy();
      await noCursors();
      expect(rowsOf((await file(big, `&search=${idOfMany(100, 5)}`)).text)).toHaveLength(1);
    });

    it('come in two files at a time, and leave connections to others', async () => {
      const first = await opened(big);
      const second = await opened(big);
      const third = await file(big);
      expect([third.status, third.headers.get('retry-after')]).toEqual([429, '10']);
      // Both files have stopped where nobody reads them: what is left of the pool is for others.
      await sleep(2000);
      expect((await h.call('GET', '/api/v1/payments', { key: big.key })).status).toBe(200);
      for (const response of [first, second]) response.destroy();
      await noCursors();
      expect((await file(shops[0]!)).status).toBe(200);
    });

    it('break the connection off where the database goes: no file that looks whole', async () => {
      const response = await opened(big);
      await once(response, 'readable');
      await h.db.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
           AND query LIKE 'FETCH%' AND state <> 'idle'`,
      );
      await expect(
        (async () => {
          for await (const _ of response);
        })(),
      ).rejects.toMatchObject({ code: 'ECONNRESET' });
      await noCursors();
      expect((await file(shops[0]!)).status).toBe(200);
    });
  });
});

describe('many requests', () => {
  let shop: Shop;
  const each = 20_000;
  beforeAll(async () => {
    shop = await h.shop();
    const ids = [shop.id, ...(await Promise.all(Array.from({ length: 4 }, () => h.shop()))).map(({ id }) => id)];
    await h.db.query(
      `INSERT INTO api_request (merchant_id, id, method, route, path, status, error_code, request_id, api_key_id,
              duration_ms, ip, has_idempotency_key, created_at)
       SELECT m, lpad(to_hex(n), 24, '0'), 'GET', '/api/v1/payments', '/api/v1/payments',
              CASE WHEN n % 500 = 0 THEN 404 ELSE 200 END, NULL, 'request-' || n, NULL, 5, '127.0.0.1', false,
              now() - make_interval(mins => $2 - n)
         FROM unnest($1::text[]) m, generate_series(1, $2) n`,
      [ids, each],
    );
    await h.db.query('ANALYZE api_request');
    await h.db.query('VACUUM api_request');
  });

  it.each([
    ['the newest', {}, 51, 'api_request_pkey'],
    ['refused ones', { isRefused: true }, 40, 'api_request_refused'],
    ['one by its request id', { requestId: 'request-77' }, 1, 'api_request_named'],
    ['those behind a cursor', { cursor: '1'.padStart(24, '0') }, 0, 'api_request_pkey'],
  ] as const)('%s: no more of them is read than is shown', async (_, filter, count, index) => {
    const plans: Plan[] = [];
    expect(await requestsOf(watched(plans, true), shop.id, { ...filter, limit: 51 })).toHaveLength(count);
    const scans = plans.flatMap(nodesOf).filter((node) => node['Index Name'] ?? node['Relation Name']);
    expect(new Set(scans.map((node) => node['Index Name'] ?? index))).toEqual(new Set([index]));
    for (const scan of scans) {
      expect(scan['Node Type']).not.toBe('Seq Scan');
      expect((scan['Actual Rows'] as number) + ((scan['Rows Removed by Filter'] as number) || 0)).toBeLessThan(52);
    }
  });

  it('are forgotten by their age, without a look at the others', async () => {
    const plans: Plan[] = [];
    await h.db.query(
      `UPDATE api_request SET created_at = now() - interval '31 days' WHERE merchant_id = $1 AND status = 404`,
      [shop.id],
    );
    await forgetOldRequests(watched(plans));
    const nodes = plans.flatMap(nodesOf);
    const whole = nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name']);
    expect(whole).not.toContain('api_request');
    expect(nodes.map((node) => node['Index Name'])).toContain('api_request_age');
    expect(await requestsOf(h.db, shop.id, { isRefused: true, limit: 51 })).toEqual([]);
  });
});
