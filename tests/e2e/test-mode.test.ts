import { registerDemo } from '../../sandbox/seed';
import { scenarioNames, type Scenario } from '../../domain/payments/scenarios';
import { eachSample, Samples } from '../samples/runner';
import { World, type Answer, type Shop } from '../world';

/** A whole test instance: each scenario that its payers play ends where it says, with real coins in real blocks. */

let world: World;
let shop: Shop;
beforeAll(async () => {
  world = await World.start({ miner: true, env: { MODE: 'test' } });
  shop = await world.shop({ underpaidPolicy: 'hold' });
});
afterAll(() => world?.stop());

const patience = { ms: 150_000 };
const path = (id: string): string => `/api/v1/test/payments/${id}/simulate`;

/** A payment through which `scenario` goes. */
async function played(scenario: Scenario, currency: string): Promise<{ id: string; txId: string }> {
  const { id } = await world.invoice(shop, { amount: 25, currency });
  const answer = await world.call(shop, 'POST', path(id), { scenario });
  expect([answer.status, answer.body]).toEqual([
    202,
    { ok: true, data: { paymentId: id, scenario, txId: expect.stringMatching(/^(0x)?[0-9a-f]{64}$/) as string } },
  ]);
  return { id, txId: answer.body.data.txId as string };
}

const childOf = async (id: string): Promise<Answer['body']> => {
  let child: string | undefined;
  await world.until(
    'there is a child',
    async () => (child = (await world.payment(shop, id)).repeatDepositChildIds[0] as string | undefined) !== undefined,
    patience.ms,
  );
  return world.sees(shop, child!, 'SETTLED', patience);
};

/** What each scenario promises. */
const ends: Readonly<Record<Scenario, (payment: { id: string; txId: string }) => Promise<void>>> = {
  async paid({ id, txId }) {
    const seen = await world.sees(shop, id, 'SETTLED', patience);
    expect(seen).toMatchObject({ livemode: false, exceptions: [], amountRemaining: '0', txIds: [txId] });
  },
  async underpaid({ id, txId }) {
    const seen = await world.sees(shop, id, 'PARTIALLY_PAID', patience);
    expect([seen.amountPaid > 0 && seen.amountPaid < seen.amount / 2, seen.txIds]).toEqual([true, [txId]]);
  },
  async overpaid({ id }) {
    const seen = await world.sees(shop, id, 'SETTLED', patience);
    expect(seen.exceptions).toEqual(['overpaid']);
    expect(Number(seen.overpaidAmount)).toBeCloseTo(seen.amount / 2, 3);
  },
  async late({ id, txId }) {
    expect((await world.payment(shop, id)).status).toBe('EXPIRED');
    expect(await childOf(id)).toMatchObject({ addressRole: 'repeat', parentPaymentId: id, txIds: [txId] });
    expect((await world.payment(shop, id)).exceptions).toEqual(['paidLate']);
  },
  async wrong_currency({ id, txId }) {
    const seen = await world.sees(shop, id, 'CROSS_CHAIN_PENDING', patience);
    expect(seen.receivedOther).toEqual([expect.objectContaining({ currency: 'USDT_ERC20', txId })]);
  },
  async reorg({ id, txId }) {
    const seen = await world.sees(shop, id, 'SETTLED', patience);
    expect(seen).toMatchObject({ txIds: [txId], amountRemaining: '0' });
  },
  async double_deposit({ id, txId }) {
    const child = await childOf(id);
    expect(child).toMatchObject({ addressRole: 'repeat', parentPaymentId: id });
    expect(child.txIds).not.toContain(txId);
    expect(await world.sees(shop, id, 'SETTLED', patience)).toMatchObject({ txIds: [txId] });
  },
};

it('4: every scenario ends in the state that it promises', async () => {
  const cases: Array<[Scenario, string]> = [
    ...scenarioNames.map((scenario): [Scenario, string] => [scenario, 'ETH']),
    ['paid', 'USDT_ERC20'],
    ['underpaid', 'BTC'],
    ['reorg', 'BTC'],
  ];
  // Who replaces blocks keeps the payers of its network waiting: last.
  cases.sort(([a], [b]) => Number(a === 'reorg') - Number(b === 'reorg'));
  const begun: Array<{ id: string; txId: string }> = [];
  for (const [scenario, currency] of cases) begun.push(await played(scenario, currency));
  const done = await Promise.allSettled(cases.map(([scenario], n) => ends[scenario](begun[n]!)));
  const failed = done.flatMap((one, n) =>
    one.status === 'rejected' ? [`${cases[n]!.join(' ')}: ${(one.reason as Error).message}`] : [],
  );
  expect(failed).toEqual([]);
  expect(await world.db.query("SELECT DISTINCT exceptions FROM payment WHERE 'reorged' = ANY(exceptions)")).toEqual([
    { exceptions: ['reorged'] },
  ]);
  const unsent = world.received.filter(({ raw }) => !raw.includes('"livemode":false'));
  expect([world.received.length > 0, unsent]).toEqual([true, []]);
});

describe('4: the samples of test mode', () => {
  let copied: Samples;
  beforeAll(() => {
    copied = new Samples();
  });
  afterAll(() => copied?.remove());

  eachSample('simulate', async (file) => {
    const { id } = await world.invoice(shop, { amount: 25, currency: 'ETH' });
    const env = { API_URL: world.stack.apiUrl, API_KEY: shop.secretKey, PAYMENT_ID: id };
    const { code, out, errors } = await copied.run(file, env);
    expect([errors, code]).toEqual(['', 0]);
    const { txIds } = await world.sees(shop, id, 'SETTLED', patience);
    expect(out).toContain(txIds[0]);
  });
});

it('4: the sandbox makes its demo merchant, whose keys say test', async () => {
  const demo = await registerDemo(world.db, world.stack);
  expect([demo.secretKey, demo.publishableKey]).toEqual([
    expect.stringMatching(/^svc_test_/),
    expect.stringMatching(/^pk_test_/),
  ]);
});

it('4: nobody but the API is heard by the payers', async () => {
  const { id } = await world.invoice(shop, { amount: 25, currency: 'ETH' });
  const { url } = world.stack.simulator!;
  for (const authorization of [undefined, 'Bearer ', `Bearer ${shop.secretKey}`, `Bearer ${'0'.repeat(64)}`]) {
    const answer = await fetch(`${url}/payments/${id}/paid`, {
      method: 'POST',
      headers: authorization === undefined ? {} : { authorization },
    });
    expect(answer.status).toBe(401);
  }
  expect(await world.payment(shop, id)).toMatchObject({ status: 'WAITING', amountPaid: 0 });
});

it('4: a payment takes one scenario at a time', async () => {
  const { id } = await played('paid', 'ETH');
  await world.sees(shop, id, 'SETTLED', patience);
  const again = await world.call(shop, 'POST', path(id), { scenario: 'paid' });
  expect([again.status, again.body.error.code]).toEqual([409, 'SCENARIO_REFUSED']);
});
