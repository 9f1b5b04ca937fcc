import { randomBytes } from 'node:crypto';
import { operate } from '../../api/operator';
import { setMerchantStatus } from '../../db/access/merchants';
import { creditFromCapital } from '../credit-from-capital';
import { byTwoOperators } from '../operators';
import { createCodecs } from '../../chains/codecs';
import { restartActivities } from '../../activities/temporal/restart';
import { signingActivities } from '../../activities/txmanager/signing';
import { swapActivities } from '../../activities/conversions/swaps';
import { audit } from '../../db/audit/audit';
import { readExposure } from '../../db/conversions/exposure';
import { post, reverse } from '../../db/ledger/ledger';
import { setSwitch } from '../../db/access/switches';
import { notifyConversion } from '../../db/conversions/conversions';
import { keepSwapRate, type SwapOrderRow } from '../../db/conversions/swaps';
import type { NetworkId } from '../../domain/chains/assets';
import { capitalJournal } from '../../domain/ledger/ledger';
import { compare, subtract } from '../../domain/money';
import {
  SwapRefused,
  SwapUnavailable,
  swapMessages,
  type SwapOrder,
  type SwapProvider,
} from '../../domain/conversions/swap';
import { startHarness, type Harness, type Shop } from './harness';
import { nodes } from '../activities/nodes';
import { bookEnd } from '../book-end';

/** External conversions over HTTP, in a real ledger: what the provider and the chain say is played, and everything else
 *  is real. */

const seed = Buffer.alloc(64, 7);
const pair = { from: 'ETH', to: 'BTC' };
let h: Harness;
let codecs: ReturnType<typeof createCodecs>;
let made = 0;
const txId = (): string => (made += 1).toString(16).padStart(64, '0');

/** A provider that does what it is told. */
const play = { orders: [] as SwapOrder[], fails: [] as Error[], lost: false, toAmount: '0.06' };
const provider: SwapProvider = {
  name: 'changenow',
  range: () => Promise.resolve({ min: '0.01', max: '50' }),
  estimate: (_, fromAmount) =>
    Promise.resolve({ rateId: 'r', fromAmount, toAmount: play.toAmount, validUntil: soon(), seconds: 600 }),
  findOrder: (_, payoutAddress) =>
    Promise.resolve(play.orders.find((order) => order.payoutAddress === payoutAddress) ?? null),
  createOrder(asked) {
    const fail = play.fails.shift();
    if (fail) return Promise.reject(fail);
    const order: SwapOrder = {
      id: randomBytes(7).toString('hex'),
      state: 'waiting',
      status: 'waiting',
      depositAddress: codecs.ethereum.derive(codecs.ethereum.extendedKey(Buffer.alloc(64, 9), 'deposit'), (made += 1)),
      payoutAddress: asked.payoutAddress,
      refundAddress: asked.refundAddress,
      fromAmount: asked.fromAmount,
      toAmount: play.toAmount,
      payoutTxId: null,
      validUntil: soon(),
    };
    play.orders.push(order);
    if (play.lost) {
      play.lost = false;
      return Promise.reject(new SwapUnavailable('The answer was lost'));
    }
    return Promise.resolve(order);
  },
  readOrder: (id) => Promise.resolve(play.orders.find((order) => order.id === id)!),
};
const soon = (): string => new Date(Date.now() + 600_000).toISOString();

let swaps: ReturnType<typeof swapActivities>;
let signer: ReturnType<typeof signingActivities>;
beforeAll(async () => {
  h = await startHarness({ FAIL_POINTS: 'true' });
  const { config } = h.api.deps;
  codecs = createCodecs(config.chain);
  swaps = swapActivities({ db: h.db, nodes, config, codecs, log: { warn: () => undefined }, provider });
  signer = signingActivities({ db: h.db, codecs, seed });
  for (const network of ['bitcoin', 'ethereum'] as const)
    await h.db.query(
      `INSERT INTO address (network, address, role, key_index) VALUES ($1, $2, 'treasury', 0), ($1, $3, 'gas', 0)`,
      [network, keyOf(network, 'treasury'), keyOf(network, 'gas')],
    );
  await arrives('ethereum', keyOf('ethereum', 'treasury'), 'ETH', '1000');
  await operate(h.db, config, ['pair', 'ETH', 'BTC', 'external', 'default', 'test']);
});
afterAll(async () => {
  await h?.stop();
});
beforeEach(async () => {
  Object.assign(play, { orders: [], fails: [], lost: false, toAmount: '0.06' });
  await h.setRates();
  await rate();
  await h.db.query('DELETE FROM rate_limit');
});
afterEach(async () => {
  expect(
    (await audit(h.db, { settleMs: 1 })).filter(({ invariant }) => invariant !== 'I13' && invariant !== 'I12'),
  ).toEqual([]);
});

