import { operate } from '../../api/operator';
import { createDataSource } from '../../db/data-source';
import { parseConfig } from '../../domain/config';
import { swapMessages } from '../../domain/conversions/swap';
import { add, compare, subtract, trim } from '../../domain/money';
import { bitcoinCall } from '../../sandbox/miner';
import { call } from '../../sandbox/parts/json-rpc';
import type { ProviderFault } from '../../sandbox/parts/swap';
import { World, type Answer, type Shop } from '../world';

/** Conversions by a swap provider, on real chains: record, ledger and chains agree to the last digit, whatever the
 *  provider does. */

const pairs = [
  ['BTC', 'ETH'],
  ['USDT_ERC20', 'BTC'],
  ['ETH', 'BTC'],
] as const;
let world: World;
let shop: Shop;
beforeAll(async () => {
  world = await World.start({
    miner: true,
    swap: true,
    restartAfterMs: 1000,
    env: { FAIL_POINTS: 'true', SWAP_POLL_SECONDS: '1' },
    between: async (stack) => {
      const db = createDataSource(stack.postgres.url, { pool: 1, name: 'pairs' });
      await db.initialize();
      for (const [from, to] of pairs)
        await operate(db, parseConfig(stack.env), ['pair', from, to, 'external', 'default', 'test']);
      await db.destroy();
      return {};
    },
  });
  shop = await world.shop();
  await Promise.all([settled('BTC', 4000), settled('USDT_ERC20', 200), settled('ETH', 200)]);
  // Coins enough that no deposit waits for the change of another.
  const [hot] = (await world.db.query(
    `SELECT address FROM address WHERE network = 'bitcoin' AND role = 'treasury' AND key_index = 0`,
  )) as Array<{ address: string }>;
  for (let coin = 0; coin < 18; coin += 1) await world.payer.pay('BTC', hot!.address, '0.02');
  const coins = () =>
    world.db.query(`SELECT FROM deposit WHERE address = $1 AND allocation = 'capital'`, [hot!.address]);
  await world.until('the treasury has its coins', async () => ((await coins()) as unknown[]).length === 18, 60_000);
  await world.until(
    'the swap provider is priced',
    async () => ((await world.db.query('SELECT FROM swap_rate')) as unknown[]).length === pairs.length,
  );
});
afterAll(() => world?.stop(), 60_000);
afterEach(async () => expect(await world.audit()).toEqual([]), 60_000);

async function settled(currency: string, amount: number): Promise<void> {
  const invoice = await world.invoice(shop, { amount, currency });
  await world.payer.pay(currency, invoice.address, String(invoice.amount));
  await world.sees(shop, invoice.id, 'SETTLED', { ms: 180_000 });
}
type Played = {
  fromAmount: string;
  received: string | null;
  payinAddress: string;
  payoutAddress: string;
  payoutHashes: string[];
  refundHash: string | null;
};
const played = async (): Promise<Played[]> =>
  ((await (await fetch(`${world.stack.swap!.url}/sandbox/orders`)).json()) as { orders: Played[] }).orders;
const control = (path: string, body: object): Promise<unknown> =>
  fetch(`${world.stack.swap!.url}/sandbox/${path}`, { method: 'POST', body: JSON.stringify(body) });
/** As often as a test wants to know, which is more often than a merchant may ask. */
const read = async (id: string): Promise<Answer['body']> => {
  await world.db.query('DELETE FROM rate_limit');
  return (await world.call(shop, 'GET', `/api/v1/conversions/${id}`)).body;
};
async function ends(id: string, status: string, ms = 90_000): Promise<Answer['body']> {
  await world.until(`conversion ${id} is ${status}`, async () => (await read(id)).status === status, ms);
  return read(id);
}
const convert = async (
  fromAmount: string,
  [fromCurrency, toCurrency]: readonly [string, string] = pairs[0],
): Promise<Answer['body']> => {
  await world.db.query('DELETE FROM rate_limit');
  const answer = await world.call(shop, 'POST', '/api/v1/conversions', { fromCurrency, toCurrency, fromAmount });
  expect(answer).toMatchObject({ status: 201, body: { status: 'processing', executionMode: 'external' } });
  return answer.body;
};
const balance = async (currency: string): Promise<string> => (await world.balance(shop, currency)).balance;
const incidents = async (id: string): Promise<string[]> =>
  (
    (await world.db.query(`SELECT kind FROM incident WHERE details->>'conversionId' = $1 ORDER BY id`, [id])) as Array<{
      kind: string;
    }>
  ).map(({ kind }) => kind);

