import { inflateSync } from 'node:zlib';
import { post, reverse } from '../../db/ledger/ledger';
import {
  available,
  captureJournal,
  holdJournal,
  type Journal,
  settleJournal,
  unsettled,
} from '../../domain/ledger/ledger';
import { adjustment } from '../../domain/ledger/entry';
import { add } from '../../domain/money';
import { newId } from '../../domain/ids';
import { startHarness, type Harness, type Shop } from './harness';
import { Person } from './person';

/** Contract: G7. */

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
  const of = (key: string, from: string, to: string, amount: string, asset = 'BTC') =>
    put({ key, entry: adjustment, postings: [move(from as never, to as never, amount, asset)] });
  await of('seed/1', 'Q:capital', unsettled(id), '2');
  await put(
    settleJournal({
      ...{ paymentId: payment, merchantId: id, currency: 'BTC', net: '1.5', commission: '0.3', network: '0.2' },
      ...{ fiatCurrency: 'EUR', fiatRate: '50000.5', txId: 'ab'.repeat(32) },
    }),
  );
  const held = { id: withdrawal, kind: 'withdrawal', merchantId: id, currency: 'BTC', gross: '0.5' } as const;
  await put(holdJournal(held));
  const paid = { net: '0.5', native: 'BTC', chainFee: '0', gasFrom: 'A:treasury', txId: 'cd'.repeat(32) } as const;
  await put(captureJournal({ ...held, ...paid }));
  await of('fix/1', 'Q:capital', available(id), '0.000000000000000001', 'ETH');
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

it('tells what each balance is worth in the display currency, and from when the rate is', async () => {
  const own = await h.shop();
  const put = (journal: Journal) => h.db.transaction((tx) => post(tx, journal));
  const capital = { debit: 'Q:capital', credit: available(own.id), asset: 'BTC', amount: '1' } as const;
  await put({ key: 'seed/worth', entry: adjustment, postings: [capital] });
  const read = async () =>
    (
      (await h.call('GET', '/api/v1/ledger/balances', { key: own.key })).body as {
        balances: Array<{ currency: string }>;
      }
    ).balances;
  const of = async (currency: string) => (await read()).find((one) => one.currency === currency);
  expect(await of('BTC')).toMatchObject({
    balance: '1',
    reserved: '0',
    fiatCurrency: 'USD',
    fiatRate: '64000',
    fiatAmount: '64000',
    fiatRateAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
  });
  await put(holdJournal({ id: newId(), kind: 'withdrawal', merchantId: own.id, currency: 'BTC', gross: '0.25' }));
  expect(await of('BTC')).toMatchObject({ balance: '0.75', reserved: '0.25', fiatAmount: '64000' });
  await h.db.query(`UPDATE rate_latest SET taken_at = now() - interval '1 day' WHERE currency = 'BTC'`);
  expect(await of('BTC')).toMatchObject({ balance: '0.75', fiatRate: null, fiatRateAt: null, fiatAmount: null });
  await h.db.query('UPDATE rate_latest SET taken_at = now()');
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
    const { items, hasMore, nextCursor } = (await h.call('GET', `${path}?limit=2${cursor}`, { key: shop.key })).body;
    expect(hasMore).toBe(nextCursor !== null);
    pages.push(...(items as Item[]));
    if (nextCursor === null) break;
    expect(items).toHaveLength(2);
    cursor = `&cursor=${nextCursor as string}`;
  }
  expect(pages).toEqual(whole);
});