const keyOf = (network: NetworkId, role: 'treasury' | 'gas'): string =>
  codecs[network].derive(codecs[network].extendedKey(seed, role), 0);
/** 0.05 BTC for an ETH, less 0.0004 for paying out. */
const rate = () =>
  keepSwapRate(h.db, pair, {
    min: '0.01',
    max: '50',
    low: { fromAmount: '0.01', toAmount: '0.0001' },
    high: { fromAmount: '10.01', toAmount: '0.5001' },
    seconds: 600,
  });

/** A confirmed deposit at an address of ours, booked as the follower does. */
async function arrives(network: NetworkId, address: string, currency: string, amount: string, status = 'confirmed') {
  const id = txId();
  const [conversion] = await h.db.query<
    Array<{ id: string; merchant_id: string; from_currency: string; from_amount: string; to_currency: string }>
  >('SELECT c.* FROM conversion c JOIN address a ON a.conversion_id = c.id WHERE a.address = $1', [address]);
  await h.db.transaction(async (tx) => {
    await tx.query(
      `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
         height, first_seen_at, confirmed_at, allocation)
       VALUES ($1, $2, 0, $3, 'treasury', $4, $5, $5, false, $6, 100, now(), now(), CASE WHEN $6 = 'confirmed'
         THEN 'capital' END)`,
      [network, id, address, currency, amount, status],
    );
    if (status !== 'confirmed') return;
    const from = conversion ? ('A:provider' as const) : ('Q:capital' as const);
    await post(tx, capitalJournal({ network, txId: id, index: 0, currency, amount, to: 'A:treasury', from }));
    if (conversion) await notifyConversion(tx, conversion);
  });
  return id;
}

type Trade = { shop: Shop; id: string; before: string };
/** A merchant with 5 ETH who converts one of them. */
async function trade(): Promise<Trade> {
  const shop = await h.shop();
  await creditFromCapital(h.db, shop.id, 'ETH', '5');
  const answer = await h.call('POST', '/api/v1/conversions', {
    key: shop.key,
    body: { fromCurrency: 'ETH', toCurrency: 'BTC', fromAmount: '1' },
  });
  expect(answer.status).toBe(201);
  expect(answer.body).toMatchObject({ status: 'processing', executionMode: 'external', priceProtectionBand: 0.5 });
  expect(await balance(shop, 'ETH')).toBe('4');
  return { shop, id: answer.body._id, before: '5' };
}
const balance = async (shop: Shop, currency: string): Promise<string> =>
  (await h.call('GET', '/api/v1/ledger/balances', { key: shop.key })).body.balances.find(
    (one: { currency: string }) => one.currency === currency,
  ).balance;
const get = async ({ shop, id }: Trade) => (await h.call('GET', `/api/v1/conversions/${id}`, { key: shop.key })).body;
const order = async (id: string): Promise<SwapOrderRow> =>
  (await h.db.query<SwapOrderRow[]>('SELECT * FROM swap_order WHERE conversion_id = $1', [id]))[0]!;
const incidents = async (id: string): Promise<string[]> =>
  (
    await h.db.query<Array<{ kind: string }>>(
      `SELECT kind FROM incident WHERE details->>'conversionId' = $1 ORDER BY id`,
      [id],
    )
  ).map(({ kind }) => kind);
const events = async (id: string): Promise<string[]> =>
  (await h.db.query<Array<{ type: string }>>('SELECT type FROM event WHERE entity_id = $1 ORDER BY seq', [id])).map(
    ({ type }) => type,
  );
