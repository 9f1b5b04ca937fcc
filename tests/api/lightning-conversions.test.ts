import { operate } from '../../api/operator';
import { audit } from '../../db/audit/audit';
import { post } from '../../db/ledger/ledger';
import { freeze, unfreeze } from '../../db/limits/outbound';
import { adjustment } from '../../domain/ledger/entry';
import type { Answer } from './harness';
import { startMarkets, type Markets } from './markets';
import { balanceOf, codeOf, currency, db, h, rich, withNode, type Rich } from './lightning-out';

/** BTC_LN into bitcoin of the treasury, at par less the commission, where an operator has said so. */

let ann: Rich;
let markets: Markets;
afterAll(() => markets?.stop());
withNode();
beforeAll(async () => {
  markets = await startMarkets(h);
  ann = await rich();
});

const ask = { fromCurrency: currency, toCurrency: 'BTC', fromAmount: '0.0005' };
const quote = (over: object = {}): Promise<Answer> =>
  ann.get(`/api/v1/conversions/quote?${new URLSearchParams({ ...ask, ...over }).toString()}`);
const execute = async (over: object = {}): Promise<Answer> =>
  ann.post('/api/v1/conversions', { ...ask, ...over, otpCode: await ann.code() });
const convertible = async (): Promise<boolean> =>
  ((await h.call('GET', '/api/v1/currencies')).body.data as Array<{ currency: string; convert: boolean }>).find(
    (one) => one.currency === currency,
  )!.convert;
/** The platform's own bitcoin. */
const fund = (amount: string): Promise<string> =>
  db.transaction((tx) =>
    post(tx, {
      key: `test/${amount}`,
      entry: adjustment,
      postings: [{ debit: 'A:treasury', credit: 'Q:capital', asset: 'BTC', amount }],
    }),
  );

it('is off until an operator sets the pair', async () => {
  expect(codeOf(await quote()).slice(1)).toEqual([
    ...['QUOTE_FAILED', 'This conversion is temporarily unavailable; try again shortly'],
  ]);
  expect(await convertible()).toBe(false);
  await db.query(`INSERT INTO conversion_pair (from_currency, to_currency, mode) VALUES ('BTC_LN', 'BTC', 'internal')`);
  expect(await convertible()).toBe(true);
});

it('is quoted at par, less the commission, and to bitcoin alone', async () => {
  expect((await quote()).body).toMatchObject({
    ...{ fromAmount: 0.0005, exchangeRate: 1, toAmount: 0.00049687, executionMode: 'internal' },
  });
  await db.query(`INSERT INTO conversion_pair (from_currency, to_currency, mode) VALUES ('BTC_LN', 'ETH', 'internal')`);
  expect(codeOf(await quote({ toCurrency: 'ETH' }))[1]).toBe('QUOTE_FAILED');
  expect(codeOf(await quote({ fromCurrency: 'BTC', toCurrency: currency }))[1]).toBe('VALIDATION_ERROR');
});

/** What one is worth. */
const worth = { fiatCurrency: 'USD', fiatRate: '64000' };
it('is worth what bitcoin is', async () => {
  expect(await balanceOf(ann)).toMatchObject({ ...worth, fiatAmount: '63.74' });
});

it('gives what the treasury has beyond what it owes, and no more', async () => {
  expect(codeOf(await execute())[2]).toBe('Not enough BTC is available at present');
  await fund('0.0006');
  expect((await execute()).body).toMatchObject({ status: 'completed', toAmount: 0.00049687 });
  expect(await balanceOf(ann)).toMatchObject({ balance: '0.000496' });
  const { items } = (await ann.get(`/api/v1/ledger/history?currency=${currency}`)).body;
  expect(items[0]).toMatchObject({ ...worth, type: 'conversion_debit', amount: '-0.0005', fiatAmount: '-32' });
  expect((await ann.get('/api/v1/ledger/balances')).body.balances).toContainEqual(
    expect.objectContaining({ currency: 'BTC', balance: '0.00049687' }),
  );
  expect(codeOf(await execute({ fromAmount: '0.0004' }))[2]).toBe('Not enough BTC is available at present');
  const found = await audit(db, { settleMs: 1 });
  expect(found.filter(({ invariant }) => !['I5', 'I13'].includes(invariant))).toEqual([]);
});

it('is in the list of what the platform holds, with what is in the channels', async () => {
  const told = await operate(db, h.api.deps.config, ['exposure']);
  expect(told).toMatch(/^BTC_LN +position 0.00049\d* \(31[.]\d+ USD\) +limit none +treasury 0.001 +owed 0.000496 /m);
  expect(told).toMatch(/^BTC_LN .* free 0.000504 \(32[.]\d+ USD\)$/m);
});

it('is held back while our node may lack the money', async () => {
  await freeze(db.manager, currency, 'the node lacks it');
  expect(codeOf(await quote())[1]).toBe('QUOTE_FAILED');
  expect(codeOf(await execute())[1]).toBe('CONVERSION_FAILED');
  await unfreeze(db.manager, currency);
  expect((await quote()).status).toBe(200);
});
