import { usedOf } from '../../db/limits/outbound';
import { newId } from '../../domain/ids';
import { delayCauses, waitMessages } from '../../domain/txmanager/waits';
import { manyPayments } from '../many-payments';
import { buffersRead } from '../db/plans';
import { unguarded } from '../unguarded';
import { startHarness, type Harness, type Shop } from './harness';
import { Person } from './person';

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

describe('Payments: the counts of the status tabs', () => {
  const counts = (shop: Shop, query = '') => get(shop, `/api/v1/payments/status-counts${query}`);
  const recount = async (shop: Shop, condition = 'true'): Promise<Record<string, number>> => {
    const rows = await h.db.query<Array<{ status: string; n: number }>>(
      `SELECT status, count(*)::int AS n FROM payment WHERE merchant_id = $1 AND ${condition} GROUP BY status`,
      [shop.id],
    );
    return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
  };
  const sum = (values: Readonly<Record<string, number>>): number =>
    Object.values(values).reduce((total, value) => total + value, 0);

  let many: Shop;
  beforeAll(async () => {
    many = await h.shop();
    await manyPayments(h.databaseUrl, [{ id: many.id, series: 84 }], 200, { bare: true, secondsApart: 3600 });
    // Days that a test may name, the last moment of one and the first of the next among them.
    await unguarded(h.db, async (tx) => {
      await tx.query(
        `UPDATE payment SET created_at = '2020-01-01T00:00Z'::timestamptz + (now() - created_at)
          WHERE merchant_id = $1`,
        [many.id],
      );
      await tx.query(
        `UPDATE payment SET created_at = date_trunc('day', created_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
                - CASE WHEN currency = 'BTC' THEN interval '1 millisecond' ELSE interval '0' END
          WHERE merchant_id = $1 AND extract(hour FROM created_at AT TIME ZONE 'UTC') < 3`,
        [many.id],
      );
    });
  });

  it.each([
    ['all', '', 'true'],
    ['from a day on', '?dateFrom=2020-01-03', `created_at >= '2020-01-03T00:00Z'`],
    ['to a day', '?dateTo=2020-01-05', `created_at < '2020-01-05T00:00Z'`],
    ['of one day', '?dateFrom=2020-01-03&dateTo=2020-01-04', `(created_at AT TIME ZONE 'UTC')::date = '2020-01-03'`],
    ['from within a day', '?dateFrom=2020-01-03T05:00:00Z', `created_at >= '2020-01-03T05:00Z'`],
    ['to a millisecond', '?dateTo=2020-01-04T00:00:00.001Z', `created_at < '2020-01-04T00:00:00.001Z'`],
    ['of a currency', '?currency=BTC', `currency = 'BTC'`],
    ['of an order that has no name', '?orderId=', `order_id = ''`],
  ])('are exact: %s', async (_, query, condition) => {
    const expected = await recount(many, condition);
    const { body } = await counts(many, query);
    expect(Object.fromEntries(Object.entries(body.byStatus).filter(([, count]) => count !== 0))).toEqual(expected);
    expect(body.total).toBe(sum(expected));
    const listed = await get(many, `/api/v1/payments${query}`);
    expect(listed.body.total).toBe(sum(expected));
    const settled = await get(many, `/api/v1/payments${query}${query ? '&' : '?'}status=SETTLED`);
    expect(settled.body.total).toBe(expected['SETTLED'] ?? 0);
  });

  it('follow a payment from its creation to its end', async () => {
    const shop = await h.shop();
    const id = await create(shop, { amount: 10, currency: 'BTC' });
    expect((await counts(shop)).body).toMatchObject({ total: 1, byStatus: { WAITING: 1, CANCELLED: 0 } });
    const cancelled = await h.call('POST', `/api/v1/payments/${id}/cancel`, { key: shop.key, body: {} });
    expect(cancelled.status).toBe(200);
    expect((await counts(shop)).body).toMatchObject({ total: 1, byStatus: { WAITING: 0, CANCELLED: 1 } });
  });
});

/** All that the first page reads, as a key may read it too. */
const home = [
  '/api/v1/payments/summary?days=30',
  '/api/v1/payments/summary?days=7',
  '/api/v1/ledger/balances',
  '/api/v1/refunds?status=awaiting_approval&limit=5',
  '/api/v1/withdrawals?status=awaiting_approval&limit=1',
  '/api/v1/mass-payouts?status=awaiting_approval&limit=1',
  '/api/v1/payments/status-counts?exception=amlFlagged&dateFrom=2020-01-01',
  '/api/v1/withdrawals?held=1&limit=1',
  '/api/v1/mass-payouts?held=1&limit=1',
  '/api/v1/refunds?held=1&limit=1',
  '/api/v1/webhook-endpoints?limit=100',
  '/api/v1/webhook-deliveries?status=retrying&limit=25',
];

/** What the list of payments reads. */
const list = [
  '/api/v1/payments/status-counts',
  '/api/v1/payments/status-counts?dateFrom=2020-01-01',
  '/api/v1/payments?limit=25',
  '/api/v1/payments?limit=25&status=SETTLED',
  '/api/v1/payments?limit=25&dateFrom=2020-01-01',
];