const says = (id: string, state: SwapOrder['state'], payoutTxId: string | null = null): void => {
  const at = play.orders.findIndex((one) => one.id === id);
  play.orders[at] = { ...play.orders[at]!, state, status: state, payoutTxId };
};
/** What there is to send, null at the end, or why there is neither. */
const follow = (id: string): Promise<unknown> =>
  swaps.followSwap(id).catch((error: Error & { type?: string }) => error.type ?? error.message);

/** Planned, signed, and mined as far as the rows go. */
async function fund(id: string, success = true): Promise<void> {
  const next = await swaps.followSwap(id);
  if (!next || !('id' in next)) throw new Error(`Nothing to send: ${JSON.stringify(next)}`);
  expect(next.kind).toBe('fund');
  expect(await signer.signOnce(next.id)).toEqual({ state: 'stored' });
  await h.db.query(
    `UPDATE attempt SET status = 'final', success = $2, fee_units = 21000000000000, height = 100, block_hash = 'b',
       final_at = now() WHERE intent_id = $1`,
    [next.id, success],
  );
  await h.db.query('UPDATE intent SET status = $2 WHERE id = $1', [next.id, success ? 'final' : 'failed']);
  await bookEnd(h.db, next.id);
}

it('A9: a suspended merchant’s deposit at the provider is not signed until two operators lift the hold', async () => {
  const one = await trade();
  const next = await swaps.followSwap(one.id);
  if (!next || !('id' in next)) throw new Error(`Nothing to send: ${JSON.stringify(next)}`);
  await h.db.transaction((tx) => setMerchantStatus(tx, one.shop.id, 'suspended', 'fraud'));
  expect(await signer.signOnce(next.id)).toEqual({
    state: 'waiting',
    reason: 'outgoing money of the merchant is held: fraud',
  });
  await byTwoOperators(h.db, 'lift-hold', { merchantId: one.shop.id });
  expect(await signer.signOnce(next.id)).toEqual({ state: 'stored' });
});

it('quotes what is charged and promised, and refuses what cannot be executed', async () => {
  const shop = await h.shop();
  const quote = async (fromAmount: string) =>
    (
      await h.call('GET', `/api/v1/conversions/quote?fromCurrency=ETH&toCurrency=BTC&fromAmount=${fromAmount}`, {
        key: shop.key,
      })
    ).body;
  const body = await quote('1');
  // 2 gwei × 21,000 of gas for sending it, beside the 0.4 %
  const commission = '0.004042';
  const net = subtract('1', commission);
  expect(body).toMatchObject({
    executionMode: 'external',
    commissionAmount: 0.004042,
    netFromAmount: 0.995958,
    toAmountStr: '0.04915091', // (0.995958 × 0.05 − 0.0004) × 0.995
    priceProtectionPct: 0.5,
    estimatedSeconds: 600,
  });
  expect(body.exchangeRate).toBeCloseTo(0.04915091 / 0.995958, 12);
  expect(net).toBe('0.995958');
  const few = await quote('0.0095');
  expect(few.error.message).toMatch(/^Too little: convert at least 0\.010\d+ ETH$/);
  expect((await quote(/([\d.]+) ETH/.exec(few.error.message)![1]!)).executionMode).toBe('external');
  // Our own least is lower, and our own most higher: what is suggested is taken by both.
  expect((await quote('0.0001')).error).toEqual((await quote('0.0095')).error);
  await h.db.query(`UPDATE swap_rate SET max_amount = 2`);
  for (const much of ['5', '1000'])
    expect((await quote(much)).error).toEqual({
      code: 'QUOTE_FAILED',
      message: 'Too much at once: convert at most 2 ETH',
    });
  expect((await quote('2')).executionMode).toBe('external');
  // Where the provider takes more than we do, ours count.
  await keepSwapRate(h.db, pair, {
    min: '0.0000001',
    max: '1000',
    low: { fromAmount: '0.0001', toAmount: '0.000005' },
    high: { fromAmount: '10', toAmount: '0.5' },
    seconds: null,
  });
  for (const wrong of ['0.0001', '500']) {
    const [, suggested] = /([\d.]+) ETH$/.exec((await quote(wrong)).error.message)!;
    expect((await quote(suggested!)).executionMode).toBe('external');
  }
  await h.db.query(`UPDATE swap_rate SET min_amount = 1000, max_amount = 2000`);
  expect((await quote('1')).error.message).toMatch(/temporarily unavailable/);
  await rate();
  await h.db.query(`UPDATE swap_rate SET taken_at = now() - interval '1 hour'`);
  expect((await quote('1')).error.message).toMatch(/temporarily unavailable/);
  await rate();
  await h.db.query(`UPDATE network_fee SET taken_at = now() - interval '1 hour'`);
  expect((await quote('1')).error.message).toMatch(/temporarily unavailable/);
  await h.setRates();
});