const historyOf = async (id: string): Promise<unknown> =>
  (
    (await world.call(shop, 'GET', `/api/v1/ledger/history?sourceType=conversion&sourceId=${id}`)).body as {
      items: Array<{ type: string; currency: string; amount: string }>;
    }
  ).items.map(({ type, currency, amount }) => [type, currency, amount]);

it('pays out exactly what is credited, and gets exactly what was charged', async () => {
  const before = [await balance('BTC'), await balance('ETH')] as const;
  const { body: quote } = await world.call(
    shop,
    'GET',
    '/api/v1/conversions/quote?fromCurrency=BTC&toCurrency=ETH&fromAmount=0.01',
  );
  expect(quote).toMatchObject({ executionMode: 'external', estimatedSeconds: 3600, priceProtectionPct: 0.5 });
  const { _id: id } = await convert(quote.fromAmountStr);
  expect(await balance('BTC')).toBe(subtract(before[0], '0.01'));
  const record = await ends(id, 'completed');

  const [order] = await played();
  const wei = BigInt(await call<string>(world.stack.anvil.url, 'eth_getBalance', [order!.payoutAddress, 'latest']));
  const credited = record.creditAmountStr as string;
  expect(compare(credited, quote.toAmountStr)).toBeGreaterThanOrEqual(0);
  expect(wei).toBe(unitsOf(credited));
  expect(await balance('ETH')).toBe(add(before[1], credited));
  expect(order!.received).toBe(subtract('0.01', String(record.commissionAmount)));
  expect(order!.payoutHashes).toHaveLength(1);

  expect(await historyOf(id)).toEqual([
    ['conversion_credit', 'ETH', credited],
    ['conversion_debit', 'BTC', '-0.01'],
  ]);
  await world.until(
    'all is told',
    async () => ((await world.db.query('SELECT FROM event WHERE entity_id = $1', [id])) as unknown[]).length === 2,
  );
  const { events } = await world.history(`conversion/${id}`, 'conversion-BTC-ETH');
  expect(events).toBeLessThanOrEqual(60);
}, 120_000);

it.each([
  ['a token', pairs[1], '50'],
  ['ether', pairs[2], '0.02'],
] as const)(
  'takes %s, and brings bitcoin',
  async (_what, pair, amount) => {
    const [from, to] = pair;
    const before = [await balance(from), await balance(to)];
    const { _id: id } = await convert(amount, pair);
    const record = await ends(id, 'completed');
    const order = (await played()).at(-1)!;
    const credited = record.creditAmountStr as string;
    expect(order.received).toBe(subtract(amount, String(record.commissionAmount)));
    expect(compare(credited, String(record.toAmount))).toBeGreaterThanOrEqual(0);
    expect([await balance(from), await balance(to)]).toEqual([subtract(before[0]!, amount), add(before[1]!, credited)]);
    expect(await historyOf(id)).toEqual([
      ['conversion_credit', to, credited],
      ['conversion_debit', from, `-${amount}`],
    ]);
    const [payout] = order.payoutHashes;
    const { vout } = await bitcoinCall<{ vout: Array<{ value: number; scriptPubKey: { addresses: string[] } }> }>(
      world.chains.btcRpcUrl,
      'getrawtransaction',
      [payout, 1],
    );
    const paid = vout.filter(({ scriptPubKey }) => scriptPubKey.addresses?.includes(order.payoutAddress));
    expect(paid.map(({ value }) => trim(value.toFixed(8)))).toEqual([credited]);
    const { events } = await world.history(`conversion/${id}`, `conversion-${from}-${to}`);
    expect(events).toBeLessThanOrEqual(60);
  },
  120_000,
);

