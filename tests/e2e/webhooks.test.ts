import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { deliveryId } from '../../db/webhooks/events';
import { rawProperty } from '../../domain/payments/json-text';
import { World, type Invoice, type Shop } from '../world';

/** Events from a payment to the servers of its merchant, on the whole stack. Contract: G4. */

type Call = { path: string; headers: IncomingHttpHeaders; body: string; id: string; type: string; at: number };

let world: World;
let server: Server;
let url: string;
const calls: Call[] = [];
/** What a path answers; 200 unless told. */
const behaviour = new Map<string, (response: ServerResponse, nth: number) => void>();

beforeAll(async () => {
  world = await World.start({ env: { WEBHOOK_TIME_SCALE: '0.001' } });
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const { id, type } = JSON.parse(body) as { id: string; type: string };
      const path = request.url!;
      const nth = callsOf(path).filter((call) => call.id === id).length + 1;
      calls.push({ path, headers: request.headers, body, id, type, at: Date.now() });
      (behaviour.get(path) ?? (() => response.end('ok')))(response, nth);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}, 240_000);
afterAll(async () => {
  server?.closeAllConnections();
  server?.close();
  await world?.stop();
}, 60_000);

const callsOf = (path: string): Call[] => calls.filter((call) => call.path === path);
const idsAt = (path: string): Set<string> => new Set(callsOf(path).map(({ id }) => id));
const verified = (secret: string, { body, headers }: Call): unknown =>
  new Webhook(secret).verify(body, headers as Record<string, string>);

async function endpoint(shop: Shop, path: string, enabledEvents: readonly string[] = ['*']) {
  const answer = await world.call(shop, 'POST', '/api/v1/webhook-endpoints', { url: url + path, enabledEvents });
  expect(answer.status).toBe(201);
  const { id, secret } = answer.body.data as { id: string; secret: string };
  return { id, secret, path, route: `/api/v1/webhook-endpoints/${id}` };
}
const text = async (shop: Shop, path: string): Promise<string> =>
  (await fetch(world.stack.apiUrl + path, { headers: { authorization: `Bearer ${shop.secretKey}` } })).text();
async function settled(shop: Shop, currency = 'ETH'): Promise<Invoice> {
  const invoice = await world.invoice(shop, { amount: 25, currency, metadata: { n: 1.1, note: 'ä"</script>' } });
  await world.payer.pay(currency, invoice.address, String(invoice.amount));
  await world.sees(shop, invoice.id, 'SETTLED', { mine: currency });
  return invoice;
}
/** A payment as the stream of events tells it, and nothing else was asked: the JSON text of its newest version. */
async function rebuilt(shop: Shop, id: string): Promise<string> {
  let newest = { version: 0, json: '' };
  let expected = 1;
  for (let after = '0', hasMore = true; hasMore;) {
    const page = rawProperty(await text(shop, `/api/v1/events?limit=3&after=${after}`), 'data')!;
    const parsed = JSON.parse(page) as {
      items: Array<{ id: string; seq: number }>;
      hasMore: boolean;
      nextCursor: string;
    };
    for (const { id: eventId, seq } of parsed.items) {
      expect(seq).toBe(expected++);
      const event = rawProperty(await text(shop, `/api/v1/events/${eventId}`), 'data')!;
      expect(page).toContain(event);
      const json = rawProperty(event, 'data')!;
      const data = JSON.parse(json) as { _id?: string; stateVersion: number };
      if (data._id === id && data.stateVersion >= newest.version) newest = { version: data.stateVersion, json };
    }
    ({ hasMore, nextCursor: after } = parsed);
  }
  return newest.json;
}