it('names what is to be sent, then asks the provider until the end, and calls it one', async () => {
  const one = await trade();
  const next = await swaps.followSwap(one.id);
  expect(next).toMatchObject({ kind: 'fund', network: 'ethereum' });
  expect(await follow(one.id)).toEqual(next);
  await fund(one.id);
  expect(await follow(one.id)).toBe('SWAP_OPEN');
  await arrives('bitcoin', (await order(one.id)).payout_address, 'BTC', '0.06');
  for (let n = 0; n < 2; n += 1) expect(await follow(one.id)).toBeNull();
  expect((await get(one)).status).toBe('completed');
});

it('debits, sends once, and credits exactly what came', async () => {
  const one = await trade();
  expect(await events(one.id)).toEqual(['conversion.processing']);
  await fund(one.id);
  expect(await follow(one.id)).toBe('SWAP_OPEN');
  const row = await order(one.id);
  expect(compare(row.amount, '0.995958')).toBe(0);
  says(row.order_id!, 'finished');
  expect(await follow(one.id)).toBe('SWAP_OPEN'); // words are not money
  await arrives('bitcoin', row.payout_address, 'BTC', '0.0600001');
  expect(await follow(one.id)).toBeNull();
  expect(await follow(one.id)).toBeNull();
  const record = await get(one);
  expect(record).toMatchObject({ status: 'completed', creditAmountStr: '0.0600001', toAmount: 0.04915091 });
  expect(await balance(one.shop, 'BTC')).toBe('0.0600001');
  expect(await balance(one.shop, 'ETH')).toBe('4');
  expect(await events(one.id)).toEqual(['conversion.processing', 'conversion.completed']);
  expect(await incidents(one.id)).toEqual([]);
  // Nothing of how it was done is told to anybody.
  const told = JSON.stringify([record, await h.db.query('SELECT data FROM event WHERE entity_id = $1', [one.id])]);
  for (const secret of [row.payout_address, row.refund_address, row.deposit_address, row.order_id, 'changenow'])
    expect(told).not.toContain(secret);
});

it('finds the order whose answer was lost, and makes no second one', async () => {
  const one = await trade();
  play.lost = true;
  await expect(swaps.followSwap(one.id)).rejects.toThrow(SwapUnavailable);
  await fund(one.id);
  expect(play.orders).toHaveLength(1);
  expect(await follow(one.id)).toBe('SWAP_OPEN');
  expect(await h.db.query(`SELECT count(*)::int AS n FROM intent WHERE kind = 'fund' AND ref = $1`, [one.id])).toEqual([
    { n: 1 },
  ]);
});

