import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startCollector, type Collector, type Recorded } from '../collector';
import { World, type Shop } from '../world';

/** One trace from a request to its webhooks, through every process of the whole stack. Decision: 0053. */

type Hook = Readonly<{ type: string; entityId: string; traceparent: string | undefined }>;

let world: World;
let collector: Collector;
let shop: Shop;
let server: Server;
let url: string;
const hooks: Hook[] = [];

beforeAll(async () => {
  collector = await startCollector();
  world = await World.start({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
  });
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { type, data } = JSON.parse(Buffer.concat(chunks).toString()) as { type: string; data: { _id: string } };
      const traceparent = request.headers.traceparent?.toString();
      hooks.push({ type, entityId: data._id, traceparent });
      // The second attempt is that of a workflow.
      const isFirst = hooks.filter((hook) => hook.type === type && hook.entityId === data._id).length === 1;
      response.writeHead(type === 'payment.settled' && isFirst ? 500 : 200).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook-of-the-shop`;
  shop = await world.shop();
}, 240_000);
afterAll(async () => {
  server?.closeAllConnections();
  server?.close();
  await world?.stop();
  collector?.stop();
}, 60_000);

const ofTrace = (traceId: string): Recorded[] => collector.spans.filter((span) => span.traceId === traceId);
/** Names from a span up to the first of its trace. */
function pathOf(span: Recorded): string[] {
  const above = ofTrace(span.traceId).find(({ spanId }) => spanId === span.parentSpanId);
  return [span.name, ...(above ? pathOf(above) : [])];
}
const named = (traceId: string, name: string): Recorded[] => ofTrace(traceId).filter((span) => span.name === name);
const hooksOf = (id: string, type: string): Hook[] =>
  hooks.filter((hook) => hook.entityId === id && hook.type === type);

it('one trace goes from a request through workflows, activities and nodes to its webhooks', async () => {
  const [callersTrace, callersSpan] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  const answer = await world.call(
    shop,
    'POST',
    '/api/v1/payments',
    { amount: 25, currency: 'ETH', ipnCallbackUrl: url },
    // Not recorded there: whether it is recorded here is decided here.
    { traceparent: `00-${callersTrace}-${callersSpan}-00`, 'x-request-id': 'traced-order' },
  );
  expect(answer.status).toBe(201);
  const { paymentId: id, depositAddress, amount } = answer.body;
  await world.payer.pay('ETH', depositAddress, String(amount));
  await world.sees(shop, id, 'SETTLED', { mine: 'ETH' });
  await world.until('the webhooks are delivered', () => hooksOf(id, 'payment.settled').length === 2);
  await world.until('the spans have come', () =>
    ['workflow payment', 'workflow sweep', 'workflow webhook'].every((name) => named(callersTrace, name).length > 0),
  );

  const spans = ofTrace(callersTrace);
  const known = new Set(spans.map(({ spanId }) => spanId));
  const [first] = named(callersTrace, 'POST /api/v1/payments');
  expect(first).toMatchObject({
    service: 'crypto-payments-api',
    parentSpanId: callersSpan,
    attributes: {
      'http.route': '/api/v1/payments',
      'http.response.status_code': 201,
      merchantId: shop.id,
      requestId: 'traced-order',
    },
  });
  expect(spans.filter((span) => span !== first && !known.has(span.parentSpanId)).map(({ name }) => name)).toEqual([]);
  expect(known.size).toBe(spans.length);
  expect(new Set(spans.map(({ service }) => service))).toEqual(
    new Set(['api', 'payments', 'chain', 'signer'].map((role) => `crypto-payments-${role}`)),
  );

  const ofPayment = ['workflow payment', 'start payment', 'POST /api/v1/payments'];
  expect(pathOf(named(callersTrace, 'advancePayment')[0]!)).toEqual(['advancePayment', ...ofPayment]);
  const ofSweep = ['workflow sweep', 'signal sweep', 'queueSweep', ...ofPayment];
  expect(pathOf(named(callersTrace, 'workflow sweep')[0]!)).toEqual(ofSweep);
  const [sent] = named(callersTrace, 'eth_sendRawTransaction');
  expect(sent).toMatchObject({ service: 'crypto-payments-chain', attributes: { 'rpc.system': 'jsonrpc' } });
  expect(pathOf(sent!).slice(2)).toEqual(ofSweep);

  const [created] = named(callersTrace, 'webhook payment.created');
  expect(pathOf(created!)).toEqual(['webhook payment.created', 'POST /api/v1/payments']);
  const settled = named(callersTrace, 'webhook payment.settled');
  expect(settled.map(({ attributes, isFault }) => [attributes['http.response.status_code'], isFault])).toEqual([
    [500, true],
    [200, false],
  ]);
  expect(settled[0]!.attributes).toMatchObject({ paymentId: id, merchantId: shop.id, type: 'payment.settled' });
  expect(pathOf(settled[0]!)).toEqual(['webhook payment.settled', 'settlePayment', ...ofPayment]);
  expect(pathOf(settled[1]!).slice(0, 4)).toEqual([
    'webhook payment.settled',
    'deliverOnce',
    'workflow webhook',
    'signal webhook',
  ]);
  const told = [created!, ...settled].map(({ spanId }) => `00-${callersTrace}-${spanId}-01`);
  expect([...hooksOf(id, 'payment.created'), ...hooksOf(id, 'payment.settled')].map((one) => one.traceparent)).toEqual(
    told,
  );
  for (const hook of hooks.filter(({ entityId }) => entityId === id))
    expect(hook.traceparent).toMatch(new RegExp(`^00-${callersTrace}-`));
});

it('a request of nobody known begins a trace of its own, which the log tells', async () => {
  const callers = 'ab'.repeat(16);
  const answer = await fetch(`${world.stack.apiUrl}/api/v1/currencies`, {
    headers: { traceparent: `00-${callers}-${'cd'.repeat(8)}-01` },
  });
  const requestId = answer.headers.get('x-request-id');
  const isIt = ({ attributes }: Recorded): boolean => attributes.requestId === requestId;
  await world.until('its span has come', () => collector.spans.some(isIt));
  const span = collector.spans.find(isIt)!;
  expect(span).toMatchObject({ name: 'GET /api/v1/currencies', parentSpanId: '' });
  expect(span.traceId).not.toBe(callers);
  const lines = readdirSync(join(world.dataDir, 'logs'))
    .flatMap((file) => readFileSync(join(world.dataDir, 'logs', file), 'utf8').split('\n'))
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.filter((line) => line.requestId === requestId)).toMatchObject([{ traceId: span.traceId }]);

  const ofOrder = lines.filter((line) => line.requestId === 'traced-order');
  const steps = ['request', 'payment created', 'payment settled', 'delivery sent', 'delivery failed'];
  for (const step of steps) expect(ofOrder.map(({ msg }) => msg)).toContain(step);
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  expect(ofOrder.filter((line) => line.traceId !== traceId)).toEqual([]);
  expect(lines.filter(({ msg }) => msg === 'transaction sent')).toContainEqual(expect.objectContaining({ traceId }));
});

it('no span holds a secret, an address of a receiver or a mailbox', async () => {
  const said = collector.raw.join('\n');
  expect(said).toContain('POST /api/v1/payments');
  const [{ address }] = await world.db.query<[{ address: string }]>(
    'SELECT address FROM address WHERE payment_id IS NOT NULL LIMIT 1',
  );
  for (const hidden of [shop.secretKey, 'svc_', 'hook-of-the-shop', address, world.stack.secrets.secretsKey, '@'])
    expect([hidden, said.includes(hidden)]).toEqual([hidden, false]);
  expect(said.match(/https?:\/\/[^"]+/g)).toBeNull();
});
