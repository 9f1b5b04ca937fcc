import { post, reverse } from '../../db/ledger';
import { available, reserved, settleJournal, unsettled, type Journal } from '../../domain/ledger';
import { add } from '../../domain/money';
import { newId } from '../../domain/ids';
import { startHarness, type Harness, type Shop } from './harness';
import { Person } from './person';

/** gaps: 7. */

let h: Harness;
let shop: Shop;
const path = '/api/v1/ledger/history';
const payment = newId();
const withdrawal = newId();
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
  shop = await h.shop();
  const put = (journal: Journal) => h.db.transaction((tx) => post(tx, journal));
  const id = shop.id;
  const move = (debit: never, credit: never, amount: string, asset = 'BTC') => ({ debit, credit, asset, amount });
  const of = (key: string, from: string, to: string, amount: string, details = {}, asset = 'BTC') =>
    put({ key, postings: [move(from as never, to as never, amount, asset)], details });
  await of('seed/1', 'Q:capital', unsettled(id), '2');
  await put(
    settleJournal({
      ...{ paymentId: payment, merchantId: id, currency: 'BTC', net: '1.5', commission: '0.3', network: '0.2' },
      ...{ fiatCurrency: 'EUR', fiatRate: '50000.5', txId: 'ab'.repeat(32) },
    }),
  );
  await of(`hold/withdrawal/${withdrawal}`, available(id), reserved(id), '0.5');
  await of(`hold/withdrawal/${withdrawal}/end`, reserved(id), 'A:treasury', '0.5', { txId: 'cd'.repeat(32) });
  await of('fix/1', 'Q:capital', available(id), '0.000000000000000001', {}, 'ETH');
  await h.db.transaction((tx) => reverse(tx, 'fix/1'));
  const other = await h.shop();
  await of('seed/2', 'Q:capital', available(other.id), '7');
});
afterAll(() => h?.stop());

type Item = Record<string, string | null> & { seq: number };
const read = async (query = ''): Promise<Item[]> =>
  (await h.call('GET', `${path}${query}`, { key: shop.key })).body.items as Item[];

it('tells every change, newest first, in the shape that is promised', async () => {
  const items = await read();
  expect(items.map(({ type, currency, amount }) => [type, currency, amount])).toEqual([
    ['reversal', 'ETH', '-0.000000000000000001'],
    ['adjustment', 'ETH', '0.000000000000000001'],
    ['withdrawal', 'BTC', '0'],
    ['reserve', 'BTC', '-0.5'],
    ['payment_credit', 'BTC', '1.5'],
  ]);
  expect(items[4]).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{24}$/) as string,
    seq: expect.any(Number) as number,
    currency: 'BTC',
    type: 'payment_credit',
    amount: '1.5',
    balanceAfter: '1.5',
    reservedAfter: '0',
    fiatAmount: '75000.75',
    fiatCurrency: 'EUR',
    fiatRate: '50000.5',
    sourceType: 'payment',
    sourceId: payment,
    txId: 'ab'.repeat(32),
    reversalOf: null,
    description: 'Payment credited, net of fees',
    createdAt: expect.any(String) as string,
  });
  expect(items[3]).toMatchObject({
    fiatAmount: '-32000',
    fiatCurrency: 'USD',
    fiatRate: '64000',
    reservedAfter: '0.5',
  });
  expect(items[2]).toMatchObject({ description: 'Withdrawal final: 0.5 BTC left the reserve', reservedAfter: '0' });
  expect(items[0]!.reversalOf).toBe(items[1]!.id);
});

it('adds up to the balance at every seq', async () => {
  const sums = new Map<string, string>();
  for (const { currency, amount, balanceAfter } of (await read()).reverse()) {
    sums.set(currency!, add(sums.get(currency!) ?? '0', amount!));
    expect(balanceAfter).toBe(sums.get(currency!));
  }
  const { balances } = (await h.call('GET', '/api/v1/ledger/balances', { key: shop.key })).body as {
    balances: Array<{ currency: string; balance: string }>;
  };
  for (const { currency, balance } of balances)
    expect([currency, balance]).toEqual([currency, sums.get(currency) ?? '0']);
});

