import { join } from 'node:path';
import { audit } from '../../db/audit/audit';
import { post } from '../../db/ledger/ledger';
import type { Account } from '../../domain/ledger/ledger';
import { adjustment } from '../../domain/ledger/entry';
import { subtract } from '../../domain/money';
import { root } from '../../sandbox/paths';
import { CryptoPayments } from '../../sdk/typescript';
import { startHarness, type Harness, type Shop } from '../api/harness';
import { startMarkets, type Markets } from '../api/markets';
import { settledPayment } from '../api/refundable';
import { python } from '../python';
import { startLosingProxy, type LosingProxy } from './losing-proxy';

/** Whatever a key may do with money, through a proxy that loses answers: each act happens once. Keys only read
 *  withdrawals and mass payouts. */

let h: Harness;
let markets: Markets;
let proxy: LosingProxy;
beforeAll(async () => {
  h = await startHarness();
  markets = await startMarkets(h);
  proxy = await startLosingProxy(h.url);
});
afterAll(async () => {
  proxy?.stop();
  await markets?.stop();
  await h?.stop();
});

const credit = (account: Account, asset: string, amount: string): Promise<string> =>
  h.db.transaction((tx) =>
    post(tx, {
      key: `test/${account}/${asset}`,
      entry: adjustment,
      postings: [{ debit: 'A:treasury', credit: account, asset, amount }],
    }),
  );
const to = `0x${'ab'.repeat(20)}`;
const refundAsk = { type: 'partial', amount: '0.004', address: to } as const;
const order = { fromCurrency: 'ETH', toCurrency: 'USDT_ERC20', fromAmount: '1' };

/** A shop with 10 ETH, of which it may refund a part, and a treasury that can convert them. */
async function funded(): Promise<{ shop: Shop; paymentId: string; client: CryptoPayments }> {
  const shop = await h.shop();
  const { id: paymentId } = await settledPayment(h, shop, { credit: '10' });
  await h.db.query('DELETE FROM rate_limit'); // an answer that was lost counts too
  return { shop, paymentId, client: new CryptoPayments({ baseUrl: proxy.url, apiKey: shop.key }) };
}
beforeAll(() => credit('Q:capital', 'USDT_ERC20', '100000'));
afterEach(async () => {
  const violations = await audit(h.db, { settleMs: 1 });
  expect(violations.filter(({ invariant }) => ['I1', 'I2', 'I3', 'I7', 'I9', 'I13'].includes(invariant))).toEqual([]);
});

const rowsOf = (table: 'refund' | 'conversion', { id }: Shop): Promise<Array<{ id: string; status: string }>> =>
  h.db.query(`SELECT id, status FROM ${table} WHERE merchant_id = $1`, [id]);
const eventsOf = async ({ id }: Shop, kind: string): Promise<string[]> =>
  (
    await h.db.query<Array<{ type: string }>>(`SELECT type FROM event WHERE merchant_id = $1 AND type LIKE $2`, [
      id,
      `${kind}.%`,
    ])
  ).map(({ type }) => type);
/** Which entries of the shop's account statement an act made. */
const entriesOf = async (client: CryptoPayments, sourceId: string): Promise<string[]> => {
  const types: string[] = [];
  for await (const { type } of client.ledger.history({ sourceId })) types.push(type);
  return types.sort();
};
const balanceOf = async (client: CryptoPayments, currency: string) =>
  (await client.ledger.listBalances()).balances.find((one) => one.currency === currency);

/** What one refund leaves, and no second. */
async function isOneRefund(client: CryptoPayments, shop: Shop, id: string): Promise<void> {
  expect(await rowsOf('refund', shop)).toEqual([{ id, status: 'awaiting_approval' }]);
  expect(await eventsOf(shop, 'refund')).toEqual(['refund.created']);
  expect(await entriesOf(client, id)).toEqual(['reserve']);
  const { amount, networkFee } = await client.refunds.get(id);
  expect(amount).toBe('0.004');
  const reserved = subtract('0.004', subtract('0', networkFee));
  expect(await balanceOf(client, 'ETH')).toMatchObject({ balance: subtract('10', reserved), reserved });
}
/** What one conversion leaves, and no second. */
async function isOneConversion(client: CryptoPayments, shop: Shop, id: string): Promise<void> {
  expect(await rowsOf('conversion', shop)).toEqual([{ id, status: 'completed' }]);
  expect(await eventsOf(shop, 'conversion')).toEqual(['conversion.completed']);
  expect(await entriesOf(client, id)).toEqual(['conversion_credit', 'conversion_debit']);
  expect(await balanceOf(client, 'ETH')).toMatchObject({ balance: '9', reserved: '0' });
  expect(await balanceOf(client, 'USDT_ERC20')).toMatchObject({ balance: '3187.2' });
}

describe('18.5: money through lost answers, with the TypeScript package', () => {
  it('makes one refund', async () => {
    const { shop, paymentId, client } = await funded();
    proxy.lose(3);
    const refund = await client.refunds.create(paymentId, refundAsk);
    expect(proxy.asked()).toBe(4);
    await isOneRefund(client, shop, refund._id!);
  });

  it('makes one conversion', async () => {
    const { shop, client } = await funded();
    proxy.lose(3);
    const { _id } = await client.conversions.execute(order);
    expect(proxy.asked()).toBe(4);
    await isOneConversion(client, shop, _id);
  });
});

it.each([
  ['refund', isOneRefund],
  ['conversion', isOneConversion],
] as const)('18.5: makes one %s through lost answers with the Python package', async (act, isOne) => {
  const { shop, paymentId, client } = await funded();
  const stack = { proxy: proxy.url, apiKey: shop.key, paymentId, refund: refundAsk, conversion: order };
  const said = await python(
    ['-m', 'pytest', '-rP', '-p', 'no:cacheprovider', '-k', act, join(root, 'tests/sdk/python/test_money.py')],
    { STACK: JSON.stringify(stack), PYTHONPATH: join(root, 'sdk/python/src') },
  );
  const [, id] = /made (\w{24})/.exec(said)!;
  await isOne(client, shop, id!);
});
