import { randomBytes } from 'node:crypto';
import { operate } from '../../api/operator';
import { createApiKey } from '../../db/access/api-keys';
import { audit } from '../../db/audit/audit';
import { lockConversion, moveConversion } from '../../db/conversions/conversions';
import { endInterrupted } from '../../commands/conversions/claim';
import { type ExternalConversions } from '../../commands/conversions/provider-quote';
import { readExposure } from '../../db/conversions/exposure';
import { post } from '../../db/ledger/ledger';
import { readBooks } from '../../db/readings/service';
import { setSwitch } from '../../db/access/switches';
import { DomainError } from '../../domain/errors';
import { failConversionJournal, type Account } from '../../domain/ledger/ledger';
import { adjustment } from '../../domain/ledger/entry';
import { add, compare, divide, subtract, times } from '../../domain/money';
import { Authenticator } from './authenticator';
import { atOnce, secretsKey, startHarness, type Answer, type Harness, type Shop } from './harness';
import { startMarkets, type Markets } from './markets';
import { Person } from './person';

/** Every rule of a conversion over HTTP, on real money in a real ledger; its rates come from the worker's own
 *  keeper. */

let h: Harness;
let markets: Markets;
beforeAll(async () => {
  h = await startHarness({ FAIL_POINTS: 'true' });
  markets = await startMarkets(h);
});
afterAll(async () => {
  await markets?.stop();
  await h?.stop();
});

/** Money of nobody's payment: the merchant's, and the platform's own liquidity. */
const credit = (journal: string, account: Account, asset: string, amount: string): Promise<string> =>
  h.db.transaction((tx) =>
    post(tx, {
      key: `test/${journal}`,
      entry: adjustment,
      postings: [{ debit: 'A:treasury', credit: account, asset, amount }],
    }),
  );
const fund = (shop: Pick<Shop, 'id'>, asset: string, amount: string) =>
  credit(randomBytes(8).toString('hex'), `L:available:${shop.id}`, asset, amount);
const back = (asset: string, amount: string) => credit(randomBytes(8).toString('hex'), 'Q:capital', asset, amount);

const base = { fromCurrency: 'ETH', toCurrency: 'USDT_ERC20', fromAmount: '1' };
const asQuery = (fields: object): string => new URLSearchParams(fields as Record<string, string>).toString();
const quote = (shop: Pick<Shop, 'key'>, fields: object = {}) =>
  h.call('GET', `/api/v1/conversions/quote?${asQuery({ ...base, ...fields })}`, { key: shop.key });
const execute = (shop: Pick<Shop, 'key'>, fields: object = {}) =>
  h.call('POST', '/api/v1/conversions', { key: shop.key, body: { ...base, ...fields } });
const get = (shop: Pick<Shop, 'key'>, path: string) => h.call('GET', `/api/v1/conversions${path}`, { key: shop.key });
const balanceOf = async (shop: Pick<Shop, 'key'>, currency: string): Promise<string> =>
  (await h.call('GET', '/api/v1/ledger/balances', { key: shop.key })).body.balances.find(
    (one: { currency: string }) => one.currency === currency,
  )?.balance;
const answered = (answer: Answer): [number, string] => [answer.status, answer.body.error?.code ?? answer.body.error];
const eventsOf = async (id: string): Promise<string[]> =>
  (
    await h.db.query<Array<{ type: string }>>(`SELECT type FROM event WHERE data::jsonb->>'_id' = $1 ORDER BY seq`, [
      id,
    ])
  ).map(({ type }) => type);

/** A merchant with money, and a treasury that can back it. Nobody's limit of calls is looked at but in the test of
 *  it. */
async function trader(eth = '10'): Promise<Shop> {
  const shop = await h.shop();
  await fund(shop, 'ETH', eth);
  await back('USDT_ERC20', '100000');
  return shop;
}
const unlimited = () => h.db.query('DELETE FROM rate_limit');
beforeEach(async () => {
  markets.move({ BTC: '64000', ETH: '3200', USDT_ERC20: '1', USDC_ERC20: '1' });
  await Promise.all([markets.look(), unlimited()]);
});
afterEach(async () => {
  const violations = await audit(h.db, { settleMs: 1 });
  expect(violations.filter(({ invariant }) => ['I1', 'I2', 'I3', 'I4', 'I13', 'I14'].includes(invariant))).toEqual([]);
});

describe('a quote', () => {
  it('has the figures of an execution, and moves nothing', async () => {
    const shop = await trader();
    const answer = await quote(shop);
    expect(answer.status).toBe(200);
    const { validUntil, ...rest } = answer.body;
    expect(rest).toEqual({
      fromCurrency: 'ETH',
      toCurrency: 'USDT_ERC20',
      fromAmount: 1,
      exchangeRate: 3200,
      commissionRate: 0.004,
      commissionAmount: 0.004,
      netFromAmount: 0.996,
      toAmount: 3187.2,
      fromAmountStr: '1',
      toAmountStr: '3187.2',
      executionMode: 'internal',
    });
    expect(Math.abs(Date.parse(validUntil) - Date.now() - 60_000)).toBeLessThan(5000);
    expect(await balanceOf(shop, 'ETH')).toBe('10');
    expect((await get(shop, '')).body).toEqual({ items: [], total: 0 });
  });

  it('takes amounts of 30 digits either side as text, and cuts what is too fine', async () => {
    const shop = await h.shop();
    const fine = await quote(shop, { fromAmount: `0.5${'0'.repeat(16)}19${'9'.repeat(11)}` });
    expect(fine.body.fromAmountStr).toBe('0.500000000000000001');
    expect(answered(await quote(shop, { fromAmount: '9'.repeat(30) }))).toEqual([400, 'QUOTE_FAILED']);
    for (const fromAmount of [
      '0',
      '-1',
      '1e3',
      '0x10',
      '1.',
      '.5',
      ' 1',
      '١',
      '1'.repeat(31),
      `0.${'1'.repeat(31)}`,
      '',
    ])
      expect([fromAmount, ...answered(await quote(shop, { fromAmount }))]).toEqual([
        fromAmount,
        400,
        'VALIDATION_ERROR',
      ]);
  });

  it('tells the part of the fee that small amounts pay', async () => {
    const { body } = await quote(await h.shop(), { fromAmount: '0.001' });
    expect(body.commissionRate).toBeCloseTo(body.commissionAmount / body.fromAmount, 9);
    expect(body.commissionRate).toBeGreaterThan(0.004);
    expect(body.feeBreakdown.platformFeePct + body.feeBreakdown.providerFeePct).toBeCloseTo(body.commissionRate * 100);
  });

  it('suggests an amount where it refuses, and that amount is quoted', async () => {
    const shop = await h.shop();
    for (const fromAmount of ['0.0000001', '5000']) {
      const refused = await quote(shop, { fromAmount });
      expect(answered(refused)).toEqual([400, 'QUOTE_FAILED']);
      const [, suggested] = /(\d[\d.]*) ETH$/.exec(refused.body.error.message)!;
      expect((await quote(shop, { fromAmount: suggested })).status).toBe(200);
    }
  });

  it.each([
    [{ toCurrency: 'eth' }, 400, 'SAME_CURRENCY'],
    [{ toCurrency: 'DOGE' }, 400, 'VALIDATION_ERROR'],
    [{ fromCurrency: 'nope' }, 400, 'VALIDATION_ERROR'],
  ])('refuses %j', async (fields, status, code) => {
    expect(answered(await quote(await h.shop(), fields))).toEqual([status, code]);
  });

  it('names the property that is missing', async () => {
    const answer = await h.call('GET', '/api/v1/conversions/quote?fromCurrency=ETH&toCurrency=BTC', {
      key: (await h.shop()).key,
    });
    expect(answered(answer)).toEqual([400, 'VALIDATION_ERROR']);
    expect(answer.body.error.message).toContain('fromAmount');
  });

  it('is 503 without a fresh rate, and nothing is written', async () => {
    const shop = await trader();
    await h.db.query(`UPDATE rate_latest SET taken_at = now() - interval '1 hour' WHERE currency = 'ETH'`);
    expect(answered(await quote(shop))).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
    expect(answered(await execute(shop))).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
    expect((await get(shop, '')).body.total).toBe(0);
  });

  it('may be asked for 30 times a minute, best-route 3 times, an execution 5 times', async () => {
    const shop = await h.shop();
    const limits: Array<[number, () => Promise<Answer>]> = [
      [30, () => quote(shop)],
      [3, () => get(shop, '/best-route?toCurrency=BTC')],
      [5, () => execute(shop, { fromCurrency: 'BTC' })],
    ];
    for (const [points, call] of limits) {
      const statuses = await Promise.all(Array.from({ length: points + 3 }, async () => (await call()).status));
      expect(statuses.filter((status) => status === 429)).toHaveLength(3);
    }
  });
});

