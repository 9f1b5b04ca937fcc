import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCodecs } from '../../chains/codecs';
import { webhookActivities } from '../../activities/webhooks/webhooks';
import { rawProperty } from '../../domain/payments/json-text';
import { startHarness, type Harness, type Shop } from '../api/harness';
import { noLog } from '../shared/no-log';
import { paymentsAt } from './run-payment';

/** A merchant whose server is away for two days, in one way after another, and who knows everything afterwards: what
 *  was delivered, and the stream from where he was. The pauses are the true ones, on a clock that does not wait.
 *  Contract: G4. */

const hour = 3_600_000;
let h: Harness;
let shop: Shop;
let server: Server;
let url: string;
/** Time since the first event. */
let clock = 0;
let strangers = 0;
const received: Array<{ at: number; seq: number; body: string }> = [];

/** What the server does at each time. */
const moods: ReadonlyArray<readonly [until: number, (response: ServerResponse) => unknown]> = [
  [2 * hour, (response) => response.socket?.destroy()],
  [8 * hour, (response) => response.writeHead(500).end('<html>')],
  [20 * hour, (response) => response.writeHead(429, { 'retry-after': '7200' }).end()],
  [30 * hour, (response) => response.writeHead(302, { location: `${url}/elsewhere` }).end()],
  [48 * hour, (response) => response.writeHead(503, { 'retry-after': 'soon' }).end()],
  [Infinity, (response) => response.writeHead(200).end('ok')],
];

beforeAll(async () => {
  h = await startHarness({ ALLOW_INSECURE_CALLBACKS: 'true' });
  shop = await h.shop();
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url === '/elsewhere') strangers += 1;
      if (request.url === '/gone') return response.writeHead(410).end();
      const body = Buffer.concat(chunks).toString();
      const act = moods.find(([until]) => clock < until)![1];
      if (clock >= 48 * hour) received.push({ at: clock, seq: (JSON.parse(body) as { seq: number }).seq, body });
      return act(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server?.closeAllConnections();
  server?.close();
  await h?.stop();
});

/** Every open delivery as its workflow makes it: an attempt, the pause, the next. */
async function deliverAll(): Promise<void> {
  const { deliverOnce } = webhookActivities({ db: h.db, config: h.api.deps.config, log: noLog });
  const open = (await h.db.query(`SELECT id FROM delivery WHERE status = 'pending' ORDER BY created_at`)) as Array<{
    id: string;
  }>;
  const queue = open.map(({ id }) => ({ id, at: clock }));
  for (;;) {
    queue.sort((a, b) => a.at - b.at);
    const next = queue.shift();
    if (!next) return;
    clock = Math.max(clock, next.at);
    const { status, nextInMs } = await deliverOnce(next.id, 1);
    if (status === 'retrying') queue.push({ id: next.id, at: next.at + nextInMs });
  }
}

it('is told everything once it is back, and reads the rest from the stream, byte for byte', async () => {
  const { config } = h.api.deps;
  const activities = paymentsAt({ db: h.db, config, codecs: createCodecs(config.chain) });
  const create = async (body: object, path = '/ipn'): Promise<string> => {
    const answer = await h.call('POST', '/api/v1/payments', {
      key: shop.key,
      body: { amount: 40, metadata: { n: 1.1, text: 'ž"</script>' }, ipnCallbackUrl: url + path, ...body },
    });
    expect(answer.status).toBe(201);
    return answer.body.paymentId as string;
  };
  const [waiting, cancelled, chosen, expired] = [
    await create({ currency: 'ETH' }),
    await create({ currency: 'BTC' }),
    await create({}),
    await create({ currency: 'ETH' }),
  ];
  const gone = await create({ currency: 'BTC' }, '/gone');
  await activities.cancelPayment(cancelled, 'merchant', 'out of stock');
  await activities.cancelPayment(gone, 'merchant');
  await activities.selectCurrency(chosen, 'ETH', 'payer');
  await activities.selectCurrency(chosen, 'BTC', 'payer');
  await h.db.query(
    `UPDATE payment SET expires_at = created_at, created_at = created_at - interval '1 hour' WHERE id = $1`,
    [expired],
  );
  await h.db.query('UPDATE chain_cursor SET scanned_through = clock_timestamp()');
  await activities.runPayment(expired);

  await deliverAll();
  expect(clock).toBeGreaterThan(48 * hour);
  expect(strangers).toBe(0);
  const ends = (await h.db.query(
    `SELECT d.url, d.status, d.attempts FROM delivery d JOIN event e ON e.id = d.event_id WHERE e.merchant_id = $1`,
    [shop.id],
  )) as Array<{ url: string; status: string; attempts: number }>;
  for (const { url: to, status, attempts } of ends) {
    expect([status, attempts <= 10]).toEqual([to.endsWith('/gone') ? 'failed' : 'succeeded', true]);
    if (status === 'failed') expect(attempts).toBe(1);
  }
  expect(received).toHaveLength(ends.filter(({ status }) => status === 'succeeded').length);

  // Something happens that the server never hears of.
  const unheard = await create({ currency: 'ETH' });
  await activities.cancelPayment(unheard, 'payer');

  /** The newest version of each payment that the merchant knows. */
  const known = new Map<string, { version: number; json: string }>();
  const learn = (event: string): void => {
    const json = rawProperty(event, 'data')!;
    const { _id, stateVersion } = JSON.parse(json) as { _id: string; stateVersion: number };
    if (stateVersion >= (known.get(_id)?.version ?? 0)) known.set(_id, { version: stateVersion, json });
  };
  const heard = new Set(received.map(({ seq }) => seq));
  for (const { body } of received) learn(body);
  let last = 0;
  while (heard.has(last + 1)) last += 1;
  expect(last).toBeGreaterThan(0);
  for (let hasMore = true; hasMore;) {
    const answer = await h.call('GET', `/api/v1/events?after=${last}&limit=2`, { key: shop.key });
    const page = answer.body.data as { items: Array<{ id: string; seq: number }>; hasMore: boolean };
    for (const { id, seq } of page.items) {
      expect(seq).toBe((last += 1));
      const one = await h.call('GET', `/api/v1/events/${id}`, { key: shop.key });
      learn(rawProperty(one.text, 'data')!);
    }
    ({ hasMore } = page);
  }
  for (const id of [waiting, cancelled, chosen, expired, gone, unheard])
    expect(known.get(id)?.json).toBe((await h.call('GET', `/api/v1/payments/${id}`, { key: shop.key })).text);
});