describe('nothing is sent, and all of it is back', () => {
  const back = async (one: Trade, message: string): Promise<void> => {
    expect(await swaps.followSwap(one.id)).toBeNull();
    expect(await get(one)).toMatchObject({ status: 'failed', merchantMessage: message });
    expect((await get(one)).creditAmountStr).toBeUndefined();
    expect(await balance(one.shop, 'ETH')).toBe('5');
    expect(await events(one.id)).toEqual(['conversion.processing', 'conversion.failed']);
    expect(
      await h.db.query(`SELECT FROM attempt a JOIN intent i ON i.id = a.intent_id WHERE i.ref = $1`, [one.id]),
    ).toEqual([]);
    expect(await follow(one.id)).toBeNull();
  };

  it('where the provider refuses', async () => {
    play.fails = [new SwapRefused('pair_is_inactive', 'Pair is inactive')];
    await back(await trade(), swapMessages.refused);
  });
  it('where it gives less than was accepted', async () => {
    play.toAmount = '0.0491';
    await back(await trade(), swapMessages.worse);
    expect(play.orders).toEqual([]);
  });
  it('where it cannot be asked for too long', async () => {
    const one = await trade();
    play.fails = [new SwapUnavailable('down'), new SwapUnavailable('down')];
    await expect(swaps.followSwap(one.id)).rejects.toThrow('down');
    await h.db.query(`UPDATE swap_order SET created_at = now() - interval '11 minutes' WHERE conversion_id = $1`, [
      one.id,
    ]);
    await back(one, swapMessages.refused);
  });
  it('where its order pays somebody else', async () => {
    const one = await trade();
    play.fails = [new SwapUnavailable('lost')];
    await expect(swaps.followSwap(one.id)).rejects.toThrow('lost');
    const { payout_address, amount } = await order(one.id);
    const other = {
      depositAddress: keyOf('ethereum', 'treasury'),
      refundAddress: 'x',
      toAmount: '0.06',
      fromAmount: amount,
    };
    play.orders = [
      {
        id: 'o',
        state: 'waiting',
        status: 'waiting',
        payoutAddress: payout_address,
        payoutTxId: null,
        validUntil: soon(),
        ...other,
      },
    ];
    await back(one, swapMessages.refused);
    expect(await incidents(one.id)).toEqual(['swap-unknown']);
  });
  it('where the order ends before our deposit is signed', async () => {
    const one = await trade();
    const planned = await swaps.followSwap(one.id);
    await h.db.query(`UPDATE swap_order SET valid_until = now() + interval '30 seconds' WHERE conversion_id = $1`, [
      one.id,
    ]);
    expect(await signer.signOnce((planned as { id: string }).id)).toMatchObject({ state: 'dropped' });
    await back(one, swapMessages.late);
    expect(await signer.signOnce((planned as { id: string }).id)).toEqual({ state: 'dropped' });
  });
  it('where the treasury has nothing to send until it is too late', async () => {
    const one = await trade();
    await h.db.query(`UPDATE deposit SET amount = 0.1 WHERE currency = 'ETH' AND role = 'treasury'`);
    const next = await swaps.followSwap(one.id);
    expect(next).toMatchObject({ reason: expect.stringContaining('the treasury has') });
    await h.db.query(`UPDATE swap_order SET valid_until = now() WHERE conversion_id = $1`, [one.id]);
    await back(one, swapMessages.late);
    await h.db.query(`UPDATE deposit SET amount = 1000 WHERE currency = 'ETH' AND role = 'treasury'`);
  });
});