describe('an execution', () => {
  it('debits, credits and completes at once', async () => {
    const shop = await trader();
    const { body: seen } = await quote(shop, { fromAmount: '1.000000000000000001' });
    const answer = await execute(shop, {
      fromAmount: seen.fromAmountStr,
      quotedRate: seen.exchangeRate,
      quotedToAmount: seen.toAmountStr,
      idempotencyKey: 'order 1',
    });
    expect(answer.status).toBe(201);
    const { _id, requestedAt, completedAt, createdAt, updatedAt, ...rest } = answer.body;
    expect(rest).toEqual({
      merchantId: shop.id,
      fromCurrency: 'ETH',
      toCurrency: 'USDT_ERC20',
      fromAmount: 1,
      toAmount: seen.toAmount,
      exchangeRate: 3200,
      commissionRate: 0.004,
      commissionAmount: seen.commissionAmount,
      netFromAmount: seen.netFromAmount,
      status: 'completed',
      stateVersion: 2,
      livemode: true,
      executionMode: 'internal',
      idempotencyKey: 'order 1',
    });
    for (const time of [requestedAt, completedAt, createdAt, updatedAt]) expect(Date.parse(time)).not.toBeNaN();
    expect(await balanceOf(shop, 'ETH')).toBe(subtract('10', '1.000000000000000001'));
    expect(await balanceOf(shop, 'USDT_ERC20')).toBe(seen.toAmountStr);
    expect((await get(shop, `/${_id}`)).body).toEqual(answer.body);
    expect(await eventsOf(_id)).toEqual(['conversion.completed']);

    const history = await h.call('GET', `/api/v1/ledger/history?sourceType=conversion&sourceId=${_id}`, {
      key: shop.key,
    });
    expect(
      history.body.items.map(({ type, currency, amount }: Record<string, string>) => [type, currency, amount]).sort(),
    ).toEqual([
      ['conversion_credit', 'USDT_ERC20', seen.toAmountStr],
      ['conversion_debit', 'ETH', '-1.000000000000000001'],
    ]);
    const postings = await h.db.query<Array<{ credit: string; asset: string; amount: string }>>(
      `SELECT p.credit, p.asset, trim_scale(p.amount)::text AS amount FROM posting p
         JOIN journal j ON j.id = p.journal_id WHERE j.key = $1 ORDER BY p.id`,
      [`conversion/${_id}/internal`],
    );
    expect(postings).toEqual([
      { credit: 'I:commission', asset: 'ETH', amount: '0.004000000000000001' },
      { credit: 'Q:fx', asset: 'ETH', amount: '0.996' },
      { credit: `L:available:${shop.id}`, asset: 'USDT_ERC20', amount: seen.toAmountStr },
    ]);
  });

  it('takes numbers and any case too, and happens twice where no key says otherwise', async () => {
    const shop = await trader();
    const body = { fromCurrency: 'eth', toCurrency: 'usdt_erc20', fromAmount: 0.25 };
    const [one, two] = [await execute(shop, body), await execute(shop, body)];
    expect([one.status, two.status]).toEqual([201, 201]);
    expect(one.body._id).not.toBe(two.body._id);
    expect(one.body).not.toHaveProperty('idempotencyKey');
    expect(await balanceOf(shop, 'ETH')).toBe('9.5');
  });

  it.each([
    [{ toCurrency: 'ETH' }, 400, 'SAME_CURRENCY'],
    [{ toCurrency: 'DOGE' }, 400, 'VALIDATION_ERROR'],
    [{ fromCurrency: 7 }, 400, 'VALIDATION_ERROR'],
    [{ fromAmount: '0' }, 400, 'VALIDATION_ERROR'],
    [{ fromAmount: 0 }, 400, 'VALIDATION_ERROR'],
    [{ fromAmount: -1 }, 400, 'VALIDATION_ERROR'],
    [{ fromAmount: '1e2' }, 400, 'VALIDATION_ERROR'],
    [{ fromAmount: 1e40 }, 400, 'VALIDATION_ERROR'],
    [{ fromAmount: null }, 400, 'VALIDATION_ERROR'],
    [{ quotedRate: 0 }, 400, 'VALIDATION_ERROR'],
    [{ quotedRate: '3200' }, 400, 'VALIDATION_ERROR'],
    [{ quotedToAmount: 3187 }, 400, 'VALIDATION_ERROR'],
    [{ idempotencyKey: '' }, 400, 'VALIDATION_ERROR'],
    [{ idempotencyKey: 'k'.repeat(257) }, 400, 'VALIDATION_ERROR'],
    [{ fromAmount: '0.0000001' }, 400, 'CONVERSION_FAILED'],
    [{ fromAmount: '31' }, 400, 'CONVERSION_FAILED'],
    [{ fromAmount: '5000' }, 400, 'CONVERSION_FAILED'],
  ])('refuses %j and moves nothing', async (fields, status, code) => {
    const shop = await trader();
    expect(answered(await execute(shop, fields))).toEqual([status, code]);
    expect(await balanceOf(shop, 'ETH')).toBe('10');
  });

  it('that the balance does not cover is kept as failed, without a quote', async () => {
    const shop = await trader('0.5');
    const refused = await execute(shop, { idempotencyKey: 'k' });
    expect(refused.body).toEqual({
      ok: false,
      error: { code: 'CONVERSION_FAILED', message: 'The balance does not cover this conversion' },
    });
    const { items } = (await get(shop, '?idempotencyKey=k')).body;
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ status: 'failed', fromAmount: 1, merchantMessage: refused.body.error.message });
    for (const field of ['toAmount', 'exchangeRate', 'commissionRate', 'commissionAmount', 'netFromAmount'])
      expect(items[0]).not.toHaveProperty(field);
    expect(await eventsOf(items[0]._id)).toEqual(['conversion.failed']);
    // It moved nothing, so that its key may try again.
    await fund(shop, 'ETH', '1');
    expect((await execute(shop, { idempotencyKey: 'k' })).status).toBe(201);
  });
});