it('ends as its table says, whatever the provider does', async () => {
  const before = await balance('BTC');
  const started = async (fault: ProviderFault, makesOrder = true): Promise<string> => {
    const known = (await played()).length;
    await control('fault', { kind: fault });
    const { _id: id } = await convert('0.001');
    if (makesOrder) await world.until(`an order for ${fault}`, async () => (await played()).length > known);
    else await ends(id, 'failed');
    return id;
  };
  const id: Record<string, string> = { refuse: await started('refuse', false) };
  for (const fault of [
    'reply-lost',
    'expired',
    'silent',
    'late',
    'twice',
    'short',
    'wrong-asset',
    'refund',
    'failed',
    'failed-then-completed',
    'unknown-status',
  ] as const)
    id[fault] = await started(fault);

  // Nothing was sent, or it is back: the whole amount is the merchant's again.
  expect(await ends(id.refuse!, 'failed')).toMatchObject({ merchantMessage: swapMessages.refused });
  expect(await ends(id.expired!, 'failed')).toMatchObject({ merchantMessage: swapMessages.late });
  for (const fault of ['refund', 'failed', 'failed-then-completed'])
    expect(await ends(id[fault]!, 'failed')).toMatchObject({ merchantMessage: swapMessages.failed });
  await ends(id['reply-lost']!, 'completed');
  await ends(id.twice!, 'completed');
  const short = await ends(id.short!, 'completed');
  expect(short.creditAmountStr).toMatch(/^0\.\d+$/);
  expect(compare(short.creditAmountStr, String(short.toAmount))).toBe(-1);

  // These wait, and people are told where something is odd.
  await world.until(
    'people are told',
    async () => (await incidents(id['wrong-asset']!)).includes('swap-wrong-asset'),
    60_000,
  );
  await world.until(
    'people are told',
    async () => (await incidents(id['unknown-status']!)).includes('swap-unknown'),
    60_000,
  );
  for (const fault of ['silent', 'late', 'unknown-status', 'wrong-asset'])
    expect((await read(id[fault]!)).status).toBe('processing');

  // What comes later is credited where it was waited for, and nobody's where an end was told.
  await control('release', {});
  for (const fault of ['silent', 'late', 'unknown-status']) await ends(id[fault]!, 'completed');
  await world.until('people are told', async () => (await incidents(id.twice!)).includes('swap-surplus'), 60_000);
  await world.until(
    'people are told',
    async () => (await incidents(id['failed-then-completed']!)).includes('swap-contradiction'),
    60_000,
  );
  expect((await read(id['failed-then-completed']!)).status).toBe('failed');
  await world.until(
    'the loss is booked',
    async () =>
      ((await world.db.query('SELECT FROM journal WHERE key = $1', [`conversion/${id.refund}/loss`])) as unknown[])
        .length > 0,
  );
  const { events } = await world.history(`conversion/${id.refund}`, 'conversion-failed');
  expect(events).toBeLessThanOrEqual(60);
  // Six completed, one waits.
  expect(await balance('BTC')).toBe(subtract(before, '0.007'));
  expect((await read(id['wrong-asset']!)).status).toBe('processing');
});

it('makes one order and one deposit, whoever is killed', async () => {
  const points = ['swap.afterOrder', 'sign.afterCommit'];
  const known = (await played()).length;
  for (const point of points) await world.arm(point);
  const ids: string[] = [];
  for (const amount of ['0.001', '0.0011']) ids.push((await convert(amount))._id);
  for (const id of ids) await ends(id, 'completed', 180_000);
  expect(await world.armed()).toEqual([]);
  const orders = (await played()).slice(known);
  expect(orders).toHaveLength(ids.length);
  for (const order of orders) expect(order.received).toBe(order.fromAmount);
  for (const id of ids)
    expect(
      await world.db.query(
        `SELECT a.tx_id FROM attempt a JOIN intent i ON i.id = a.intent_id WHERE i.kind = 'fund' AND i.ref = $1`,
        [id],
      ),
    ).toHaveLength(1);
}, 240_000);

const unitsOf = (amount: string): bigint => {
  const [whole = '0', part = ''] = amount.split('.');
  return BigInt(whole + part.padEnd(18, '0'));
};