describe('what goes wrong afterwards', () => {
  async function funded(): Promise<Trade & { row: SwapOrderRow }> {
    const one = await trade();
    await fund(one.id);
    return { ...one, row: await order(one.id) };
  }

  it('our transaction was mined and reverted: all is back', async () => {
    const one = await trade();
    await fund(one.id, false);
    expect(await swaps.followSwap(one.id)).toBeNull();
    expect(await get(one)).toMatchObject({ status: 'failed', merchantMessage: swapMessages.failed });
    expect(await balance(one.shop, 'ETH')).toBe('5');
  });

  it('short: what came is credited once there is no more', async () => {
    const { row, ...one } = await funded();
    const payout = await arrives('bitcoin', row.payout_address, 'BTC', '0.04');
    expect(await follow(one.id)).toBe('SWAP_OPEN');
    says(row.order_id!, 'finished', payout.toUpperCase());
    await arrives('bitcoin', row.payout_address, 'BTC', '0.001', 'mined');
    expect(await follow(one.id)).toBe('SWAP_OPEN');
    await h.db.query(`UPDATE deposit SET status = 'replaced' WHERE address = $1 AND status = 'mined'`, [
      row.payout_address,
    ]);
    expect(await follow(one.id)).toBeNull();
    expect(await get(one)).toMatchObject({ status: 'completed', creditAmountStr: '0.04' });
  });

  it('a little from somebody else: waits for the payout, whatever it is said to be', async () => {
    const { row, ...one } = await funded();
    const little = await arrives('bitcoin', row.payout_address, 'BTC', '0.00002');
    for (const payout of [null, 'f'.repeat(64)]) {
      says(row.order_id!, 'finished', payout);
      expect(await follow(one.id)).toBe('SWAP_OPEN');
      expect((await get(one)).status).toBe('processing');
    }
    expect(await order(one.id)).toMatchObject({ payout_tx_id: 'f'.repeat(64) });
    const payout = await arrives('bitcoin', row.payout_address, 'BTC', '0.06');
    expect(payout).not.toBe(little);
    says(row.order_id!, 'finished', payout);
    expect(await follow(one.id)).toBeNull();
    expect(await get(one)).toMatchObject({ status: 'completed', creditAmountStr: '0.06002' });
  });

  it('paid out and not credited yet: it is promised, and nobody else converts into it', async () => {
    const free = async (): Promise<string> =>
      (await readExposure(h.db, h.api.deps.config.networks)).assets.find(({ currency }) => currency === 'BTC')!.free;
    const { row, ...one } = await funded();
    const before = await free();
    await arrives('bitcoin', row.payout_address, 'BTC', '0.06');
    expect(await free()).toBe(before);
    expect(await follow(one.id)).toBeNull();
    expect(await balance(one.shop, 'BTC')).toBe('0.06');
    expect(await free()).toBe(before);
  });

  it('twice: one is credited, the other is an incident and nobody’s', async () => {
    const { row, ...one } = await funded();
    await arrives('bitcoin', row.payout_address, 'BTC', '0.06');
    await arrives('bitcoin', row.payout_address, 'BTC', '0.06');
    says(row.order_id!, 'finished');
    expect(await follow(one.id)).toBeNull();
    expect(await get(one)).toMatchObject({ status: 'completed', creditAmountStr: '0.06' });
    expect(await balance(one.shop, 'BTC')).toBe('0.06');
    expect(await incidents(one.id)).toEqual(['swap-surplus']);
  });

  it('failed, then money comes: stays failed, nobody is credited twice', async () => {
    const { row, ...one } = await funded();
    says(row.order_id!, 'failed');
    expect(await follow(one.id)).toBe('SWAP_OPEN'); // its deposit may still come back
    expect(await get(one)).toMatchObject({ status: 'failed', merchantMessage: swapMessages.failed });
    expect(await balance(one.shop, 'ETH')).toBe('5');
    await arrives('bitcoin', row.payout_address, 'BTC', '0.06');
    says(row.order_id!, 'finished');
    expect(await follow(one.id)).toBeNull();
    expect((await get(one)).status).toBe('failed');
    expect(await balance(one.shop, 'BTC')).toBe('0');
    expect(await incidents(one.id)).toEqual(['swap-contradiction']);
  });

  it('paid, then failed: stays completed', async () => {
    const { row, ...one } = await funded();
    await arrives('bitcoin', row.payout_address, 'BTC', '0.06');
    expect(await follow(one.id)).toBeNull();
    says(row.order_id!, 'failed');
    expect(await follow(one.id)).toBeNull();
    expect(await get(one)).toMatchObject({ status: 'completed', creditAmountStr: '0.06' });
    expect(await balance(one.shop, 'ETH')).toBe('4');
    expect(await incidents(one.id)).toEqual(['swap-contradiction']);
  });

  it('sent back: all is back in the balance, and what was kept is our loss', async () => {
    const { row, ...one } = await funded();
    says(row.order_id!, 'refunded');
    expect(await follow(one.id)).toBe('SWAP_OPEN');
    expect(await balance(one.shop, 'ETH')).toBe('5');
    await arrives('ethereum', row.refund_address, 'ETH', '0.99');
    expect(await follow(one.id)).toBeNull();
    expect(await follow(one.id)).toBeNull();
    const losses = () =>
      h.db.query(
        `SELECT j.key, p.debit, p.credit, trim_scale(p.amount)::text AS amount FROM posting p
           JOIN journal j ON j.id = p.journal_id
          WHERE j.key LIKE $1 ORDER BY j.id`,
        [`conversion/${one.id}/loss%`],
      );
    const key = `conversion/${one.id}/loss`;
    const first = { key, debit: 'E:loss', credit: 'A:provider', amount: '0.005958' };
    expect(await losses()).toEqual([first]);
    // The rest comes later, in part twice, then more than was sent: the loss is what is kept, and never below nothing.
    const late = await arrives('ethereum', row.refund_address, 'ETH', '0.002');
    for (let look = 0; look < 2; look += 1) expect(await follow(one.id)).toBeNull();
    const second = { key: `${key}/2`, debit: 'A:provider', credit: 'E:loss', amount: '0.002' };
    expect(await losses()).toEqual([first, second]);
    await arrives('ethereum', row.refund_address, 'ETH', '1');
    for (let look = 0; look < 2; look += 1) expect(await follow(one.id)).toBeNull();
    const third = { key: `${key}/3`, debit: 'A:provider', credit: 'E:loss', amount: '0.003958' };
    expect(await losses()).toEqual([first, second, third]);
    // A reorganisation takes one: still nothing is lost.
    await h.db.transaction(async (tx) => {
      await reverse(tx, `capital/ethereum/${late}/0`);
      await tx.query(`UPDATE deposit SET status = 'orphaned', allocation = NULL WHERE tx_id = $1`, [late]);
    });
    expect(await follow(one.id)).toBeNull();
    expect(await losses()).toEqual([first, second, third]);
    expect(await incidents(one.id)).toEqual([]);
  });

  it('money on its way: waits for it, whatever the provider says', async () => {
    const { row, ...one } = await funded();
    await arrives('bitcoin', row.payout_address, 'BTC', '0.06', 'mined');
    says(row.order_id!, 'failed');
    expect(await follow(one.id)).toBe('SWAP_OPEN');
    expect((await get(one)).status).toBe('processing');
    await h.db.query(`UPDATE deposit SET status = 'replaced' WHERE address = $1`, [row.payout_address]);
    expect(await follow(one.id)).toBe('SWAP_OPEN');
    expect((await get(one)).status).toBe('failed');
  });

  it('silent for a day: stays processing, people are told once', async () => {
    const { row, ...one } = await funded();
    says(row.order_id!, 'working');
    expect(await follow(one.id)).toBe('SWAP_OPEN');
    expect(await incidents(one.id)).toEqual([]);
    await h.db.query(`UPDATE swap_order SET changed_at = now() - interval '25 hours' WHERE conversion_id = $1`, [
      one.id,
    ]);
    await h.db.query(`UPDATE conversion SET updated_at = now() - interval '25 hours' WHERE id = $1`, [one.id]);
    for (let look = 0; look < 2; look += 1) expect(await follow(one.id)).toBe('SWAP_OPEN');
    expect((await get(one)).status).toBe('processing');
    expect(await incidents(one.id)).toEqual(['swap-silent']);
  });

  it('people give up: all is back, and what comes later is nobody’s', async () => {
    const { row, ...one } = await funded();
    says(row.order_id!, 'working');
    const giveUp = async (id = one.id) => (await byTwoOperators(h.db, 'end-conversion', { conversionId: id })).outcome;
    await arrives('bitcoin', row.payout_address, 'BTC', '0.01', 'mined');
    await expect(giveUp()).rejects.toThrow('money is on its way');
    await h.db.query(`UPDATE deposit SET status = 'replaced' WHERE address = $1`, [row.payout_address]);
    expect(await giveUp()).toMatch(/has failed/);
    await expect(giveUp()).rejects.toThrow('it is failed');
    expect(await balance(one.shop, 'ETH')).toBe('5');
    await arrives('bitcoin', row.payout_address, 'BTC', '0.06');
    expect(await follow(one.id)).toBeNull();
    expect(await incidents(one.id)).toEqual(['swap-contradiction']);
    const fresh = await trade();
    await expect(giveUp(fresh.id)).rejects.toThrow('it is processing');
    await swaps.followSwap(fresh.id);
    await expect(giveUp(fresh.id)).rejects.toThrow('may still leave');
  });

  it('the provider is away, or says what we do not know: waits', async () => {
    const { row, ...one } = await funded();
    const { readOrder } = provider;
    provider.readOrder = () => Promise.reject(new SwapUnavailable('down'));
    expect(await follow(one.id)).toBe('SWAP_OPEN');
    provider.readOrder = readOrder;
    says(row.order_id!, 'unknown');
    expect(await follow(one.id)).toBe('SWAP_OPEN');
    expect(await incidents(one.id)).toEqual(['swap-unknown']);
    expect((await get(one)).status).toBe('processing');
  });

  it('no workflow: the reconciler asks for it again', async () => {
    const { id } = await trade();
    await h.db.query(`UPDATE conversion SET updated_at = now() - interval '2 minutes' WHERE id = $1`, [id]);
    await h.db.query('DELETE FROM temporal_request');
    const log = { warn: () => undefined };
    await restartActivities({
      db: h.db,
      running: () => Promise.resolve(new Set<string>()),
      log,
      config: h.api.deps.config,
    }).reconcile();
    expect(
      await h.db.query('SELECT workflow FROM temporal_request WHERE workflow_id = $1', [`conversion/${id}`]),
    ).toEqual([{ workflow: 'conversion' }]);
  });
});