it('is a file for spreadsheets as well', async () => {
  const items = await read();
  const answer = await h.call('GET', `${path}.csv`, { key: shop.key });
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const lines = answer.text.split('\n');
  expect(lines[0]).toBe(
    'id,seq,currency,type,amount,balanceAfter,reservedAfter,fiatAmount,fiatCurrency,fiatRate,' +
      'sourceType,sourceId,txId,reversalOf,description,createdAt',
  );
  expect(lines).toHaveLength(items.length + 2);
  expect(lines[1]).toContain(',ETH,reversal,-0.000000000000000001,0,0,');
  expect(lines[5]).toContain('"Payment credited, net of fees"');
  const some = await h.call('GET', `${path}.csv?type=reserve`, { key: shop.key });
  expect(some.text.split('\n')).toHaveLength(3);
  await h.db.transaction((tx) =>
    post(tx, {
      key: 'fix/evil',
      postings: [{ debit: 'Q:capital', credit: available(shop.id), asset: 'BTC', amount: '1' }],
      entry: { ...adjustment, sourceId: '=HYPERLINK("x")' },
    }),
  );
  const evil = await h.call('GET', `${path}.csv?type=adjustment`, { key: shop.key });
  expect(evil.text).toContain(`,"'=HYPERLINK(""x"")",`);
});

it('is whole as a file, however long', async () => {
  const long = await h.shop({}, []);
  await h.db.query(
    `SELECT post_journal('long/' || n, '{"type":"adjustment","sourceType":"adjustment"}',
       jsonb_build_array(jsonb_build_object('debit', 'Q:capital', 'credit', $1::text, 'asset', 'BTC', 'amount', '1')))
       FROM generate_series(1, 1100) n`,
    [available(long.id)],
  );
  const { text } = await h.call('GET', `${path}.csv?limit=1`, { key: long.key });
  const balances = text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(',')[5]);
  expect(balances).toEqual(Array.from({ length: 1100 }, (_, n) => String(1100 - n)));
});

