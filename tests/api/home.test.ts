import { usedOf } from '../../db/limits/egress';
import { newId } from '../../domain/ids';
import { manyPayments } from '../many-payments';
import { buffersRead } from '../db/plans';
import { unguarded } from '../unguarded';
import { startHarness, type Harness, type Shop } from './harness';

/** What the first page of the dashboard asks. */

let h: Harness;
beforeAll(async () => {
  h = await startHarness({}, { mayExplain: true });
});
afterAll(() => h?.stop());

const get = (shop: Shop, path: string) => h.call('GET', path, { key: shop.key });
const create = async (shop: Shop, body: unknown): Promise<string> => {
  const answer = await h.call('POST', '/api/v1/payments', { key: shop.key, body });
  expect(answer.status).toBe(201);
  return answer.body.paymentId;
};

describe('Home: payments of the last days', () => {
  it('are counted with the days before, and each merchant sees its own alone', async () => {
    const [shop, other] = [await h.shop(), await h.shop()];
    const old = await create(shop, { amount: 10, currency: 'BTC' });
    const now = await create(shop, { amount: 25.5, currency: 'USDT_ERC20' });
    await create(shop, { amount: 7 });
    await create(other, { amount: 1000, currency: 'BTC' });
    await h.db.query(`UPDATE payment SET created_at = created_at - interval '1 day' WHERE id = $1`, [old]);
    await unguarded(h.db, (tx) =>
      tx.query(
        `UPDATE payment SET status = 'SETTLED', amount_paid = amount, value_paid = fiat_amount,
                exceptions = '{paidLate}'
          WHERE id = $1`,
        [now],
      ),
    );
    const { status, body } = await get(shop, '/api/v1/payments/summary?days=1');
    expect(status).toBe(200);
    expect(body.current).toMatchObject({
      created: 2,
      paid: 1,
      settled: 1,
      paidLate: 1,
      volumes: [{ fiatCurrency: 'USD', created: '32.5', paid: '25.5', settled: '25.5' }],
    });
    expect(body.previous).toMatchObject({ created: 1, paid: 0, volumes: [{ created: '10', settled: '0' }] });
    const { dateFrom, dateTo } = body.current;
    const listed = await get(shop, `/api/v1/payments?dateFrom=${dateFrom}&dateTo=${dateTo}`);
    expect(listed.body.total).toBe(2);
    expect((await get(shop, `/api/v1/payments?exception=paidLate`)).body).toMatchObject({
      total: 1,
      items: [{ _id: now }],
    });
    expect((await get(shop, `/api/v1/payments/status-counts?exception=underpaid`)).body.total).toBe(0);
    expect((await get(other, '/api/v1/payments/summary?days=30')).body.current).toMatchObject({
      created: 1,
      settled: 0,
    });
  });

  it.each(['days=0', 'days=91', 'days=x', 'days=1.5'])('refuse %s', async (query) => {
    const { status, body } = await get(await h.shop(), `/api/v1/payments/summary?${query}`);
    expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('refuse a key without the scope, and an exception that is none', async () => {
    const keys = await h.shop({}, [], ['wallets:read']);
    expect((await get(keys, '/api/v1/payments/summary')).status).toBe(403);
    expect((await get(await h.shop(), '/api/v1/payments?exception=late')).body.error.code).toBe('VALIDATION_ERROR');
  });
});

/** All that the page reads, as a key may read it too. */
const page = [
  '/api/v1/payments/summary?days=30',
  '/api/v1/payments/summary?days=7',
  '/api/v1/ledger/balances',
  '/api/v1/refunds?status=awaiting_approval&limit=5',
  '/api/v1/withdrawals?status=awaiting_approval&limit=1',
  '/api/v1/mass-payouts?status=awaiting_approval&limit=1',
  '/api/v1/webhook-endpoints?limit=100',
  '/api/v1/webhook-deliveries?status=retrying&limit=25',
];

describe('Home: the cost of the page', () => {
  it('is the same for a hundred times as many payments', async () => {
    const shops = [await h.shop(), await h.shop()] as const;
    const days = 60 * 86_400;
    const read: number[] = [];
    for (const [index, shop] of shops.entries()) {
      const count = [1000, 100_000][index]!;
      await manyPayments(h.databaseUrl, [{ id: shop.id, series: 80 + index }], count, {
        bare: true,
        secondsApart: days / count,
      });
      await h.db.query('ANALYZE');
    }
    for (const shop of shops) {
      const ask = async (): Promise<void> => {
        for (const path of page) expect([path, (await get(shop, path)).status]).toEqual([path, 200]);
      };
      await ask(); // what connections read of the catalogue once is no part of it
      read.push(await buffersRead(ask));
    }
    const [few, many] = read as [number, number];
    expect(few).toBeGreaterThan(page.length);
    expect(many).toBeLessThanOrEqual(1.5 * few);
  });
});

it('Home: tells how much of a limit is used', async () => {
  const shop = await h.shop();
  const used = (): Promise<unknown> => usedOf(h.api.deps.db, shop.id);
  expect(await used()).toEqual({ dailyUsd: '0', hourlyCount: 0 });
  await h.db.query(
    `INSERT INTO egress_admission (kind, ref, merchant_id, usd, admitted_at, released_at) VALUES
      ('withdrawal', $2, $1, 80.5, now() - interval '2 hours', NULL), ('withdrawal', $3, $1, 4, now(), NULL),
      ('withdrawal', $4, $1, 5, now(), now()), ('withdrawal', $5, $1, 7, now() - interval '25 hours', NULL)`,
    [shop.id, newId(), newId(), newId(), newId()],
  );
  expect(await used()).toEqual({ dailyUsd: '84.5', hourlyCount: 2 });
});