it('credits once, whenever its process ends', async () => {
  const one = await trade();
  await fund(one.id);
  await arrives('bitcoin', (await order(one.id)).payout_address, 'BTC', '0.06');
  await h.db.query(`INSERT INTO fail_point (name, action, remaining) VALUES ('swap.beforeCommit', 'throw', 1)`);
  expect(await follow(one.id)).toBe('Fail point swap.beforeCommit');
  expect((await get(one)).status).toBe('processing');
  expect(await follow(one.id)).toBeNull();
  expect(await balance(one.shop, 'BTC')).toBe('0.06');
});

it('goes on with what is under way when conversions are switched off', async () => {
  const one = await trade();
  await setSwitch(h.db.manager, 'conversions', false, 'test');
  const refused = await h.call('POST', '/api/v1/conversions', {
    key: one.shop.key,
    body: { fromCurrency: 'ETH', toCurrency: 'BTC', fromAmount: '1' },
  });
  expect([refused.status, refused.body.error]).toEqual([403, 'CONVERSIONS_DISABLED']);
  await fund(one.id);
  await arrives('bitcoin', (await order(one.id)).payout_address, 'BTC', '0.06');
  expect(await follow(one.id)).toBeNull();
  expect((await get(one)).status).toBe('completed');
  await setSwitch(h.db.manager, 'conversions', true, 'test');
});