it('filters', async () => {
  expect(await read('?currency=btc')).toHaveLength(3);
  expect(await read('?currency=DOGE')).toEqual([]);
  expect((await read('?type=reserve')).map((item) => item['sourceId'])).toEqual([withdrawal]);
  expect(await read(`?sourceType=withdrawal&sourceId=${withdrawal}`)).toHaveLength(2);
  expect(await read(`?sourceId=${newId()}`)).toEqual([]);
  expect(await read('?dateFrom=2100-01-01')).toEqual([]);
  expect(await read('?dateTo=2000-01-01T00:00:00Z')).toEqual([]);
  expect(await read('?dateFrom=2000-01-01&dateTo=2100-01-01')).toHaveLength(5);
});

it('goes page by page to the end', async () => {
  const whole = await read();
  const pages: Item[] = [];
  let cursor = '';
  for (let n = 0; n < 10; n += 1) {
    const { items, nextCursor } = (await h.call('GET', `${path}?limit=2${cursor}`, { key: shop.key })).body;
    pages.push(...(items as Item[]));
    if (nextCursor === null) break;
    expect(items).toHaveLength(2);
    cursor = `&cursor=${nextCursor as string}`;
  }
  expect(pages).toEqual(whole);
});

it('is a file for spreadsheets as well', async () => {
  const items = await read();
  const answer = await h.call('GET', `${path}?format=csv`, { key: shop.key });
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const lines = answer.text.split('\n');
  expect(lines[0]).toBe(
    'id,seq,currency,type,amount,balanceAfter,reservedAfter,fiatAmount,fiatCurrency,fiatRate,sourceType,sourceId,txId,reversalOf,description,createdAt',
  );
  expect(lines).toHaveLength(items.length + 2);
  expect(lines[1]).toContain(',ETH,reversal,-0.000000000000000001,0,0,');
  expect(lines[5]).toContain('"Payment credited, net of fees"');
  const some = await h.call('GET', `${path}?format=csv&type=reserve`, { key: shop.key });
  expect(some.text.split('\n')).toHaveLength(3);
  await h.db.transaction((tx) =>
    post(tx, {
      key: 'fix/evil',
      postings: [{ debit: 'Q:capital', credit: available(shop.id), asset: 'BTC', amount: '1' }],
      details: { sourceId: '=HYPERLINK("x")' },
    }),
  );
  const evil = await h.call('GET', `${path}?format=csv&type=adjustment`, { key: shop.key });
  expect(evil.text).toContain(`,"'=HYPERLINK(""x"")",`);
});

it('is whole as a file, however long', async () => {
  const long = await h.shop({}, []);
  await h.db.query(
    `SELECT post_journal('long/' || n, jsonb_build_array(jsonb_build_object('debit', 'Q:capital', 'credit', $1::text, 'asset', 'BTC', 'amount', '1')))
       FROM generate_series(1, 1100) n`,
    [available(long.id)],
  );
  const { text } = await h.call('GET', `${path}?format=csv&limit=1`, { key: long.key });
  const balances = text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(',')[5]);
  expect(balances).toEqual(Array.from({ length: 1100 }, (_, n) => String(1100 - n)));
});

it.each([
  'type=gift',
  'sourceType=x',
  'limit=0',
  'limit=101',
  'limit=x',
  'cursor=-1',
  'format=xml',
  'dateFrom=soon',
  'currency=%00',
  'sourceId=%00',
])('refuses ?%s', async (query) => {
  expect(await h.call('GET', `${path}?${query}`, { key: shop.key })).toMatchObject({
    status: 400,
    body: { ok: false, error: { code: 'VALIDATION_ERROR' } },
  });
});

it('serves holders of ledger:read or balances:view, each their own', async () => {
  const blind = await h.shop({}, [], ['payments:read']);
  expect(await h.call('GET', path, { key: blind.key })).toMatchObject({
    status: 403,
    body: { error: 'Insufficient scope', requiredScope: 'ledger:read' },
  });
  expect((await h.call('GET', path)).status).toBe(401);
  const admin = await Person.admin(h);
  expect((await admin.get(path)).body).toEqual({ items: [], nextCursor: null });
  const member = await Person.member(admin, ['payments:view']);
  expect(await member.get(path)).toMatchObject({ status: 403, body: { requiredPermission: 'balances:view' } });
  const books = await Person.member(admin, ['balances:view']);
  expect((await books.get(path)).status).toBe(200);
});