describe('a market that moved', () => {
  it('by 2 % refuses what was quoted before, with a new quote, and moves nothing', async () => {
    const shop = await trader();
    const { body: seen } = await quote(shop);
    markets.move({ ETH: '3136' });
    await markets.look();
    const guards = [
      { quotedRate: seen.exchangeRate },
      { quotedToAmount: seen.toAmountStr },
      { quotedRate: seen.exchangeRate, quotedToAmount: seen.toAmountStr },
    ];
    for (const guard of guards) {
      const refused = await execute(shop, guard);
      expect(answered(refused)).toEqual([409, 'RATE_DRIFT']);
      expect(Object.keys(refused.body).sort()).toEqual(['driftPct', 'error', 'message', 'newQuote']);
      expect(refused.body.driftPct).toBeCloseTo(2, 3);
      expect(refused.body.newQuote).toMatchObject({
        exchangeRate: 3136,
        fromAmountStr: '1',
        executionMode: 'internal',
      });
    }
    expect((await get(shop, '')).body.total).toBe(0);
    const fresh = (await quote(shop)).body;
    expect((await execute(shop, { quotedRate: fresh.exchangeRate, quotedToAmount: fresh.toAmountStr })).status).toBe(
      201,
    );
  });

  it('beyond every number is told as one, and infinities are no numbers', async () => {
    const shop = await trader();
    const refused = await execute(shop, { quotedRate: 5e-324 });
    expect(answered(refused)).toEqual([409, 'RATE_DRIFT']);
    expect(refused.body.driftPct).toBeGreaterThan(1e300);
    expect(answered(await execute(shop, { quotedRate: 1.7e308 }))).toEqual([409, 'RATE_DRIFT']);
    const fields = JSON.stringify(base).slice(1, -1);
    const wrong = await h.call('POST', '/api/v1/conversions', {
      key: shop.key,
      text: `{${fields},"quotedRate":1e400}`,
    });
    expect(answered(wrong)).toEqual([400, 'VALIDATION_ERROR']);
    expect(await balanceOf(shop, 'ETH')).toBe('10');
  });

  it('in one’s favour stops at the rate, not at the output', async () => {
    const shop = await trader();
    const { body: seen } = await quote(shop);
    markets.move({ ETH: '3300' });
    await markets.look();
    expect(answered(await execute(shop, { quotedRate: seen.exchangeRate }))).toEqual([409, 'RATE_DRIFT']);
    const done = await execute(shop, { quotedToAmount: seen.toAmountStr });
    expect([done.status, done.body.exchangeRate]).toEqual([201, 3300]);
  });

  it('since the stored rate is noticed at execution, with nothing quoted, and leaves a cancelled row', async () => {
    const shop = await trader();
    markets.move({ ETH: '3136' });
    const refused = await execute(shop, { idempotencyKey: 'k' });
    expect(answered(refused)).toEqual([409, 'RATE_DRIFT']);
    expect(refused.body.newQuote.exchangeRate).toBe(3136);
    const [row] = (await get(shop, '?idempotencyKey=k')).body.items;
    expect(row).toMatchObject({ status: 'cancelled', fromAmount: 1, executionMode: 'internal' });
    expect(row.merchantMessage).toMatch(/1 %/);
    for (const field of ['toAmount', 'exchangeRate', 'commissionRate', 'commissionAmount', 'netFromAmount'])
      expect(row).not.toHaveProperty(field);
    expect(await eventsOf(row._id)).toEqual(['conversion.cancelled']);
    expect(await balanceOf(shop, 'ETH')).toBe('10');
    const again = await execute(shop, { idempotencyKey: 'k' });
    expect([again.status, again.body.exchangeRate]).toEqual([201, 3136]);
    expect((await get(shop, '?idempotencyKey=k')).body.total).toBe(2);
  });

  it('by less is executed at what the market says then', async () => {
    const shop = await trader();
    const { body: seen } = await quote(shop);
    markets.move({ ETH: '3190' });
    const done = await execute(shop, { quotedRate: seen.exchangeRate, quotedToAmount: seen.toAmountStr });
    expect([done.status, done.body.exchangeRate]).toEqual([201, 3190]);
  });

  it('is told before a replay', async () => {
    const shop = await trader();
    const { body: seen } = await quote(shop);
    const fields = { idempotencyKey: 'k', quotedRate: seen.exchangeRate };
    const first = await execute(shop, fields);
    markets.move({ ETH: '3136' });
    await markets.look();
    expect(answered(await execute(shop, fields))).toEqual([409, 'RATE_DRIFT']);
    const replay = await execute(shop, { idempotencyKey: 'k' });
    expect([replay.status, replay.body]).toEqual([201, first.body]);
  });

  it('that nobody looks at executes nothing: 503 and a cancelled row', async () => {
    const shop = await trader();
    const look = jest.spyOn(h.api.deps.freshRates, 'look').mockRejectedValue(new DomainError('RATE_UNAVAILABLE'));
    try {
      expect(answered(await execute(shop, { idempotencyKey: 'k' }))).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
    } finally {
      look.mockRestore();
    }
    expect((await get(shop, '?idempotencyKey=k')).body.items).toMatchObject([{ status: 'cancelled' }]);
    expect(await balanceOf(shop, 'ETH')).toBe('10');
  });
});

describe('a key', () => {
  it('E: replays what it has completed', async () => {
    const shop = await trader();
    const first = await execute(shop, { idempotencyKey: 'k' });
    const again = await execute(shop, { idempotencyKey: 'k' });
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(again.body).toEqual(first.body);
    expect(await balanceOf(shop, 'ETH')).toBe('9');
    // Another merchant's key is another key.
    const other = await trader();
    expect((await execute(other, { idempotencyKey: 'k' })).body._id).not.toBe(first.body._id);
  });

  it.each<[string, string, string]>([
    [
      'its pair is off',
      `INSERT INTO conversion_pair (from_currency, to_currency, mode) VALUES ('ETH', 'USDT_ERC20', 'off')`,
      'CONVERSION_FAILED',
    ],
    ['its position is at its limit', `UPDATE fx_position SET limit_usd = 1 WHERE asset = 'ETH'`, 'CONVERSION_FAILED'],
    [
      'its pair takes less at once',
      `INSERT INTO conversion_pair (from_currency, to_currency, mode, max_usd)
         VALUES ('ETH', 'USDT_ERC20', 'internal', 10)`,
      'CONVERSION_FAILED',
    ],
    ['its rates are stale', `UPDATE rate_latest SET taken_at = now() - interval '1 hour'`, 'UPSTREAM_UNAVAILABLE'],
    [
      'conversions are switched off',
      `INSERT INTO platform_switch (name, is_on, reason) VALUES ('conversions', false, 'test')
         ON CONFLICT (name) DO UPDATE SET is_on = false`,
      'CONVERSIONS_DISABLED',
    ],
  ])('replays what it has executed though %s, with what was accepted and without', async (_what, change, code) => {
    const shop = await trader();
    const { body: seen } = await quote(shop);
    const accepted = { quotedRate: seen.exchangeRate, quotedToAmount: seen.toAmountStr };
    const first = await execute(shop, { ...accepted, idempotencyKey: 'k' });
    expect(first.status).toBe(201);
    await h.db.query(change);
    try {
      for (const guard of [accepted, {}]) {
        const again = await execute(shop, { ...guard, idempotencyKey: 'k' });
        expect([again.status, again.body]).toEqual([201, first.body]);
        expect(answered(await execute(shop, { ...guard, idempotencyKey: 'k', fromAmount: '2' }))).toEqual([
          409,
          'IDEMPOTENCY_KEY_CONSUMED',
        ]);
        await unlimited();
        // Where the key is free, it is refused.
        for (const key of [{ idempotencyKey: 'other' }, {}])
          expect(answered(await execute(shop, { ...guard, ...key }))[1]).toBe(code);
        await unlimited();
      }
    } finally {
      await h.db.query('DELETE FROM conversion_pair');
      await h.db.query('UPDATE fx_position SET limit_usd = NULL');
      await setSwitch(h.db, 'conversions', true, 'test');
      await markets.look();
    }
    expect(await balanceOf(shop, 'ETH')).toBe('9');
    expect((await get(shop, '')).body.total).toBe(1);
  });

  it('that has moved money for something else is consumed', async () => {
    const shop = await trader();
    await execute(shop, { idempotencyKey: 'k' });
    expect(answered(await execute(shop, { idempotencyKey: 'k', fromAmount: '2' }))).toEqual([
      409,
      'IDEMPOTENCY_KEY_CONSUMED',
    ]);
    expect(await balanceOf(shop, 'ETH')).toBe('9');
  });

  it('still running is in progress, and free again when what ran was interrupted', async () => {
    const shop = await trader();
    await h.db.query(
      `INSERT INTO conversion (id, merchant_id, idempotency_key, body_hash, status, execution_mode, from_currency,
         to_currency, from_amount)
       VALUES ($1, $2, 'k', 'x', 'initializing', 'internal', 'ETH', 'USDT_ERC20', 1)`,
      [randomBytes(12).toString('hex'), shop.id],
    );
    expect(answered(await execute(shop, { idempotencyKey: 'k' }))).toEqual([409, 'CONVERSION_IN_PROGRESS']);
    await h.db.transaction(endInterrupted);
    expect(answered(await execute(shop, { idempotencyKey: 'k' }))).toEqual([409, 'CONVERSION_IN_PROGRESS']);
    await h.db.query(`UPDATE conversion SET updated_at = now() - interval '21 seconds' WHERE merchant_id = $1`, [
      shop.id,
    ]);
    expect(await h.db.transaction(endInterrupted)).toBe(1);
    const [row] = (await get(shop, '?idempotencyKey=k')).body.items;
    expect(row).toMatchObject({ status: 'cancelled', merchantMessage: expect.stringContaining('interrupted') });
    for (const field of ['toAmount', 'exchangeRate', 'commissionRate', 'commissionAmount', 'netFromAmount'])
      expect(row).not.toHaveProperty(field);
    expect(await eventsOf(row._id)).toEqual(['conversion.cancelled']);
    expect((await execute(shop, { idempotencyKey: 'k' })).status).toBe(201);
    expect(await balanceOf(shop, 'ETH')).toBe('9');
  });

  it('so slow that its claim was ended meanwhile moves nothing', async () => {
    const shop = await trader();
    const look = jest.spyOn(h.api.deps.freshRates, 'look').mockImplementation(async () => {
      await h.db.query(`UPDATE conversion SET updated_at = now() - interval '21 seconds' WHERE merchant_id = $1`, [
        shop.id,
      ]);
      expect(await h.db.transaction(endInterrupted)).toBe(1);
    });
    expect(answered(await execute(shop, { idempotencyKey: 'k' }))).toEqual([409, 'CONVERSION_IN_PROGRESS']);
    look.mockRestore();
    const [row] = (await get(shop, '?idempotencyKey=k')).body.items;
    expect(row.status).toBe('cancelled');
    expect(await eventsOf(row._id)).toEqual(['conversion.cancelled']);
    expect(await balanceOf(shop, 'ETH')).toBe('10');
  });
});

