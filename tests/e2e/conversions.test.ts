import { generate } from 'otplib';
import { subtract } from '../../domain/money';
import { fundTreasury } from '../../sandbox/seed';
import { World, type Answer, type Owner, type Shop } from '../world';

/** Money that came from a payer on a real chain, converted, on the whole service; and the API killed at each step of
 *  it. */

let world: World;
let ann: Owner['ann'];
let shop: Shop;
/** The first time step of which she has surely used no code. */
let unusedStep: number;
const stepNow = (): number => Math.floor(Date.now() / 30_000);
beforeAll(async () => {
  world = await World.start({ miner: true, restartAfterMs: 1000, env: { FAIL_POINTS: 'true' } });
  const scopes = ['payments:create', 'payments:read', 'ledger:read', 'conversions:read', 'conversions:execute'];
  ({ ann, shop } = await world.merchant(scopes, ['ETH']));
  unusedStep = stepNow() + 2;
});
afterAll(() => world?.stop(), 60_000);

const balance = async (currency: string): Promise<string> => (await world.balance(shop, currency)).balance;
const convert = (body: object): Promise<Answer> =>
  world.call(shop, 'POST', '/api/v1/conversions', { fromCurrency: 'ETH', toCurrency: 'USDT_ERC20', ...body });
/** What a client does that got no answer: the same key again, until there is one. */
async function insist(body: object): Promise<Answer> {
  let answer: Answer | undefined;
  await world.until(
    'the API answers',
    async () => {
      answer = await convert(body).catch(() => undefined);
      return answer !== undefined && answer.status < 500;
    },
    90_000,
  );
  return answer!;
}
const isClean = async () => expect(await world.audit()).toEqual([]);

it('ETH of a payment becomes USDT that the treasury holds', async () => {
  await fundTreasury(world.db, world.payer);
  const liquidity = async () =>
    (await world.call(shop, 'GET', '/api/v1/conversions/liquidity')).body.liquidity['USDT_ERC20'] as boolean;
  const invoice = await world.invoice(shop, { amount: 400, currency: 'ETH' });
  await world.payer.pay('ETH', invoice.address, String(invoice.amount));
  await world.sees(shop, invoice.id, 'SETTLED', { ms: 120_000 });
  await world.until('the platform’s own money is booked', liquidity, 60_000);

  const before = await balance('ETH');
  const query = 'fromCurrency=ETH&toCurrency=USDT_ERC20&fromAmount=0.05';
  const { body: quote } = await world.call(shop, 'GET', `/api/v1/conversions/quote?${query}`);
  const done = await convert({
    fromAmount: quote.fromAmountStr,
    quotedRate: quote.exchangeRate,
    quotedToAmount: quote.toAmountStr,
    idempotencyKey: 'first',
  });
  expect([done.status, done.body]).toEqual([201, expect.objectContaining({ status: 'completed' })]);
  expect(await balance('ETH')).toBe(subtract(before, '0.05'));
  expect(await balance('USDT_ERC20')).toBe(quote.toAmountStr);
  await isClean();
}, 200_000);

it.each([
  ['B1 before anything moved', 'conversion.afterClaim'],
  ['B3 after the commit', 'conversion.afterCommit'],
])(
  '%s: the same key gets one conversion',
  async (_step, point) => {
    const [eth, usdt] = [await balance('ETH'), await balance('USDT_ERC20')];
    await world.arm(point);
    const body = { fromAmount: '0.01', idempotencyKey: point };
    await expect(convert(body)).rejects.toThrow();
    const dead = performance.now();
    let answer = await insist(body);
    while (answer.body.error?.code === 'CONVERSION_IN_PROGRESS') {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      // So often a merchant may not ask; what is tested is not the limit.
      await world.db.query('DELETE FROM rate_limit');
      answer = await insist(body);
    }
    expect([answer.status, answer.body]).toEqual([201, expect.objectContaining({ status: 'completed' })]);
    expect(performance.now() - dead).toBeLessThan(90_000);
    expect(await balance('ETH')).toBe(subtract(eth, '0.01'));
    expect(Number(await balance('USDT_ERC20'))).toBeGreaterThan(Number(usdt));
    const { body: found } = await world.call(
      shop,
      'GET',
      `/api/v1/conversions?idempotencyKey=${point}&status=completed`,
    );
    expect(found.items).toEqual([answer.body]);
    await isClean();
  },
  150_000,
);

it('B2 with the factor spent and nothing committed: both are as they were', async () => {
  await world.until('her codes are unused', () => stepNow() >= unusedStep, 90_000);
  const before = [await balance('ETH'), await balance('USDT_ERC20')];
  const path = '/api/v1/conversions';
  const otpCode = await generate({ secret: ann.totpSecret, epoch: stepNow() * 30 });
  const body = { fromCurrency: 'ETH', toCurrency: 'USDT_ERC20', fromAmount: '0.01', otpCode };
  await world.arm('conversion.beforeCommit');
  await expect(ann.post(path, body)).rejects.toThrow('fetch failed');
  let done: Awaited<ReturnType<typeof ann.post>> | undefined;
  await world.until(
    'the same code is taken again',
    async () => {
      const now = await Promise.all([balance('ETH'), balance('USDT_ERC20')]).catch(() => undefined);
      if (!now) return false;
      expect(now).toEqual(before);
      done = await ann.post(path, body).catch((error: Error) => {
        if (!/fetch failed|: 503 /.test(error.message)) throw error;
        return undefined;
      });
      return done !== undefined;
    },
    60_000,
  );
  expect(done!.body).toMatchObject({ status: 'completed' });
  expect(await balance('ETH')).toBe(subtract(before[0]!, '0.01'));
  await expect(ann.post(path, body)).rejects.toThrow(': 401');
  expect(await world.armed()).toEqual([]);
  await isClean();
}, 150_000);