describe('is a statement on paper', () => {
  /** The texts of each page of a PDF, in the order they were written. */
  const pagesOf = (file: Buffer): string[][] => {
    const pages: string[][] = [];
    const raw = file.toString('latin1');
    expect([raw.slice(0, 5), raw.trimEnd().slice(-5)]).toEqual(['%PDF-', '%%EOF']);
    const head = '/Filter /FlateDecode\n>>\nstream\n';
    for (const found of raw.matchAll(new RegExp(head, 'g'))) {
      const from = found.index + head.length;
      const content = inflateSync(file.subarray(from, raw.indexOf('\nendstream', from))).toString('latin1');
      const texts = [...content.matchAll(/\[(.*?)\] TJ/g)].map(([, parts]) =>
        [...parts!.matchAll(/<([0-9a-f]+)>/g)].map(([, hex]) => Buffer.from(hex!, 'hex').toString('latin1')).join(''),
      );
      if (texts.length) pages.push(texts);
    }
    return pages;
  };
  const statement = async (of: Shop, query = ''): Promise<string[][]> => {
    const answer = await fetch(`${h.url}${path}.pdf?${query}`, {
      headers: { Authorization: `Bearer ${of.key}` },
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    expect(answer.headers.get('content-disposition')).toMatch(
      /^attachment; filename="statement-\d{4}-\d\d-\d\d\.pdf"$/,
    );
    return pagesOf(Buffer.from(await answer.arrayBuffer()));
  };
  const after = (texts: readonly string[], word: string, count: number): string[] => {
    const at = texts.indexOf(word);
    return texts.slice(at + 1, at + 1 + count);
  };

  it('with what there was, every line, and what there is', async () => {
    const [texts, more] = await statement(shop);
    expect(more).toBeUndefined();
    expect(texts).toContain('Page 1');
    expect(texts!.find((text) => text.startsWith('Statement: '))).toBeDefined();
    expect(texts!.some((text) => text.startsWith('From the beginning to now.'))).toBe(true);
    const btc = texts!.slice(texts!.indexOf('BTC'), texts!.indexOf('ETH'));
    expect(after(btc, 'Opening balance', 2)).toEqual(['0', '0']);
    expect(after(btc, 'Payment credited, net of fees', 5)).toEqual([
      `payment ${payment}`,
      ...['1.5', '1.5', '0', '75000.75 EUR'],
    ]);
    expect(after(btc, 'Reserved for a withdrawal', 4)).toEqual([`withdrawal ${withdrawal}`, '-0.5', '1', '0.5']);
    expect([after(btc, 'Came in', 1), after(btc, 'Went out', 1)]).toEqual([['2.5'], ['-0.5']]);
    expect(after(btc, 'Closing balance', 2)).toEqual(['2', '0']);
    expect(texts).toContain('0.000000000000000001');
  });

  it('of the period, the currency and the kind that are asked for', async () => {
    await h.db.query('ALTER TABLE ledger_entry DISABLE TRIGGER ledger_entry_append_only');
    await h.db.query(`UPDATE ledger_entry SET created_at = '2020-01-01' WHERE merchant_id = $1 AND source_id = $2`, [
      shop.id,
      payment,
    ]);
    await h.db.query('ALTER TABLE ledger_entry ENABLE TRIGGER ledger_entry_append_only');
    const [texts] = await statement(shop, '&currency=btc&dateFrom=2020-02-01&type=reserve');
    expect(texts!.some((text) => text.includes('Only lines of type reserve'))).toBe(true);
    expect(texts).not.toContain('ETH');
    expect(texts).not.toContain('Payment credited, net of fees');
    expect(after(texts!, 'Opening balance', 2)).toEqual(['1.5', '0']);
    expect(after(texts!, 'Closing balance', 2)).toEqual(['2', '0']);
    const [before] = await statement(shop, '&dateTo=2020-02-01');
    expect(after(before!, 'Closing balance', 2)).toEqual(['1.5', '0']);
    expect((await statement(shop, '&dateTo=2001-01-01'))[0]).toContain('Nothing has moved.');
    expect((await statement(await h.shop({ name: 'Käse & Магазин' })))[0]).toContain('Statement: Käse & ???????');
  });

  it('over many pages, up to ten thousand lines', async () => {
    const long = await h.shop({}, []);
    const put = (from: number, to: number) =>
      h.db.query(
        `INSERT INTO ledger_entry (journal_id, merchant_id, asset, type, amount, reserved_change, balance_after,
           reserved_after, source_type)
         SELECT 1000000 + n, $1, 'BTC', 'adjustment', 1, 0, n, 0, 'adjustment'
           FROM generate_series($2::int, $3::int) n`,
        [long.id, from, to],
      );
    await put(1, 10_000);
    const pages = await statement(long);
    expect(pages.map((texts) => texts.find((text) => text.startsWith('Page ')))).toEqual(
      pages.map((_, index) => `Page ${index + 1}`),
    );
    expect(pages.flat().filter((text) => text === 'Adjustment')).toHaveLength(10_000);
    expect(after(pages.at(-1)!, 'Closing balance', 2)).toEqual(['10000', '0']);
    await put(10_001, 10_001);
    expect(await h.call('GET', `${path}.pdf`, { key: long.key })).toMatchObject({
      status: 400,
      body: { ok: false, error: { code: 'STATEMENT_TOO_LONG' } },
    });
  });

  it('for those who may read the account statement', async () => {
    const blind = await h.shop({}, [], ['payments:read']);
    expect((await h.call('GET', `${path}.pdf`, { key: blind.key })).status).toBe(403);
    expect((await h.call('GET', `${path}.pdf`)).status).toBe(401);
  });
});

it.each([
  'type=gift',
  'sourceType=x',
  'limit=0',
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
  expect((await admin.get(path)).body).toEqual({ items: [], hasMore: false, nextCursor: null });
  const member = await Person.member(admin, ['payments:view']);
  expect(await member.get(path)).toMatchObject({ status: 403, body: { requiredPermission: 'balances:view' } });
  const books = await Person.member(admin, ['balances:view']);
  expect((await books.get(path)).status).toBe(200);
});