describe('a key with a limit of dollars a day', () => {
  it('converts so much and no more, at once or one after the other; other keys go on', async () => {
    const shop = await trader();
    const { apiKey: key } = await createApiKey(h.db, shop.id, {
      secretsKey,
      name: 'till',
      createdBy: null,
      scopes: ['conversions:execute', 'conversions:read'],
      dailyUsd: '1000.00',
    });
    // 320 USD each: three of them.
    const answers = await unlimitedAtOnce(8, (n) => execute({ key }, { fromAmount: '0.1', idempotencyKey: `k${n}` }));
    expect(count(answers)).toEqual({ '201': 3, '403 API_KEY_LIMIT_EXCEEDED': 5 });
    expect(await balanceOf(shop, 'ETH')).toBe('9.7');
    expect((await get(shop, '')).body.total).toBe(3);
    const refused = answers.findIndex(({ status }) => status === 403);
    const again = () => execute({ key }, { fromAmount: '0.1', idempotencyKey: `k${refused}` });
    expect((await again()).status).toBe(403);
    expect((await execute(shop, { fromAmount: '0.1' })).status).toBe(201);
    // What has been executed is answered again, and a day later there is room.
    const done = answers.findIndex(({ status }) => status === 201);
    expect((await execute({ key }, { fromAmount: '0.1', idempotencyKey: `k${done}` })).body).toEqual(
      answers[done]!.body,
    );
    await h.db.query(`UPDATE conversion SET created_at = created_at - interval '1 day' WHERE merchant_id = $1`, [
      shop.id,
    ]);
    expect((await again()).status).toBe(201);
  });
});

/** All at once, whatever the limit of calls. */
async function unlimitedAtOnce(count: number, ask: (n: number) => Promise<Answer>): Promise<Answer[]> {
  const open = jest
    .spyOn(h.api.deps.limits, 'consume')
    .mockResolvedValue({ limit: 1000, left: 1000, resetSeconds: 60 } as never);
  try {
    return await atOnce(count, ask);
  } finally {
    open.mockRestore();
  }
}
const count = (answers: readonly Answer[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const answer of answers) {
    const [status, code] = answered(answer);
    const name = `${status} ${code ?? ''}`.trim();
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};

describe('at once', () => {
  it('100 with one key move the money once', async () => {
    const shop = await trader();
    const answers = await unlimitedAtOnce(100, () => execute(shop, { idempotencyKey: 'k' }));
    const counts = count(answers);
    expect(Object.keys(counts).every((name) => ['201', '409 CONVERSION_IN_PROGRESS'].includes(name))).toBe(true);
    expect(counts['201']).toBeGreaterThanOrEqual(1);
    expect(new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body._id)).size).toBe(1);
    expect(await balanceOf(shop, 'ETH')).toBe('9');
    expect((await get(shop, '')).body.total).toBe(1);
  });

  it('100 on one balance never spend more than it has', async () => {
    const shop = await trader('7.3');
    const answers = await unlimitedAtOnce(100, (n) => execute(shop, { idempotencyKey: `k${n}`, fromAmount: '0.5' }));
    expect(count(answers)).toEqual({ '201': 14, '400 CONVERSION_FAILED': 86 });
    expect(await balanceOf(shop, 'ETH')).toBe('0.3');
    expect(await balanceOf(shop, 'USDT_ERC20')).toBe(times('14', '1593.6', 6, 'down'));
  });

  it('many into one asset never owe more than the treasury holds of it', async () => {
    const shops = await Promise.all(Array.from({ length: 4 }, () => h.shop()));
    for (const shop of shops) await fund(shop, 'ETH', '10');
    const [free] = await h.db.query<Array<{ free: string }>>(
      `SELECT (SELECT coalesce(sum(amount), 0) FROM posting WHERE debit = 'A:treasury' AND asset = 'USDC_ERC20')
            - (SELECT coalesce(sum(amount), 0) FROM balance WHERE asset = 'USDC_ERC20') AS free`,
    );
    // Enough for seven of them.
    await back('USDC_ERC20', subtract('11200', free!.free));
    const answers = await unlimitedAtOnce(40, (n) =>
      execute(shops[n % 4]!, { toCurrency: 'USDC_ERC20', fromAmount: '0.5' }),
    );
    expect(count(answers)).toEqual({ '201': 7, '400 CONVERSION_FAILED': 33 });
    const refused = answers.find(({ status }) => status === 400)!;
    expect(refused.body.error.message).toBe('Not enough USDC_ERC20 is available at present');
    expect((await get(shops[0]!, '/liquidity')).body.liquidity.USDC_ERC20).toBe(true);
  });

  it('100 that quoted before the market moved by 2 % are each refused, and nothing has moved', async () => {
    const shop = await trader();
    const { body: seen } = await quote(shop);
    const guards = [{ quotedRate: seen.exchangeRate }, { quotedToAmount: seen.toAmountStr }, {}];
    // The stored rate is still the old one: the market itself is asked.
    markets.move({ ETH: '3136' });
    const answers = await unlimitedAtOnce(100, (n) => execute(shop, { idempotencyKey: `k${n}`, ...guards[n % 3] }));
    expect(count(answers)).toEqual({ '409 RATE_DRIFT': 100 });
    for (const { body } of answers) expect([body.driftPct, body.newQuote.exchangeRate]).toEqual([2, 3136]);
    expect(await balanceOf(shop, 'ETH')).toBe('10');
    expect((await get(shop, '?status=cancelled&limit=1')).body.total).toBe((await get(shop, '')).body.total);
  });

  it.each([
    ['taken in', 'ETH'],
    ['given', 'USDT_ERC20'],
  ])(
    'many leave no position beyond its limit in what is %s',
    async (_side, asset) => {
      const shops = await Promise.all(Array.from({ length: 4 }, () => trader()));
      const usdOf = async (): Promise<string> => {
        const { positionUsd } = (await readExposure(h.db, h.api.deps.config.networks)).assets.find(
          ({ currency }) => currency === asset,
        )!;
        return asset === 'ETH' ? positionUsd! : subtract('0', positionUsd!);
      };
      // Room for seven of 0.498 ETH, and a little.
      const limit = add(await usdOf(), '11200');
      await h.db.query('UPDATE fx_position SET limit_usd = $2 WHERE asset = $1', [asset, limit]);
      try {
        const answers = await unlimitedAtOnce(40, (n) => execute(shops[n % 4]!, { fromAmount: '0.5' }));
        expect(count(answers)).toEqual({ '201': 7, '400 CONVERSION_FAILED': 33 });
        const left = subtract(limit, await usdOf());
        expect([compare(left, '0'), compare(left, '1593.6')]).toEqual([1, -1]);
      } finally {
        await h.db.query('UPDATE fx_position SET limit_usd = NULL');
      }
    },
    60_000,
  );

  it('back and forth between two assets, nobody waits for ever, and nobody gains', async () => {
    const shop = await trader('20');
    await back('ETH', '100');
    await fund(shop, 'USDT_ERC20', '64000');
    const answers = await unlimitedAtOnce(60, (n) =>
      execute(shop, n % 2 ? {} : { fromCurrency: 'USDT_ERC20', toCurrency: 'ETH', fromAmount: '3200' }),
    );
    expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(20);
    const worth = add(times(await balanceOf(shop, 'ETH'), '3200', 18, 'up'), await balanceOf(shop, 'USDT_ERC20'));
    expect(compare(worth, '128000')).toBeLessThan(0);
  });
});

