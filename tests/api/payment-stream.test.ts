import { emitPaymentEvents, lockPayment, movePayment } from '../../db/payments/payments';
import { eventually, startHarness, type Harness, type Shop } from './harness';

/** The stream by which the dashboard's list of payments stays up to date. */

let h: Harness;
const streams: AbortController[] = [];
beforeAll(async () => {
  h = await startHarness();
});
afterEach(() => {
  for (const stream of streams.splice(0)) stream.abort();
});
afterAll(() => h?.stop());

/** How many messages a shop has heard so far, and what they said. */
async function hears(shop: Shop): Promise<{ count: () => number; text: () => string }> {
  const stream = new AbortController();
  streams.push(stream);
  const response = await fetch(`${h.url}/api/v1/payments/stream`, {
    headers: { Authorization: `Bearer ${shop.key}` },
    signal: stream.signal,
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('text/event-stream'),
  ]);
  let text = '';
  const read = async (): Promise<void> => {
    for await (const part of response.body!) text += Buffer.from(part).toString();
  };
  read().catch(() => undefined); // aborted at the end of the test
  return { count: () => text.match(/^data:/gm)?.length ?? 0, text: () => text };
}
const create = async (shop: Shop): Promise<string> =>
  (await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 25, currency: 'BTC' } })).body.paymentId;

it('5: tells of new and changed payments of the merchant, and of nobody else’s', async () => {
  const [shop, other] = [await h.shop(), await h.shop()];
  const [mine, theirs] = [await hears(shop), await hears(other)];
  // The API listens to the database from some moment on.
  await eventually(async () => {
    await create(shop);
    return mine.count() > 0;
  });
  const before = mine.count();
  const id = await create(shop);
  await eventually(() => Promise.resolve(mine.count() > before));
  const then = mine.count();
  await h.db.transaction(async (tx) => {
    const payment = await lockPayment(tx, id);
    const moved = await movePayment(tx, payment, { to: 'CANCELLED', cause: 'test', events: [] });
    await emitPaymentEvents(tx, payment, moved, ['payment.cancelled']);
  });
  await eventually(() => Promise.resolve(mine.count() > then));
  expect(mine.text()).not.toContain(id);
  expect(theirs.count()).toBe(0);
  await create(other);
  await eventually(() => Promise.resolve(theirs.count() > 0));
});

it('5: is refused to a key that may not read payments', async () => {
  const shop = await h.shop({}, [], ['wallets:read']);
  expect((await h.call('GET', '/api/v1/payments/stream', { key: shop.key })).status).toBe(403);
});

it('5: opens no more streams for one merchant than a browser with many tabs needs', async () => {
  const shop = await h.shop();
  for (let n = 0; n < 30; n += 1) await hears(shop);
  expect((await h.call('GET', '/api/v1/payments/stream', { key: shop.key })).status).toBe(429);
  for (const stream of streams.splice(0)) stream.abort();
  await eventually(async () => ((await h.api.deps.metrics.streams.get()).values[0]?.value ?? 0) === 0);
  await hears(shop);
});