describe('the events of a payment', () => {
  const types = ['created', 'detected', 'confirming', 'confirmed', 'sweep_queued', 'settled'].map(
    (t) => `payment.${t}`,
  );
  let shop: Shop;
  let invoice: Invoice;
  let books: Awaited<ReturnType<typeof endpoint>>;
  let flaky: typeof books;

  it('reach two endpoints and the IPN, the same bytes, while a dead endpoint delays nobody', async () => {
    shop = await world.shop();
    behaviour.set('/dead', () => undefined);
    behaviour.set('/flaky', (response, nth) => response.writeHead(nth < 3 ? 500 : 204).end());
    const dead = await endpoint(shop, '/dead');
    books = await endpoint(shop, '/books');
    const some = await endpoint(shop, '/some', ['payment.settled', 'payment.failed']);
    flaky = await endpoint(shop, '/flaky', ['payment.settled']);
    invoice = await settled(shop);
    await world.until(
      'every event is delivered',
      () => idsAt('/books').size === types.length && world.eventsOf(invoice.id).length >= types.length,
    );
    await world.until('the other endpoint has its own', () => idsAt('/some').size === 1);

    expect(new Set(callsOf('/books').map(({ type }) => type))).toEqual(new Set(types));
    expect(new Set(callsOf('/some').map(({ type }) => type))).toEqual(new Set(['payment.settled']));
    await world.until('the IPN has all', () =>
      types.every((type) => world.eventsOf(invoice.id).some((event) => event.type === type)),
    );
    const ipn = new Map(world.eventsOf(invoice.id).map((event) => [event.id, event.raw]));
    for (const call of callsOf('/books')) {
      expect(call.body).toBe(ipn.get(call.id));
      verified(books.secret, call);
      expect(() => verified(some.secret, call)).toThrow();
      const { timestamp } = JSON.parse(call.body) as { timestamp: string };
      expect(call.at - new Date(timestamp).getTime()).toBeLessThan(14_000); // the dead one holds a connection for 15 s
    }
    verified(some.secret, callsOf('/some')[0]!);

    const log = await world.call(shop, 'GET', `/api/v1/webhook-deliveries?endpointId=${dead.id}`);
    expect(log.body.data.items).toHaveLength(types.length);
    for (const delivery of log.body.data.items) expect(['pending', 'retrying']).toContain(delivery.status);
    await world.call(shop, 'DELETE', dead.route);
  });

  it('are tried again where an endpoint fails for a while, and the log tells', async () => {
    await world.until('the third attempt has come', () => callsOf('/flaky').length >= 3);
    expect(callsOf('/flaky').map(({ headers }) => headers['x-webhook-attempt'])).toEqual(['1', '2', '3']);
    for (const call of callsOf('/flaky')) verified(flaky.secret, call);
    const path = `/api/v1/webhook-deliveries?endpointId=${flaky.id}`;
    await world.until(
      'the log knows',
      async () => (await world.call(shop, 'GET', path)).body.data.items[0].status === 'succeeded',
    );
    const [delivery] = (await world.call(shop, 'GET', path)).body.data.items;
    expect(delivery.attempts.map((attempt: { statusCode: number }) => attempt.statusCode)).toEqual([500, 500, 204]);
    await world.history(`webhook/${delivery.id}`, 'webhook-second-attempt');
    const workflow = await world.temporal.workflow.getHandle(`webhook/${delivery.id}`).describe();
    expect(workflow.searchAttributes).toMatchObject({
      Kind: ['webhook'],
      EventType: ['payment.settled'],
      PaymentId: [invoice.id],
    });
    // What was taken at once never had a workflow.
    const [taken] = (await world.call(shop, 'GET', `/api/v1/webhook-deliveries?endpointId=${books.id}`)).body.data
      .items;
    await expect(world.temporal.workflow.getHandle(`webhook/${taken.id}`).describe()).rejects.toThrow(/not found/i);
  });

  it('rebuild the payment without asking for it', async () => {
    const json = await rebuilt(shop, invoice.id);
    const got = await text(shop, `/api/v1/payments/${invoice.id}`);
    // Each block counts `confirmations` up; everything else is byte for byte what was told last.
    const still = (payment: string) => payment.replace(/"confirmations":\d+/, '"confirmations":0');
    expect(still(json)).toBe(still(got));

    const untouched = await world.invoice(shop, { amount: 10, currency: 'BTC', metadata: { n: 10 } });
    await world.call(shop, 'POST', `/api/v1/payments/${untouched.id}/cancel`);
    await world.until('it is cancelled', async () => (await world.payment(shop, untouched.id)).status === 'CANCELLED');
    expect(await rebuilt(shop, untouched.id)).toBe(await text(shop, `/api/v1/payments/${untouched.id}`));
  });

  it('can be sent again, one by one or to an endpoint that came later', async () => {
    const event = callsOf('/books')[0]!;
    const redelivered = await world.call(
      shop,
      'POST',
      `/api/v1/webhook-deliveries/${deliveryId(event.id, books.id)}/redeliver`,
      {},
    );
    expect(redelivered.status).toBe(202);
    await world.until('it came twice', () => callsOf('/books').filter(({ id }) => id === event.id).length >= 2);
    const [first, second] = callsOf('/books').filter(({ id }) => id === event.id);
    expect(second!.body).toBe(first!.body);
    expect(second!.headers['x-webhook-attempt']).toBe('2');

    const later = await endpoint(shop, '/later', ['payment.*']);
    const span = { since: '2020-01-01', until: new Date(Date.now() + 60_000).toISOString() };
    const replayed = await world.call(shop, 'POST', `${later.route}/replay`, span);
    const [{ n }] = await world.db.query(`SELECT count(*)::int AS n FROM event WHERE merchant_id = $1`, [shop.id]);
    expect(replayed).toMatchObject({ status: 202, body: { data: { deliveries: n } } });
    await world.until('all of them came', () => idsAt('/later').size === n);
    for (const call of callsOf('/later')) verified(later.secret, call);
  });

  it('are signed with both secrets after a rotation', async () => {
    const { secret } = (await world.call(shop, 'POST', `${books.route}/rotate-secret`, {})).body.data;
    const tested = await world.call(shop, 'POST', `${books.route}/test`, { type: 'payment.settled' });
    expect(tested.status).toBe(202);
    await world.until('the test came', () => callsOf('/books').some(({ type }) => type === 'webhook.test'));
    const test = callsOf('/books').find(({ type }) => type === 'webhook.test')!;
    verified(secret, test);
    verified(books.secret, test);
    expect((JSON.parse(test.body) as { data: { example: { _id: string } } }).data.example._id).toBe(invoice.id);
    expect(callsOf('/later').some(({ type }) => type === 'webhook.test')).toBe(false);
  });

  it('go no more to an endpoint that says it is gone, and the others hear of it', async () => {
    behaviour.set('/gone', (response) => response.writeHead(410).end());
    const gone = await endpoint(shop, '/gone', ['payment.created']);
    await world.invoice(shop, { amount: 10, currency: 'BTC' });
    await world.until('the others hear of it', () =>
      callsOf('/books').some(({ type }) => type === 'webhook_endpoint.disabled'),
    );
    expect((await world.call(shop, 'GET', gone.route)).body.data).toMatchObject({
      isActive: false,
      disabledReason: 'gone',
    });
    await world.invoice(shop, { amount: 10, currency: 'BTC' });
    await world.until(
      'the outbox is empty',
      async () => !(await world.db.query('SELECT FROM temporal_request')).length,
    );
    expect(callsOf('/gone')).toHaveLength(1);
    expect(await world.audit()).toEqual([]);
  });

  it('reach their receivers while Temporal is away, and are repeated once it is back', async () => {
    const away = await endpoint(shop, '/away', ['payment.created', 'payment.cancelled']);
    behaviour.set('/away', (response, nth) => response.writeHead(nth < 2 ? 500 : 204).end());
    const temporal = world.stack.part('temporal');
    await temporal.kill9();
    try {
      const { id } = await world.invoice(shop, { amount: 10, currency: 'BTC' });
      await world.until('the others have it', () =>
        callsOf('/books').some(({ type, body }) => type === 'payment.created' && body.includes(id)),
      );
      await world.until('it failed at one', () => callsOf('/away').length === 1);
    } finally {
      await temporal.start();
    }
    await world.until('its second attempt came', () => callsOf('/away').length === 2, 120_000);
    const path = `/api/v1/webhook-deliveries?endpointId=${away.id}`;
    await world.until(
      'it is delivered',
      async () => (await world.call(shop, 'GET', path)).body.data.items[0].status === 'succeeded',
    );
    await world.until(
      'the outbox is empty',
      async () => !(await world.db.query('SELECT FROM temporal_request')).length,
      120_000,
    );
    expect(await world.audit()).toEqual([]);
  });
});
