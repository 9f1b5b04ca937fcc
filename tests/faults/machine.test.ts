import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TcpProxy } from './tcp-proxy';
import { World, type Invoice, type Shop } from '../world';

/** A machine that is ill: links that end after the commit, a database that is busy, clocks that are wrong. Faults:
 *  F. */
jest.setTimeout(150_000);
let world: World;
let shop: Shop;
let link: TcpProxy;

beforeAll(async () => {
  world = await World.start({
    miner: true,
    env: { DATABASE_POOL: '6', DATABASE_WAIT_MS: '1500' },
    between: async (stack) => {
      const url = new URL(stack.postgres.url);
      link = await TcpProxy.before(Number(url.port));
      url.port = String(link.port);
      return { DATABASE_URL: url.href };
    },
  });
  shop = await world.shop();
}, 240_000);
afterAll(async () => {
  await world?.stop();
  await link?.close();
}, 60_000);
afterEach(async () => {
  await world.until('the outbox is empty', async () => !(await world.db.query('SELECT FROM temporal_request')).length);
  expect(await world.audit()).toEqual([]);
});

const pay = (invoice: Invoice) => world.payer.pay(invoice.currency!, invoice.address, String(invoice.amount));
const settles = (invoice: Invoice) => world.sees(shop, invoice.id, 'SETTLED', { ms: 90_000 });

it('a link that ends after COMMIT was sent: the same key again gives the same payment', async () => {
  const [{ before }] = await world.db.query('SELECT count(*)::int AS before FROM payment');
  const creating = Promise.all(
    Array.from({ length: 12 }, async (_, n) => {
      await sleep(n * 100);
      return world.invoice(shop, { amount: 25, currency: n % 2 ? 'ETH' : 'BTC' });
    }),
  );
  for (let cut = 0; cut < 4; cut += 1) {
    await sleep(150);
    await link.loseAnswers(250);
  }
  const invoices = await creating;
  const [{ after }] = await world.db.query('SELECT count(*)::int AS after FROM payment');
  expect(after - before).toBe(invoices.length);
  expect(new Set(invoices.map((invoice) => invoice.address)).size).toBe(invoices.length);
  const paid = invoices.slice(0, 4);
  for (const invoice of paid) await pay(invoice);
  await link.loseAnswers(500);
  await link.outage(2000);
  for (const invoice of paid) await settles(invoice);
});

it('a database that answers nothing in time: refused within its deadline, and well again afterwards', async () => {
  const lock = world.db.createQueryRunner();
  await lock.startTransaction();
  try {
    await lock.query('LOCK TABLE payment IN ACCESS EXCLUSIVE MODE');
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => world.call(shop, 'POST', '/api/v1/payments', { amount: 25, currency: 'ETH' })),
    );
    expect([...new Set(answers.map((answer) => answer.status))]).toEqual([503]);
    expect((await world.call(null, 'GET', '/healthz')).status).toBe(200);
  } finally {
    await lock.rollbackTransaction();
    await lock.release();
  }
  const invoice = await world.invoice(shop, { amount: 25, currency: 'ETH' });
  await pay(invoice);
  await settles(invoice);
});

it.each([
  ['fast', 600_000],
  ['slow', -600_000],
])('clocks that are ten minutes %s: nothing expires early, quotes and tokens hold', async (_how, shift) => {
  const skewed = {
    NODE_OPTIONS: `--require ${join(__dirname, 'shifted-clock.cjs')}`,
    CLOCK_SHIFT_MS: String(shift),
  };
  const [worker, api] = await Promise.all([world.stack.add('payments', skewed), world.stack.add('api', skewed)]);
  const right = world.stack.part('payments-1');
  await right.kill9();
  try {
    const answer = await fetch(`${api.url}/api/v1/payments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${shop.secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ amount: 25, currency: 'ETH', expiresIn: 300, ipnCallbackUrl: world.callbackUrl }),
    });
    expect(answer.status).toBe(201);
    const created = (await answer.json()) as { paymentId: string; depositAddress: string; amount: number };
    const [{ left }] = await world.db.query(
      'SELECT extract(epoch FROM expires_at - clock_timestamp())::float8 AS left FROM payment WHERE id = $1',
      [created.paymentId],
    );
    expect(left).toBeGreaterThan(270);
    expect(left).toBeLessThanOrEqual(300);
    await sleep(3000);
    expect((await world.payment(shop, created.paymentId)).status).toBe('WAITING');
    await world.payer.pay('ETH', created.depositAddress, String(created.amount));
    await world.sees(shop, created.paymentId, 'SETTLED', { ms: 90_000 });
    // The receiver verifies what it gets, its time too.
    await world.until('the shop was told', async () =>
      world.eventsOf(created.paymentId).some(({ type }) => type === 'payment.settled'),
    );
  } finally {
    await right.start();
    await Promise.all([worker.stop(), api.stop()]);
  }
});
