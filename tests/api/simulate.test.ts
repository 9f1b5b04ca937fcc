import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { scenarioNames } from '../../domain/payments/scenarios';
import { startHarness, type Answer, type Harness, type Shop } from './harness';

/** The route that asks payers to act, with one that notes what it is asked for. What payers do: tests/e2e/test-mode. */

const key = 'cd'.repeat(32);
const answered = ({ status, body }: Answer) => [status, body?.error?.code ?? body?.error, body?.error?.message];

describe('4: simulate in a sandbox', () => {
  let h: Harness;
  let shop: Shop;
  let simulator: Server;
  let asked: Array<{ path: string; authorization: string | undefined }>;
  let answer: { status: number; body: object };

  beforeAll(async () => {
    simulator = createServer((request, response) => {
      asked.push({ path: `${request.method} ${request.url}`, authorization: request.headers.authorization });
      response.statusCode = answer.status;
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer.body));
    });
    await new Promise<void>((resolve) => simulator.listen(0, '127.0.0.1', resolve));
    const { port } = simulator.address() as AddressInfo;
    h = await startHarness({ MODE: 'test', SIMULATOR_URL: `http://127.0.0.1:${port}`, SIMULATOR_KEY: key });
    shop = await h.shop();
  });
  beforeEach(() => {
    asked = [];
    answer = { status: 202, body: { txId: 'ab'.repeat(32) } };
  });
  afterAll(async () => {
    await h?.stop();
    simulator.closeAllConnections();
    await new Promise((resolve) => simulator.close(resolve));
  });

  const payment = async (currency?: string): Promise<string> => {
    const made = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 25, currency } });
    return made.body.paymentId as string;
  };
  const simulate = (id: string, scenario: unknown, as = shop.key) =>
    h.call('POST', `/api/v1/test/payments/${id}/simulate`, { key: as, body: { scenario } });
  const becomes = (id: string, status: string) =>
    h.db.query(`UPDATE payment SET status = $2, state_version = state_version + 1 WHERE id = $1`, [id, status]);

  it.each(scenarioNames)(
    'asks the payer for %s, with the key of the simulator, and answers with its transaction',
    async (scenario) => {
      const id = await payment('ETH');
      const made = await simulate(id, scenario);
      expect([made.status, made.body]).toEqual([
        202,
        { ok: true, data: { paymentId: id, scenario, txId: 'ab'.repeat(32) } },
      ]);
      expect(asked).toEqual([{ path: `POST /payments/${id}/${scenario}`, authorization: `Bearer ${key}` }]);
    },
  );

  it('refuses a scenario that is none', async () => {
    const id = await payment('ETH');
    for (const scenario of ['stolen', 'PAID', '', 7, null, undefined, 'toString'])
      expect(answered(await simulate(id, scenario)).slice(0, 2)).toEqual([400, 'VALIDATION_ERROR']);
    expect(asked).toEqual([]);
  });

  it('lets nobody act on the payment of another, or on none', async () => {
    const id = await payment('ETH');
    const stranger = await h.shop();
    for (const answer of [await simulate(id, 'paid', stranger.key), await simulate('f'.repeat(24), 'paid')])
      expect(answered(answer).slice(0, 2)).toEqual([404, 'PAYMENT_NOT_FOUND']);
    expect(answered(await simulate('nonsense', 'paid')).slice(0, 2)).toEqual([400, 'INVALID_ID']);
    expect(asked).toEqual([]);
  });

  it('wants the right to create payments', async () => {
    const reader = await h.shop({}, ['ETH'], ['payments:read']);
    const answer = await simulate(await payment('ETH'), 'paid', reader.key);
    expect([answer.status, answer.body]).toEqual([
      403,
      { error: 'Insufficient scope', requiredScope: 'payments:create' },
    ]);
    expect(asked).toEqual([]);
  });

  it('refuses a state in which the scenario makes no sense, and names those in which it does', async () => {
    const cancelled = await payment('ETH');
    await becomes(cancelled, 'CANCELLED');
    for (const scenario of scenarioNames) {
      const [status, code, message] = answered(await simulate(cancelled, scenario));
      expect([status, code]).toEqual([409, 'SCENARIO_REFUSED']);
      expect(message).toMatch(new RegExp(`^${scenario} needs a payment that is .*: this is CANCELLED$`));
    }
    const expired = await payment('ETH');
    await becomes(expired, 'EXPIRED');
    expect((await simulate(expired, 'late')).status).toBe(202);
    expect(answered(await simulate(expired, 'paid'))).toEqual([
      409,
      'SCENARIO_REFUSED',
      'paid needs a payment that is WAITING or PARTIALLY_PAID: this is EXPIRED',
    ]);
  });

  it('refuses a payment without an address', async () => {
    const id = await payment();
    expect(answered(await simulate(id, 'paid')).slice(0, 2)).toEqual([409, 'SCENARIO_REFUSED']);
    await becomes(id, 'EXPIRED');
    expect(answered(await simulate(id, 'late'))).toEqual([
      409,
      'SCENARIO_REFUSED',
      'The payment has no address: choose a currency before',
    ]);
    expect(asked).toEqual([]);
  });

  it('refuses another asset where the network has no other', async () =>
    expect(answered(await simulate(await payment('BTC'), 'wrong_currency'))).toEqual([
      409,
      'SCENARIO_REFUSED',
      "wrong_currency needs another asset on the payment's network: Bitcoin has none",
    ]));

  it('passes on why the payer refuses, and nothing of its faults', async () => {
    const id = await payment('ETH');
    answer = { status: 409, body: { error: 'Another scenario of this payment is still under way' } };
    expect(answered(await simulate(id, 'paid'))).toEqual([
      409,
      'SCENARIO_REFUSED',
      'Another scenario of this payment is still under way',
    ]);
    answer = { status: 500, body: { error: 'secret inside' } };
    const fault = await simulate(id, 'paid');
    expect([fault.status, fault.text.includes('secret')]).toEqual([500, false]);
  });
});