it('signs nothing that its order does not want', async () => {
  const one = await trade();
  const next = (await swaps.followSwap(one.id)) as { id: string };
  const tamper = async (sql: string): Promise<void> => {
    await h.db.query('BEGIN');
    const [before] = await h.db.query<Array<{ outputs: unknown; ref: string }>>('SELECT * FROM intent WHERE id = $1', [
      next.id,
    ]);
    await h.db.query('COMMIT');
    await h.db.query(sql, [next.id]);
    await expect(signer.signOnce(next.id)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
    await h.db.query('UPDATE intent SET outputs = $2, ref = $3 WHERE id = $1', [
      next.id,
      JSON.stringify(before!.outputs),
      before!.ref,
    ]);
  };
  await tamper(`UPDATE intent SET outputs = jsonb_set(outputs, '{0,units}', '"1"') WHERE id = $1`);
  await tamper(
    `UPDATE intent SET outputs = jsonb_set(outputs, '{0,address}', '"0x00000000000000000000000000000000000000AA"')
       WHERE id = $1`,
  );
  await tamper(`UPDATE intent SET ref = 'another' WHERE id = $1`);
  expect(await signer.signOnce(next.id)).toEqual({ state: 'stored' });
  await h.db.query(
    `UPDATE attempt SET status = 'final', success = true, fee_units = 1, block_hash = 'b' WHERE intent_id = $1`,
    [next.id],
  );
  await h.db.query(`UPDATE intent SET status = 'final' WHERE id = $1`, [next.id]);
  await bookEnd(h.db, next.id);
});
