import { Client } from 'pg';
import { audit } from '../../db/audit/audit';
import { freeSql } from '../../db/conversions/conversions';
import { post } from '../../db/ledger/ledger';
import { mergeHeld } from '../../db/treasury/treasury';
import { startHarness, type Harness, type Shop } from '../api/harness';
import { startMarkets, type Markets } from '../api/markets';
import { readWhole } from './plans';
import { adjustment } from '../../domain/ledger/entry';

/** Quotes and executions cost the same in an old database as in a new one. */

const many = 100_000;
let h: Harness;
let markets: Markets;
let shop: Shop;
beforeAll(async () => {
  h = await startHarness({}, { mayExplain: true });
  markets = await startMarkets(h, { mayExplain: true });
  shop = await h.shop();
  const busy = await h.shop();
  for (const [debit, credit, asset] of [
    ['A:treasury', `L:available:${shop.id}`, 'ETH'],
    ['A:treasury', 'Q:capital', 'USDT_ERC20'],
  ] as const)
    await h.db.transaction((tx) =>
      post(tx, { key: `test/${asset}`, entry: adjustment, postings: [{ debit, credit, asset, amount: '1000000' }] }),
    );
  const client = new Client({ connectionString: h.databaseUrl });
  await client.connect();
  await client.query('SET session_replication_role = replica'); // what is made up here needs no checks
  await client.query(
    `INSERT INTO conversion (id, merchant_id, idempotency_key, body_hash, status, execution_mode, from_currency,
       to_currency, from_amount, to_amount,
       exchange_rate, commission_amount, net_from_amount, is_debited)
     SELECT lpad(to_hex(n), 24, '0'), CASE WHEN n % 10 = 0 THEN $1 ELSE $2 END, 'key' || n, 'x', CASE WHEN n % 20000 = 0
       THEN 'processing' ELSE 'completed' END, 'internal', 'ETH', 'USDT_ERC20', 1, 1, 1,
            0.5, 0.5, true FROM generate_series(1, $3::int) n`,
    [shop.id, busy.id, many],
  );
  // What swap providers have paid out for them.
  await client.query(
    `INSERT INTO address (network, address, role, key_index, conversion_id) SELECT 'ethereum', 'address' || n,
       'treasury', 1000 + n, lpad(to_hex(n), 24, '0')
       FROM generate_series(1, $1::int) n`,
    [many],
  );
  await client.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
       height, first_seen_at, confirmed_at, allocation)
     SELECT network, 'tx' || key_index, 0, address, role, 'USDT_ERC20', 1, 1, false, 'confirmed', 1, now(), now(),
       'capital' FROM address WHERE conversion_id IS NOT NULL`,
  );
  await client.query(
    `INSERT INTO rate (currency, fiat, value, sources, taken_at) SELECT 'ETH', 'USD', 3200, '[]', now()
       FROM generate_series(1, $1::int / 5)`,
    [many],
  );
  await client.query(
    `INSERT INTO journal (key, content_hash) SELECT 'many/' || n, 'x' FROM generate_series(1, $1::int / 2) n`,
    [many],
  );
  await client.query('SET session_replication_role = origin');
  await client.query(
    `INSERT INTO posting (journal_id, debit, credit, asset, amount)
     SELECT j.id, p.debit, p.credit, (ARRAY['USDT_ERC20', 'ETH'])[1 + j.id % 2], 0.01 FROM journal j
      CROSS JOIN LATERAL (VALUES ('A:treasury', 'A:deposit'),
        ('A:deposit', 'L:available:' || lpad(to_hex(j.id % 20000), 24, '0'))) p (debit, credit)
      WHERE j.key LIKE 'many/%'`,
  );
  await client.query(
    `INSERT INTO balance (account, asset, amount) SELECT credit, asset, sum(amount) FROM posting WHERE credit LIKE 'L:%'
       AND credit <> $1 GROUP BY 1, 2`,
    [`L:available:${shop.id}`],
  );
  await client.query('ANALYZE');
  await client.end();
});
afterAll(async () => {
  await markets?.stop();
  await h?.stop();
});

const ask = { fromCurrency: 'ETH', toCurrency: 'USDT_ERC20', fromAmount: '0.01' };
const quote = (): Promise<unknown> =>
  h.call('GET', `/api/v1/conversions/quote?${new URLSearchParams(ask).toString()}`, { key: shop.key });
const execute = (): Promise<unknown> =>
  h.call('POST', '/api/v1/conversions', {
    key: shop.key,
    body: { ...ask, idempotencyKey: Math.random().toString(36) },
  });

it.each<[string, () => Promise<unknown>, number, number]>([
  ['a quote', quote, 200, 2],
  ['an execution', execute, 201, 8],
  ['what can be backed', () => h.call('GET', '/api/v1/conversions/liquidity', { key: shop.key }), 200, 1],
])('%s reads no large table from end to end', async (_what, act, status, least) => {
  const large = await h.db.query<Array<{ name: string }>>(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND reltuples > 1000
       AND relnamespace = 'public'::regnamespace`,
  );
  const names = large.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(['conversion', 'journal', 'posting', 'balance', 'rate', 'address', 'deposit']),
  );
  let answered: unknown;
  const { asked, tables } = await readWhole(async () => (answered = await act()));
  expect(answered).toMatchObject({ status });
  expect(asked).toBeGreaterThanOrEqual(least);
  expect([...tables].filter((table) => names.includes(table))).toEqual([]);
});

it('would show what a function reads from end to end', async () => {
  await h.db.query(
    `CREATE FUNCTION careless() RETURNS bigint LANGUAGE plpgsql
       AS 'BEGIN RETURN (SELECT count(*) FROM conversion WHERE to_amount > 1); END'`,
  );
  expect((await readWhole(() => h.db.query('SELECT careless()'))).tables).toEqual(new Set(['conversion']));
});

it('sums few rows for what the treasury can give, and the same when they are merged', async () => {
  for (let n = 0; n < 60; n += 1) await execute();
  await h.db.query('DELETE FROM rate_limit');
  const free = async (): Promise<number[]> =>
    (await h.db.query<Array<{ free: string }>>(freeSql, [['ETH', 'USDT_ERC20', 'BTC']])).map((row) => Number(row.free));
  const parts = async (): Promise<number> => (await h.db.query('SELECT count(*)::int AS n FROM held_part'))[0].n;
  const before = await free();
  expect(await parts()).toBeGreaterThan(10);
  await h.db.query(`INSERT INTO held_part (asset, treasury, owed) SELECT 'BTC', 0, 0 FROM generate_series(1, 100)`);
  // Some that are not committed are left alone, and counted when they are.
  await h.db.transaction(async (tx) => {
    await post(tx, {
      key: 'late',
      entry: adjustment,
      postings: [{ debit: 'A:treasury', credit: 'Q:capital', asset: 'BTC', amount: '2' }],
    });
    await Promise.all([mergeHeld(h.db), mergeHeld(h.db)]);
    expect(await parts()).toBeLessThanOrEqual(3);
    expect(await free()).toEqual(before);
  });
  expect(await free()).toEqual([before[0], before[1], 2]);
  expect((await audit(h.db, { settleMs: 1 })).filter(({ what }) => what.includes('treasury holds'))).toEqual([]);
  await h.db.query(`UPDATE held_part SET owed = owed + 1 WHERE asset = 'ETH'`);
  expect((await audit(h.db, { settleMs: 1 })).filter(({ what }) => what.includes('treasury holds'))).toHaveLength(1);
});