describe('4: simulate without a simulator', () => {
  it('names the faucet of a public test chain', async () => {
    const h = await startHarness({ MODE: 'test', BTC_NETWORK: 'testnet4', ETH_CHAIN_ID: '11155111' });
    try {
      const shop = await h.shop();
      for (const [currency, faucet] of [
        ['BTC', 'https://mempool.space/testnet4/faucet'],
        ['ETH', 'https://sepolia-faucet.pk910.de/'],
      ] as const) {
        const made = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 25, currency } });
        const { paymentId, depositAddress } = made.body;
        const path = `/api/v1/test/payments/${paymentId}/simulate`;
        const refused = await h.call('POST', path, { key: shop.key, body: { scenario: 'paid' } });
        expect(answered(refused)).toEqual([
          409,
          'SIMULATION_UNAVAILABLE',
          'Nobody pays by simulation on a public test chain. ' +
            `Take coins from the faucet ${faucet} and send them to ${depositAddress}`,
        ]);
      }
    } finally {
      await h.stop();
    }
  });

  it('says so where there is neither a payer nor a faucet', async () => {
    const h = await startHarness({ MODE: 'test' });
    try {
      const shop = await h.shop();
      const made = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 25, currency: 'ETH' } });
      const path = `/api/v1/test/payments/${made.body.paymentId}/simulate`;
      const refused = await h.call('POST', path, { key: shop.key, body: { scenario: 'paid' } });
      expect(answered(refused).slice(0, 2)).toEqual([409, 'SIMULATION_UNAVAILABLE']);
      expect(refused.text).toContain('MODE=test SANDBOX_DATA=.data-test npm start');
    } finally {
      await h.stop();
    }
  });

  it('does not exist in a live instance, whoever asks', async () => {
    const h = await startHarness();
    try {
      const shop = await h.shop();
      const made = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 25, currency: 'ETH' } });
      const path = `/api/v1/test/payments/${made.body.paymentId}/simulate`;
      const nowhere = await h.call('POST', '/api/v1/test/nowhere', { key: shop.key, body: {} });
      for (const as of [shop.key, undefined]) {
        const answer = await h.call('POST', path, { key: as, body: { scenario: 'paid' } });
        expect([answer.status, answer.body]).toEqual([404, nowhere.body]);
      }
    } finally {
      await h.stop();
    }
  });
});
