import { RpcProxy } from './rpc-proxy';
import { World, type Invoice, type Shop } from '../world';

/** Nodes that lose answers, answer twice, are slow, ill or gone: real proxies in front of real nodes. Faults: D. */
jest.setTimeout(150_000);
let world: World;
let shop: Shop;
let ethereum: RpcProxy;
let bitcoin: RpcProxy;

beforeAll(async () => {
  world = await World.start({
    between: async (stack) => {
      ethereum = await RpcProxy.before(stack.anvil.url);
      bitcoin = await RpcProxy.before(stack.btcd.url);
      return { ETH_RPC_URL: ethereum.url, BTC_RPC_URL: bitcoin.url };
    },
  });
  shop = await world.shop();
}, 240_000);
afterAll(async () => {
  await world?.stop();
  await ethereum?.close();
  await bitcoin?.close();
}, 60_000);
afterEach(async () => {
  ethereum.heal();
  bitcoin.heal();
  await world.until('the outbox is empty', async () => !(await world.db.query('SELECT FROM temporal_request')).length);
  expect(await world.audit()).toEqual([]);
});

const pay = (invoice: Invoice) => world.payer.pay(invoice.currency!, invoice.address, String(invoice.amount));
const attemptsOf = (id: string): Promise<Array<{ kind: string; status: string }>> =>
  world.db.query(
    `SELECT i.kind, a.status FROM attempt a JOIN intent i ON i.id = a.intent_id WHERE i.payment_id = $1 ORDER BY a.id`,
    [id],
  );

it.each([
  ['the answer to a broadcast is lost', 'USDT_ERC20', { kind: 'dropAfter' }],
  ['a broadcast is refused with 503 after it was taken', 'ETH', { kind: 'status', status: 503, after: true }],
  ['a broadcast arrives twice', 'ETH', { kind: 'duplicate' }],
  ['the answer to a broadcast is lost', 'BTC', { kind: 'dropAfter' }],
  ['a broadcast never arrives at first', 'BTC', { kind: 'dropBefore' }],
] as const)('%s (%s): one transaction moves the money', async (_what, currency, fault) => {
  const proxy = currency === 'BTC' ? bitcoin : ethereum;
  const method = currency === 'BTC' ? 'sendrawtransaction' : 'eth_sendRawTransaction';
  const hits = proxy.hits.length;
  proxy.arm(fault, [method], 2);
  const invoice = await world.invoice(shop, { amount: 25, currency });
  await pay(invoice);
  await world.sees(shop, invoice.id, 'SETTLED', { mine: currency, ms: 90_000 });
  expect(proxy.hits.length).toBeGreaterThan(hits);
  const attempts = await attemptsOf(invoice.id);
  expect(attempts.map((attempt) => attempt.status)).toEqual(attempts.map(() => 'final'));
  expect(attempts.map((attempt) => attempt.kind)).toEqual(currency === 'USDT_ERC20' ? ['gas', 'sweep'] : ['sweep']);
});

it('loses no payment to a node of which every third call fails and the rest are slow', async () => {
  let calls = 0;
  const flaky = setInterval(() => {
    ethereum.heal();
    calls += 1;
    if (calls % 3 === 0) ethereum.arm({ kind: 'status', status: 503 }, [], 3);
    else ethereum.arm({ kind: 'delay', ms: 300 }, [], 4);
  }, 100);
  try {
    const invoice = await world.invoice(shop, { amount: 25, currency: 'ETH' });
    await pay(invoice);
    await world.sees(shop, invoice.id, 'SETTLED', { mine: 'ETH', ms: 100_000 });
  } finally {
    clearInterval(flaky);
  }
});

it('does not expire an invoice that was paid in time while the node could not be reached', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'ETH' });
  ethereum.arm({ kind: 'dropBefore' });
  await world.db.query(`UPDATE payment SET expires_at = clock_timestamp() + interval '4 seconds' WHERE id = $1`, [
    invoice.id,
  ]);
  await world.nudge(invoice.id);
  await pay(invoice);
  await world.payer.mine('ETH', 1);
  await new Promise((resolve) => setTimeout(resolve, 8000));
  expect((await world.payment(shop, invoice.id)).status).toBe('WAITING');
  ethereum.heal();
  await world.sees(shop, invoice.id, 'SETTLED', { mine: 'ETH', ms: 90_000 });
});

it('credits nothing on a receipt that lies about success', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'ETH' });
  const asFailed = (body: unknown): unknown => {
    const answer = body as { result?: { status?: string } };
    if (answer.result?.status) answer.result.status = '0x0';
    return answer;
  };
  ethereum.arm({ kind: 'rewrite', answer: asFailed }, ['eth_getTransactionReceipt']);
  await pay(invoice);
  await world.payer.mine('ETH', 5);
  await world.sees(shop, invoice.id, 'CONFIRMING');
  await new Promise((resolve) => setTimeout(resolve, 3000));
  expect((await world.payment(shop, invoice.id)).status).toBe('CONFIRMING');
  ethereum.heal();
  await world.sees(shop, invoice.id, 'SETTLED', { mine: 'ETH' });
});