describe('the cost of a page is the same for a hundred times as many payments', () => {
  const shops: Shop[] = [];
  beforeAll(async () => {
    const days = 60 * 86_400;
    for (const [index, count] of [1000, 100_000].entries()) {
      shops.push(await h.shop());
      await manyPayments(h.databaseUrl, [{ id: shops[index]!.id, series: 80 + index }], count, {
        bare: true,
        secondsApart: days / count,
      });
    }
    await h.db.query('ANALYZE');
  }, 300_000);

  it.each([
    ['Home', home],
    ['Payments: the list and its status tabs', list],
  ])('%s', async (_, page) => {
    const read: number[] = [];
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

describe('Home: money that is held', () => {
  const causes = ['limit', 'paused', 'held', 'checked', 'funds', 'network', null];

  /** Rows of three kinds, as they stand while their transactions wait for each of the causes. */
  async function sending(shop: Shop): Promise<void> {
    const payment = await create(shop, { amount: 10, currency: 'BTC' });
    await unguarded(h.db, async (tx) => {
      for (const cause of causes) {
        const [withdrawal, batch, refund] = [newId(), newId(), newId()];
        await tx.query(
          `INSERT INTO withdrawal (id, merchant_id, idempotency_key, body_hash, status, currency, network, fee_mode,
             amount, network_fee, gross_amount, net_amount, address, requested_by, requested_by_name, needs_approval,
             approved_at)
           VALUES ($1, $2, gen_random_uuid(), 'hash', 'pending', 'BTC', 'bitcoin', 'deduct', 1, 0.1, 1, 0.9, 'to', $1,
             'ann', false, now())`,
          [withdrawal, shop.id],
        );
        await tx.query(
          `INSERT INTO payout_batch (id, merchant_id, status, rows_hash, row_count, totals, fees, created_by,
             created_by_id) VALUES ($1, $2, 'processing', 'hash', 1, '{"BTC":"1"}', '{}', 'ann', $1)`,
          [batch, shop.id],
        );
        await tx.query(
          `INSERT INTO payout_leg (id, batch_id, merchant_id, row_index, currency, network, address, amount,
             network_fee, net_amount) VALUES ($1, $1, $2, 0, 'BTC', 'bitcoin', 'to', 1, 0, 1)`,
          [batch, shop.id],
        );
        await tx.query(
          `INSERT INTO refund (id, merchant_id, payment_id, body_hash, type, status, currency, network, source, amount,
             network_fee, net_amount, gross_amount, fee_bearer, fiat_amount, fiat_currency, address, approved_at)
           VALUES ($1, $2, $3, 'hash', 'partial', 'pending', 'BTC', 'bitcoin', 'balance', 1, 0.1, 0.9, 1, 'payer', 1,
             'USD', 'to', now())`,
          [refund, shop.id, payment],
        );
        for (const [kind, owner] of [
          ['withdrawal', withdrawal],
          ['payout-batch', batch],
          ['refund', refund],
        ])
          await tx.query(
            `INSERT INTO intent (kind, ref, network, currency, from_address, outputs, max_unit_price, fee_budget,
               merchant_id, owner_kind, owner_id, waits_for)
             VALUES ($1, $2, 'bitcoin', 'BTC', 'from', '[]', 1, 1, $3, $1, $2, $4)`,
            [kind, owner, shop.id, cause],
          );
      }
    });
  }

  it.each(['/api/v1/withdrawals', '/api/v1/mass-payouts', '/api/v1/refunds'])(
    'is a list of its own: %s',
    async (path) => {
      const [shop, other] = [await h.shop(), await h.shop()];
      await sending(shop);
      const held = await get(shop, `${path}?held=1`);
      expect([held.status, held.body.data.total]).toEqual([200, 4]);
      expect(held.body.data.items).toHaveLength(4);
      if (path !== '/api/v1/mass-payouts')
        expect(new Set(held.body.data.items.map((one: Record<string, string>) => one['merchantMessage']))).toEqual(
          new Set(delayCauses.map((cause) => waitMessages[cause])),
        );
      expect((await get(shop, `${path}?held=`)).body.data.total).toBe(7);
      expect((await get(shop, `${path}?held=1&dateTo=2020-01-01`)).body.data.total).toBe(0);
      expect((await get(other, `${path}?held=1`)).body.data.total).toBe(0);
      expect((await get(shop, `${path}?held=yes`)).body.error.code).toBe('VALIDATION_ERROR');
    },
  );

  it('is so no more once it is signed', async () => {
    const shop = await h.shop();
    await sending(shop);
    await unguarded(h.db, (tx) => tx.query(`UPDATE intent SET status = 'stored' WHERE merchant_id = $1`, [shop.id]));
    for (const path of ['withdrawals', 'mass-payouts', 'refunds'])
      expect((await get(shop, `/api/v1/${path}?held=true`)).body.data.total).toBe(0);
  });
});

describe('Home: all outgoing money of an account', () => {
  it('says since when it is held, to its own merchant and not why', async () => {
    const [ann, ben] = [await Person.admin(h), await Person.admin(h)];
    const limits = (who: Person) => who.get('/api/v1/settings/egress-limits');
    expect((await limits(ann)).body.data.outgoingHeldSince).toBeNull();
    const [row] = await h.db.query<Array<{ held_at: Date }>>(
      `WITH held AS (UPDATE merchant SET held_because = 'a secret', held_at = now() WHERE id = $1 RETURNING held_at)
       SELECT held_at FROM held`,
      [(await ann.get('/api/v1/auth/me')).body.merchantId],
    );
    const told = await limits(ann);
    expect([told.status, told.body.data.outgoingHeldSince]).toEqual([200, row!.held_at.toISOString()]);
    expect(JSON.stringify(told.body)).not.toContain('secret');
    expect((await limits(ben)).body.data.outgoingHeldSince).toBeNull();
  });
});