/** One signed-in admin for all, whose merchant has money again each time, and who has guessed nothing yet. */
let ann: { person: Person; id: string } | undefined;
async function admin(): Promise<{ person: Person; id: string; made: number }> {
  if (!ann) {
    const person = await Person.admin(h);
    ann = { person, id: (await person.get('/api/v1/auth/me')).body.merchantId };
  }
  await h.db.query('DELETE FROM wrong_factor');
  await fund(ann, 'ETH', '10');
  await back('USDT_ERC20', '100000');
  return { ...ann, made: (await ann.person.get('/api/v1/conversions')).body.total };
}

describe('a session', () => {
  const path = '/api/v1/conversions';
  it('brings an OTP, which is spent with the money', async () => {
    const { person } = await admin();
    const otpCode = await person.code();
    const done = await person.post(path, { ...base, otpCode });
    expect([done.status, done.body.status]).toEqual([201, 'completed']);
    const again = await person.post(path, { ...base, otpCode });
    expect([again.status, again.body]).toEqual([401, { error: 'The OTP or passkey is wrong, used or expired' }]);
    const [act] = await h.db.query(
      `SELECT action, target FROM audit_log WHERE action LIKE 'conversion.%' ORDER BY id DESC LIMIT 1`,
    );
    expect(act).toEqual({ action: 'conversion.executed', target: done.body._id });
  });

  it('is refused without one, with a wrong one, and with one too many', async () => {
    const { person, made } = await admin();
    const none = await person.post(path, base);
    expect(answered(none)).toEqual([400, 'MFA_REQUIRED']);
    const half = await person.post(path, { ...base, passkeyResponse: {} });
    expect(answered(half)).toEqual([400, 'MFA_REQUIRED']);
    const malformed = await person.post(path, { ...base, otpCode: '12345' });
    expect(answered(malformed)).toEqual([400, 'VALIDATION_ERROR']);
    const wrong = await person.post(path, { ...base, otpCode: '000000' });
    expect([wrong.status, Object.keys(wrong.body)]).toEqual([401, ['error']]);
    const passkey = await person.post(path, { ...base, passkeyResponse: { id: 'x' }, challengeKey: 'y' });
    expect([passkey.status, Object.keys(passkey.body)]).toEqual([401, ['error']]);
    // What came to nothing leaves nothing, and its key is free.
    expect((await person.get(path)).body.total).toBe(made);
  });

  it('does not spend its OTP on a drift, nor on what the balance does not cover', async () => {
    const { person } = await admin();
    const otpCode = await person.code();
    expect(answered(await person.post(path, { ...base, otpCode, quotedRate: 3000 }))).toEqual([409, 'RATE_DRIFT']);
    markets.move({ ETH: '3136' });
    expect(answered(await person.post(path, { ...base, otpCode }))).toEqual([409, 'RATE_DRIFT']);
    expect(answered(await person.post(path, { ...base, fromAmount: '31', otpCode }))).toEqual([
      400,
      'CONVERSION_FAILED',
    ]);
    expect((await person.post(path, { ...base, otpCode })).status).toBe(201);
  });

  it('may bring a passkey, whose challenge a drift does not spend', async () => {
    const { person } = await admin();
    const passkey = new Authenticator('http://localhost:3002');
    await h.db.query(
      `INSERT INTO passkey (id, user_id, credential_id, public_key, counter, name)
       SELECT $2, id, $3, $4, 0, 'key' FROM dashboard_user WHERE email = $1`,
      [person.email, randomBytes(12).toString('hex'), passkey.credentialId, passkey.publicKey],
    );
    const factor = async (action: string) => {
      const { data } = (await person.post('/api/v1/auth/mfa/passkey-options', { action })).body;
      return { passkeyResponse: passkey.answer(data.options), challengeKey: data.challengeKey };
    };
    const fields = await factor('conversion');
    expect(answered(await person.post(path, { ...base, ...fields, quotedRate: 3000 }))).toEqual([409, 'RATE_DRIFT']);
    expect((await person.post(path, { ...base, ...fields })).status).toBe(201);
    expect((await person.post(path, { ...base, ...fields })).status).toBe(401);
    expect((await person.post(path, { ...base, ...(await factor('refund')) })).status).toBe(401);
    const both = { ...(await factor('conversion')), otpCode: await person.code() };
    await unlimited();
    expect(answered(await person.post(path, { ...base, ...both }))).toEqual([400, 'MFA_REQUIRED']);
  });

  it('that guesses is locked out', async () => {
    const { person } = await admin();
    const answers: Answer[] = [];
    for (let n = 0; n < 12; n += 1) {
      await unlimited();
      answers.push(await person.post(path, { ...base, otpCode: '000000' }));
    }
    const last = answers.at(-1)!;
    expect([last.status, Object.keys(last.body)]).toEqual([429, ['error']]);
    expect(last.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(answers[0]!.status).toBe(401);
  });

  it.each([
    ['totp_enabled_at = NULL, totp_secret_sealed = NULL', 403, 'MFA_SETUP_REQUIRED'],
    ['totp_secret_sealed = NULL', 403, 'TOTP_MISCONFIGURED'],
  ])('of an account with %s gets %i %s', async (change, status, code) => {
    const { person, made } = await admin();
    const otpCode = await person.code();
    const [was] = await h.db.query<object[]>(
      'SELECT totp_enabled_at, totp_secret_sealed FROM dashboard_user WHERE email = $1',
      [person.email],
    );
    await h.db.query('DELETE FROM passkey');
    await h.db.query(`UPDATE dashboard_user SET ${change} WHERE email = $1`, [person.email]);
    h.api.deps.sessions.forget();
    expect(answered(await person.post(path, { ...base, otpCode }))).toEqual([status, code]);
    expect((await person.get(path)).body.total).toBe(made);
    await h.db.query('UPDATE dashboard_user SET totp_enabled_at = $2, totp_secret_sealed = $3 WHERE email = $1', [
      person.email,
      ...Object.values(was!),
    ]);
    h.api.deps.sessions.forget();
  });

  it('of an account that is gone is told so, and nothing is left', async () => {
    const { person, made } = await admin();
    const otpCode = await person.code();
    const remove = (at: string) =>
      h.db.query(`UPDATE dashboard_user SET removed_at = ${at} WHERE email = $1`, [person.email]);
    // It goes after the session was looked at.
    const look = jest
      .spyOn(h.api.deps.freshRates, 'look')
      .mockImplementationOnce(async () => void (await remove('now()')));
    try {
      const refused = await person.post(path, { ...base, otpCode });
      expect([refused.status, refused.body]).toEqual([
        401,
        { ok: false, error: { code: 'USER_NOT_FOUND', message: 'The user no longer exists' } },
      ]);
    } finally {
      look.mockRestore();
      await remove('NULL');
    }
    expect((await person.get(path)).body.total).toBe(made);
    expect((await person.post(path, { ...base, otpCode })).status).toBe(201);
  });

  it('brings a factor to a repeat too, which does not use it', async () => {
    const { person } = await admin();
    const asked = { ...base, idempotencyKey: 'ann' };
    const first = await person.post(path, { ...asked, otpCode: await person.code() });
    expect(answered(await person.post(path, asked))).toEqual([400, 'MFA_REQUIRED']);
    const otpCode = await person.code();
    for (const factor of [{ otpCode }, { otpCode: '000000' }, { passkeyResponse: { id: 'x' }, challengeKey: 'x' }]) {
      const again = await person.post(path, { ...asked, ...factor });
      expect([again.status, again.body]).toEqual([201, first.body]);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
    }
    expect(await h.db.query('SELECT FROM wrong_factor')).toEqual([]);
    await unlimited();
    expect((await person.post(path, { ...base, otpCode })).status).toBe(201);
  });
});

describe('a process that dies', () => {
  /** Throws there once; a kill is the same with the row left behind, which is looked at above. */
  const arm = (name: string) =>
    h.db.query(
      `INSERT INTO fail_point (name, action, remaining) VALUES ($1, 'throw', 1)
         ON CONFLICT (name) DO UPDATE SET remaining = 1`,
      [name],
    );

  it('with the key claimed has moved nothing, and the key is free', async () => {
    const shop = await trader();
    await arm('conversion.afterClaim');
    expect((await execute(shop, { idempotencyKey: 'k' })).status).toBe(500);
    expect((await get(shop, '')).body.items).toMatchObject([{ status: 'initializing' }]);
    await h.db.query(`UPDATE conversion SET updated_at = now() - interval '21 seconds' WHERE merchant_id = $1`, [
      shop.id,
    ]);
    // Whoever comes next with the key ends what was interrupted.
    expect((await execute(shop, { idempotencyKey: 'k' })).status).toBe(201);
    expect((await get(shop, '')).body.items).toMatchObject([{ status: 'completed' }, { status: 'cancelled' }]);
    expect(await balanceOf(shop, 'ETH')).toBe('9');
  });

  it('after the commit answers the same conversion to the same key', async () => {
    const shop = await trader();
    await arm('conversion.afterCommit');
    expect((await execute(shop, { idempotencyKey: 'k' })).status).toBe(500);
    const again = await execute(shop, { idempotencyKey: 'k' });
    expect([again.status, again.body.status]).toEqual([201, 'completed']);
    expect((await get(shop, '')).body).toEqual({ items: [again.body], total: 1 });
    expect(await balanceOf(shop, 'ETH')).toBe('9');
  });

  it('before the commit has spent neither money nor factor', async () => {
    const { person, id } = await admin();
    const held = () =>
      h.db.query(`SELECT trim_scale(amount)::text AS amount FROM balance WHERE account = $1`, [`L:available:${id}`]);
    const before = await held();
    const body = { ...base, idempotencyKey: 'dies', otpCode: await person.code() };
    await arm('conversion.beforeCommit');
    expect((await person.post('/api/v1/conversions', body)).status).toBe(500);
    expect(await held()).toEqual(before);
    const again = await person.post('/api/v1/conversions', body);
    expect([again.status, again.body.status]).toEqual([201, 'completed']);
  });
});

describe('a pair that is executed elsewhere', () => {
  /** Whoever executes it is played here; the adapter and its provider have tests of their own. */
  const deps = () => h.api.deps as { external?: ExternalConversions };
  let own: ExternalConversions | undefined;
  beforeEach(async () => {
    own = deps().external;
    await h.db.query(
      `INSERT INTO conversion_pair (from_currency, to_currency, mode) VALUES ('ETH', 'BTC', 'external')`,
    );
    deps().external = {
      quote: async () => ({
        providerFee: '0.0005',
        toAmount: '0.0491',
        priceProtectionPct: '0.8',
        estimatedSeconds: 900,
      }),
    };
  });
  afterEach(async () => {
    deps().external = own;
    await h.db.query('DELETE FROM conversion_pair');
  });
  const fields = { toCurrency: 'BTC', idempotencyKey: 'k' };

  it('is quoted with what arrives at least, its band, its time and both parts of the fee', async () => {
    const { body } = await quote(await trader(), { toCurrency: 'BTC' });
    expect(body).toMatchObject({
      executionMode: 'external',
      commissionAmount: 0.0045,
      commissionRate: 0.0045,
      netFromAmount: 0.9955,
      toAmountStr: '0.0491',
      priceProtectionPct: 0.8,
      estimatedSeconds: 900,
      feeBreakdown: { platformFeePct: 0.4, providerFeePct: 0.05 },
    });
    expect(body.exchangeRate).toBeCloseTo(0.0491 / 0.9955, 12);
  });

  it('debits everything, credits nothing yet, and says processing', async () => {
    const shop = await trader();
    const { status, body } = await execute(shop, fields);
    expect([status, body.status, body.executionMode, body.priceProtectionBand]).toEqual([
      201,
      'processing',
      'external',
      0.8,
    ]);
    expect(await h.db.query('SELECT workflow_id FROM temporal_request WHERE args @> $1', [`["${body._id}"]`])).toEqual([
      { workflow_id: `conversion/${body._id}` },
    ]);
    expect(await balanceOf(shop, 'ETH')).toBe('9');
    expect(await balanceOf(shop, 'BTC')).toBe('0');
    expect(await eventsOf(body._id)).toEqual(['conversion.processing']);
    // Everything about who executes it stays here.
    expect(JSON.stringify(body)).not.toMatch(/provider|deposit|order/i);
    const again = await execute(shop, fields);
    expect([again.status, again.body]).toEqual([201, body]);
    expect(answered(await execute(shop, { ...fields, fromAmount: '2' }))).toEqual([409, 'IDEMPOTENCY_KEY_CONSUMED']);
  });

  it('has no second look at the market, only what was accepted', async () => {
    const shop = await trader();
    markets.move({ ETH: '3000' });
    expect(answered(await execute(shop, { ...fields, quotedToAmount: '0.0497' }))).toEqual([409, 'RATE_DRIFT']);
    expect((await execute(shop, fields)).status).toBe(201);
  });

  it('is refused in the words of whoever would execute it', async () => {
    const shop = await trader();
    deps().external!.quote = async () =>
      Promise.reject(new DomainError('QUOTE_FAILED', 'Too little: convert at least 2 ETH'));
    for (const answer of [await quote(shop, { toCurrency: 'BTC' }), await execute(shop, fields)])
      expect(answer.body.error.message).toBe('Too little: convert at least 2 ETH');
    expect((await get(shop, '')).body.total).toBe(0);
  });

  it('whose debit came back after it had moved does not take its key again', async () => {
    const shop = await trader();
    const { body } = await execute(shop, fields);
    await h.db.transaction(async (tx) => {
      const row = (await lockConversion(tx, body._id))!;
      await post(
        tx,
        failConversionJournal({ id: body._id, merchantId: shop.id, fromCurrency: 'ETH', fromAmount: '1' }),
      );
      await moveConversion(tx, row, 'failed', {
        merchant_message: 'It could not be executed; the whole amount is back',
      });
    });
    expect(await balanceOf(shop, 'ETH')).toBe('10');
    expect(answered(await execute(shop, fields))).toEqual([409, 'IDEMPOTENCY_KEY_CONSUMED']);
    expect((await get(shop, `/${body._id}`)).body).toMatchObject({ status: 'failed', toAmount: 0.0491 });
  });
});

describe('the switch', () => {
  const turn = (isOn: boolean) => setSwitch(h.db, 'conversions', isOn, 'test');
  afterEach(() => turn(true));

  it('stops quotes and executions, and leaves the reads', async () => {
    const shop = await trader();
    const { body: done } = await execute(shop, { idempotencyKey: 'k' });
    await turn(false);
    const message = 'Conversions are switched off at present';
    const flat = [403, { error: 'CONVERSIONS_DISABLED', message }];
    for (const answer of [await quote(shop), await execute(shop), await get(shop, `/cheaper-targets?${asQuery(base)}`)])
      expect([answer.status, answer.body]).toEqual(flat);
    const route = await get(shop, '/best-route?toCurrency=BTC');
    expect([route.status, route.body]).toEqual([403, { ok: false, error: { code: 'CONVERSIONS_DISABLED', message } }]);
    expect((await get(shop, '/enabled')).body).toEqual({ enabled: false, executionMode: 'internal', message });
    expect((await get(shop, `/${done._id}`)).body).toEqual(done);
    expect((await get(shop, '')).body.total).toBe(1);
    expect((await get(shop, '/liquidity')).status).toBe(200);
    // A request that is wrong is told so first.
    expect(answered(await quote(shop, { toCurrency: 'ETH' }))).toEqual([400, 'SAME_CURRENCY']);
    await turn(true);
    expect((await get(shop, '/enabled')).body).toEqual({ enabled: true, executionMode: 'internal' });
  });
});

describe('an operator', () => {
  const operator = (...words: string[]) => operate(h.db, h.api.deps.config, words);
  const exposureOf = async (currency: string) =>
    (await readExposure(h.db, h.api.deps.config.networks)).assets.find((one) => one.currency === currency)!;
  afterEach(() =>
    h.db
      .query(`DELETE FROM conversion_pair`)
      .then(() => h.db.query(`UPDATE fx_position SET limit_usd = NULL, beyond = 'off'`)),
  );

  it('sees what the platform took in and gave by converting', async () => {
    const shop = await trader();
    const [eth, usdt] = [await exposureOf('ETH'), await exposureOf('USDT_ERC20')];
    await execute(shop, { fromAmount: '2' });
    const [ethNow, usdtNow] = [await exposureOf('ETH'), await exposureOf('USDT_ERC20')];
    expect(subtract(ethNow.position, eth.position)).toBe('1.992');
    expect(subtract(usdtNow.position, usdt.position)).toBe('-6374.4');
    expect(subtract(usdtNow.free, usdt.free)).toBe('-6374.4');
    expect(ethNow.positionUsd).toBe(times(ethNow.position, '3200', 2, 'down'));
    expect(await operator('exposure')).toContain(
      `ETH         position ${ethNow.position} (${ethNow.positionUsd} USD)  limit none`,
    );
    const held = (await readBooks(h.db)).find(
      ({ name, labels }) => name === 'payments_fx_position_usd' && labels.asset === 'ETH',
    );
    expect(held!.value).toBeCloseTo(Number(ethNow.positionUsd), 1);
  });

  it('bounds a position, in the direction alone that makes it larger', async () => {
    const shop = await trader();
    await fund(shop, 'USDT_ERC20', '10000');
    await back('ETH', '10');
    expect((await execute(shop)).status).toBe(201);
    await operator('limit-exposure', 'eth', '10', 'off', 'too', 'much', 'ether');
    expect(answered(await quote(shop))).toEqual([400, 'QUOTE_FAILED']);
    expect(answered(await execute(shop))).toEqual([400, 'CONVERSION_FAILED']);
    expect((await execute(shop, { fromCurrency: 'USDT_ERC20', toCurrency: 'ETH', fromAmount: '1000' })).status).toBe(
      201,
    );
    // Nobody executes elsewhere here: a pair that is external is not offered.
    await operator('limit-exposure', 'ETH', '10', 'external', 'too much ether');
    expect(answered(await quote(shop))).toEqual([400, 'QUOTE_FAILED']);
    await operator('limit-exposure', 'ETH', 'none', 'off', 'sold');
    expect((await quote(shop)).status).toBe(200);
  });

  it('turns a pair off, and bounds one conversion of it', async () => {
    const shop = await trader();
    await operator('pair', 'ETH', 'USDT_ERC20', 'internal', '500', 'careful');
    const refused = await quote(shop);
    expect(refused.body.error.message).toBe('Too much at once: convert at most 0.15625 ETH');
    await operator('pair', 'ETH', 'USDT_ERC20', 'off', 'default', 'closed');
    expect(answered(await quote(shop, { fromAmount: '0.1' }))).toEqual([400, 'QUOTE_FAILED']);
    expect((await quote(shop, { toCurrency: 'USDC_ERC20' })).status).toBe(200);
    expect(await operator('exposure')).toContain('ETH → USDT_ERC20: off');
    const acts = await h.db.query(`SELECT target FROM audit_log WHERE action = 'conversion_pair.set' ORDER BY id`);
    expect(acts).toEqual([{ target: 'ETH/USDT_ERC20' }, { target: 'ETH/USDT_ERC20' }]);
    for (const words of [
      ['pair', 'ETH', 'ETH', 'off', 'default', 'x'],
      ['pair', 'ETH', 'BTC', 'on', 'default', 'x'],
      ['pair', 'ETH', 'BTC', 'off', '0', 'x'],
      ['pair', 'ETH', 'BTC', 'off', 'default'],
      ['limit-exposure', 'DOGE', '1', 'off', 'x'],
      ['limit-exposure', 'BTC', 'much', 'off', 'x'],
      ['limit-exposure', 'BTC', '1', 'on', 'x'],
    ])
      await expect(operator(...words)).rejects.toThrow();
  });

  it('lets bitcoin by Lightning become bitcoin, and bounds it, but lets nothing become it', async () => {
    expect(await operator('pair', 'btc_ln', 'BTC', 'internal', '5000', 'play')).toBe('BTC_LN → BTC is internal');
    expect(await operator('limit-exposure', 'BTC_LN', '100', 'off', 'play')).toMatch(/^BTC_LN: limit 100/);
    await expect(operator('pair', 'BTC', 'BTC_LN', 'internal', 'default', 'play')).rejects.toThrow('No currency');
    await h.db.query(`DELETE FROM conversion_pair WHERE from_currency = 'BTC_LN'`);
    await h.db.query(`DELETE FROM fx_position WHERE asset = 'BTC_LN'`);
  });

  it('does the same over HTTP', async () => {
    const person = await Person.superAdmin(h);
    const read = await person.get('/api/v1/platform/exposure');
    expect(read.body.data.assets).toHaveLength(4);
    const limited = await person.post('/api/v1/platform/exposure/BTC', {
      limitUsd: '1000.999',
      beyond: 'external',
      reason: 'x',
      totpCode: await person.code(),
    });
    expect(limited.body.data.assets[0]).toMatchObject({ currency: 'BTC', limitUsd: '1000.99', beyond: 'external' });
    const body = { fromCurrency: 'BTC', toCurrency: 'ETH', mode: 'off', reason: 'x' };
    const set = await person.post('/api/v1/platform/conversion-pairs', { ...body, totpCode: await person.code() });
    expect(set.body.data.pairs).toEqual([{ fromCurrency: 'BTC', toCurrency: 'ETH', mode: 'off', maximumUsd: null }]);
    for (const wrong of [{ maximumUsd: '0.001' }, { toCurrency: 'BTC' }, { mode: 'on' }])
      expect((await person.post('/api/v1/platform/conversion-pairs', { ...body, ...wrong })).status).toBe(400);
    expect(answered(await person.get('/api/v1/conversions/best-route?toCurrency=BTC'))).toEqual([400, 'NO_SCOPE']);
    expect(answered(await person.get(`/api/v1/conversions/${'a'.repeat(24)}`))).toEqual([400, 'NO_MERCHANT_CONTEXT']);
  });
});

describe('reads', () => {
  it('tell malformed, unresolvable, unknown and foreign ids apart as far as they should', async () => {
    const [shop, other] = [await trader(), await trader()];
    const { body } = await execute(other);
    for (const id of ['x', '123', 'g'.repeat(24), `${body._id}0`])
      expect(answered(await get(shop, `/${id}`))).toEqual([400, 'INVALID_ID']);
    expect(answered(await get(shop, `/${'A'.repeat(24)}`))).toEqual([400, 'INVALID_CONVERSION_ID']);
    const [unknown, foreign] = [await get(shop, `/${'a'.repeat(24)}`), await get(shop, `/${body._id}`)];
    expect(answered(unknown)).toEqual([404, 'CONVERSION_NOT_FOUND']);
    expect(foreign.text).toBe(unknown.text);
  });

  it('list by each filter, newest first', async () => {
    const shop = await trader();
    await back('BTC', '1');
    const ids: string[] = [];
    for (const fields of [{ idempotencyKey: 'a' }, { toCurrency: 'BTC' }, { fromAmount: '30' }])
      ids.push((await execute(shop, fields)).body._id);
    const list = async (query: string) => {
      const { body } = await get(shop, `?${query}`);
      return [body.total, body.items.map(({ _id }: { _id: string }) => ids.indexOf(_id))];
    };
    expect((await list(''))[0]).toBe(3);
    expect(await list('idempotencyKey=a')).toEqual([1, [0]]);
    expect(await list('toCurrency=btc')).toEqual([1, [1]]);
    expect(await list('status=completed')).toEqual([2, [1, 0]]);
    expect((await list('status=failed'))[0]).toBe(1);
    expect((await list('fromCurrency=USDT_ERC20'))[0]).toBe(0);
    expect(await list('status=completed&limit=1&page=2')).toEqual([2, [0]]);
    expect((await list(`dateFrom=${new Date(Date.now() + 60_000).toISOString()}`))[0]).toBe(0);
    expect((await list(`dateTo=${new Date(Date.now() + 60_000).toISOString()}`))[0]).toBe(3);
    expect(answered(await get(shop, '?status=done'))).toEqual([400, 'VALIDATION_ERROR']);
    expect(answered(await get(shop, '?dateFrom=yesterday'))).toEqual([400, 'VALIDATION_ERROR']);
  });

  it.each(['USDT_ERC20', '*'])('say which targets can be backed, and nothing of a frozen one: %s', async (frozen) => {
    const shop = await trader();
    const before = (await get(shop, '/liquidity')).body.liquidity;
    expect(before).toMatchObject({ USDT_ERC20: true });
    expect(Object.keys(before).sort()).toEqual(['BTC', 'ETH', 'USDC_ERC20', 'USDT_ERC20']);
    await h.db.query(`INSERT INTO egress_freeze (currency, reason) VALUES ($1, 'test')`, [frozen]);
    try {
      expect((await get(shop, '/liquidity')).body.liquidity.USDT_ERC20).toBe(false);
      // It can still be quoted; its execution is refused.
      expect((await quote(shop)).status).toBe(200);
      expect(answered(await execute(shop))).toEqual([400, 'CONVERSION_FAILED']);
    } finally {
      await h.db.query('DELETE FROM egress_freeze');
    }
  });

  it('find the cheapest balance', async () => {
    const shop = await h.shop();
    await fund(shop, 'ETH', '0.001');
    await fund(shop, 'USDT_ERC20', '500');
    await fund(shop, 'USDC_ERC20', '0.99');
    const { body } = await get(shop, '/best-route?toCurrency=btc');
    expect(body.toCurrency).toBe('BTC');
    expect(body.options.map(({ fromCurrency }: { fromCurrency: string }) => fromCurrency)).toEqual([
      'USDT_ERC20',
      'ETH',
    ]);
    expect(body.options[0]).toMatchObject({
      toCurrency: 'BTC',
      availableFrom: '500',
      fromAmount: '500',
      toAmount: divide('498', '64000', 8, 'down'),
      executionMode: 'internal',
    });
    expect(body.options[0].feePct).toBeCloseTo(0.4, 2);
    expect(body.options[0].feeUsd + body.options[0].receiveUsd).toBeCloseTo(500, 4);
    expect(body.unavailable).toEqual([]);
    expect(body.bestSavingUsd).toBe(0);
    await h.db.query(`INSERT INTO conversion_pair (from_currency, to_currency, mode) VALUES ('ETH', 'BTC', 'off')`);
    try {
      const without = (await get(shop, '/best-route?toCurrency=BTC')).body;
      expect(without.options).toHaveLength(1);
      expect(without.unavailable).toEqual([{ fromCurrency: 'ETH', reason: expect.any(String) }]);
    } finally {
      await h.db.query('DELETE FROM conversion_pair');
    }
    expect(answered(await get(shop, '/best-route'))).toEqual([400, 'VALIDATION_ERROR']);
    await unlimited();
    expect(answered(await get(shop, '/best-route?toCurrency=DOGE'))).toEqual([400, 'VALIDATION_ERROR']);
    const nobody = await h.shop();
    expect((await get(nobody, '/best-route?toCurrency=BTC')).body).toEqual({
      toCurrency: 'BTC',
      options: [],
      unavailable: [],
      bestSavingUsd: 0,
    });
  });

  it.each([
    [600, { estimatedSeconds: 600 }],
    [null, {}],
  ])('tell how long it takes elsewhere where that is reported: %s', async (estimatedSeconds, told) => {
    const shop = await h.shop();
    await fund(shop, 'ETH', '1');
    const deps = h.api.deps as { external?: ExternalConversions };
    const own = deps.external;
    deps.external = {
      quote: async () => ({ providerFee: '0', toAmount: '0.0499', priceProtectionPct: '0.5', estimatedSeconds }),
    };
    await h.db.query(
      `INSERT INTO conversion_pair (from_currency, to_currency, mode) VALUES ('ETH', 'BTC', 'external')`,
    );
    try {
      const [option] = (await get(shop, '/best-route?toCurrency=BTC')).body.options;
      const { targets } = (
        await get(shop, `/cheaper-targets?${asQuery({ ...base, toCurrency: 'USDT_ERC20', fromAmount: '1' })}`)
      ).body;
      for (const one of [option, targets.find(({ toCurrency }: { toCurrency: string }) => toCurrency === 'BTC')]) {
        expect(one).toMatchObject({ executionMode: 'external', ...told });
        expect('estimatedSeconds' in one).toBe(estimatedSeconds !== null);
      }
      expect((await quote(shop, { toCurrency: 'BTC' })).body.estimatedSeconds).toBe(estimatedSeconds);
    } finally {
      deps.external = own;
      await h.db.query('DELETE FROM conversion_pair');
    }
  });

  it('compare targets', async () => {
    const shop = await h.shop();
    const { status, body } = await get(
      shop,
      `/cheaper-targets?${asQuery({ ...base, toCurrency: 'BTC', fromAmount: '0.001' })}`,
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({ fromCurrency: 'ETH', baseline: { toCurrency: 'BTC', feePct: expect.any(Number) } });
    expect(body.targets).toEqual([]);
  });

  it('are for keys with their scope', async () => {
    const reader = await h.shop({}, undefined, ['conversions:read']);
    expect((await quote(reader)).status).toBe(200);
    const refused = await execute(reader);
    expect([refused.status, refused.body.requiredScope]).toEqual([403, 'conversions:execute']);
    const payer = await h.shop({}, undefined, ['payments:create']);
    expect((await quote(payer)).body.requiredScope).toBe('conversions:read');
  });
});
