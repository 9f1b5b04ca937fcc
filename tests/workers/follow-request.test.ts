import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import pino, { type Logger } from 'pino';
import { ServerPlaces } from '../../activities/webhooks/server-places';
import { webhookActivities } from '../../activities/webhooks/webhooks';
import { withOrigin } from '../../db/origin';
import { logEvents } from '../../db/webhooks/emitted';
import { emitEvent, emitEvents, type NewEvent } from '../../db/webhooks/events';
import { newId } from '../../domain/ids';
import { DeliveryPool } from '../../workers/deliveries/pool';
import { eventually, startHarness, type Harness, type Shop } from '../api/harness';
import { connectionsTo } from '../setup/postgres';

/** A request is followed to its webhooks by one id, through the API, the workers and the database. */

type Line = Readonly<Record<string, unknown>>;
let h: Harness;
let shop: Shop;
let server: Server;
let url: string;
let answers: number[] = [];
let lines: Line[] = [];
let log: Logger;
let worker: Harness['db'];

beforeAll(async () => {
  h = await startHarness({ ALLOW_INSECURE_CALLBACKS: 'true' });
  shop = await h.shop();
  log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
  worker = await connectionsTo(h.databaseUrl).initialize();
  logEvents(worker, log);
  server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(answers.shift() ?? 200).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(async () => {
  server?.closeAllConnections();
  server?.close();
  await worker?.destroy();
  await h?.stop();
});
beforeEach(() => {
  lines = [];
  answers = [];
});

const asked = { amount: 25, currency: 'BTC' };
async function create(requestId: string, body: object = asked): Promise<string> {
  const headers = { 'X-Request-Id': requestId };
  const answer = await h.call('POST', '/api/v1/payments', { key: shop.key, body, headers });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body.paymentId as string;
}
const ofApi = (text: string): Line[] =>
  h.logs.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg === text);
const ofWorker = (text: string): Line[] => lines.filter(({ msg }) => msg === text);
const event = (more: Partial<NewEvent>): NewEvent => ({
  merchantId: shop.id,
  type: 'payment.settled',
  entityId: newId(),
  stateVersion: 2,
  data: '{}',
  previous: {},
  ipnUrl: null,
  openDelta: 0,
  ...more,
});

it('follows a request to each attempt at its webhook by one id', async () => {
  answers = [500];
  const requestId = 'shop-order-4711';
  const paymentId = await create(requestId, { ...asked, ipnCallbackUrl: url });
  expect(ofApi('request').at(-1)).toMatchObject({ requestId, status: 201, merchantId: shop.id });
  const [created] = ofApi('payment created').filter((line) => line.requestId === requestId);
  expect(created).toMatchObject({ level: 30, paymentId, merchantId: shop.id, eventId: expect.any(String) });

  const pool = new DeliveryPool(worker, h.api.deps.config, new ServerPlaces(), log);
  pool.start();
  await eventually(() => Promise.resolve(ofWorker('delivery failed').length > 0));
  await pool.stop();
  const ids = { requestId, paymentId, merchantId: shop.id, eventId: created!.eventId, type: 'payment.created' };
  expect(ofWorker('delivery failed')).toMatchObject([
    { ...ids, level: 30, attempt: 1, statusCode: 500, willRetry: true, endpoint: 'ipn' },
  ]);
  const { deliveryId } = ofWorker('delivery failed')[0] as { deliveryId: string };

  const { deliverOnce } = webhookActivities({ db: worker, config: h.api.deps.config, log });
  const workflowId = `webhook/${deliveryId}`;
  await withOrigin({ workflowId }, () => deliverOnce(deliveryId, 1));
  expect(ofWorker('delivery sent')).toMatchObject([{ ...ids, deliveryId, workflowId, attempt: 2, statusCode: 200 }]);

  // The next event has no request of its own: it is told by that of the payment, and so is its webhook.
  answers = [];
  await withOrigin({ workflowId: `payment/${paymentId}` }, () =>
    worker.transaction((tx) =>
      emitEvent(tx, event({ entityId: paymentId, data: '{"sweep":{"txId":"ab12"}}', ipnUrl: url })),
    ),
  );
  expect(ofWorker('payment settled')).toMatchObject([
    { level: 30, requestId, paymentId, merchantId: shop.id, workflowId: `payment/${paymentId}`, txId: 'ab12' },
  ]);
  const second = new DeliveryPool(worker, h.api.deps.config, new ServerPlaces(), log);
  second.start();
  await eventually(() => Promise.resolve(ofWorker('delivery sent').length > 1));
  await second.stop();
  expect(ofWorker('delivery sent')[1]).toMatchObject({ requestId, paymentId, type: 'payment.settled', attempt: 1 });
  expect(JSON.stringify(lines)).not.toContain(url);
});

it('knows the request of every event that a request has made', async () => {
  const key = shop.key;
  const post = async (path: string, requestId: string, body: object, status: number) => {
    const answer = await h.call('POST', path, { key, body, headers: { 'X-Request-Id': requestId } });
    expect([path, answer.status, answer.text]).toEqual([path, status, expect.anything()]);
    return answer.body;
  };
  const cancelled = await create('makes-one');
  await post(`/api/v1/payments/${cancelled}/cancel`, 'cancels-it', {}, 200);
  const endpoint = await post('/api/v1/webhook-endpoints', 'an-endpoint', { url, enabledEvents: ['*'] }, 201);
  const id = (endpoint.data ?? endpoint).id as string;
  await post(`/api/v1/webhook-endpoints/${id}/test`, 'tests-endpoint', {}, 202);
  const rows = await h.db.query<Array<{ type: string; request_id: string | null }>>(
    'SELECT type, request_id FROM event WHERE entity_id = ANY($1) ORDER BY seq',
    [[cancelled, id]],
  );
  expect(rows.map((row) => [row.type, row.request_id])).toEqual([
    ['payment.created', 'makes-one'],
    ['payment.cancelled', 'cancels-it'],
    ['webhook.test', 'tests-endpoint'],
  ]);
  expect(await h.db.query(`SELECT type FROM event WHERE request_id IS NULL`)).toEqual([]);
  expect(ofApi('payment cancelled')).toMatchObject([{ requestId: 'cancels-it', paymentId: cancelled }]);
});

it('takes the request of what an event came from, and of nothing else', async () => {
  const payout = newId();
  const line = event({ type: 'mass_payout.leg_completed', follows: payout, data: '{"txId":"cd34"}' });
  const emitted = (events: readonly NewEvent[]) => worker.transaction((tx) => emitEvents(tx, events));
  await withOrigin({ requestId: 'pays-many' }, () =>
    emitted([event({ type: 'mass_payout.created', entityId: payout })]),
  );
  await emitted([line, event({ type: 'mass_payout.leg_failed' })]);
  expect(ofWorker('mass payout leg completed')).toMatchObject([
    { requestId: 'pays-many', payoutLineId: line.entityId, txId: 'cd34' },
  ]);
  expect(ofWorker('mass payout leg failed')[0]).not.toHaveProperty('requestId');

  const endpoint = event({ type: 'webhook.test', stateVersion: 1 });
  await withOrigin({ requestId: 'tests-endpoint' }, () => emitted([endpoint]));
  await emitted([{ ...endpoint, type: 'webhook_endpoint.disabled', stateVersion: 2 }]);
  expect(ofWorker('webhook endpoint disabled')[0]).not.toHaveProperty('requestId');
});

it('tells nothing of what is rolled back', async () => {
  const [kept, lost] = [event({}), event({ type: 'payment.failed' })];
  await worker.transaction(async (tx) => {
    await emitEvent(tx, kept);
    const inner = tx.transaction(async (inside) => {
      await emitEvent(inside, lost);
      throw new Error('no');
    });
    await expect(inner).rejects.toThrow('no');
    expect(lines).toEqual([]);
  });
  const outer = worker.transaction(async (tx) => {
    await emitEvent(tx, lost);
    throw new Error('no');
  });
  await expect(outer).rejects.toThrow('no');
  expect(lines).toMatchObject([{ msg: 'payment settled', paymentId: kept.entityId }]);
});

it('takes the events of processes of the release before, which name no request', async () => {
  const [id, entityId] = [newId(), newId()];
  const [row] = await h.db.query<Array<{ seq: string }>>(
    `SELECT emit_event($1, $2, 'payment.settled', $3, 1, '{}', '{}', $2, $4, 0) AS seq`,
    [shop.id, id, entityId, url],
  );
  const events = await h.db.query('SELECT id, request_id FROM event WHERE merchant_id = $1 AND seq = $2', [
    shop.id,
    row!.seq,
  ]);
  expect(events).toEqual([{ id, request_id: null }]);
  expect(await h.db.query('SELECT FROM delivery_queue WHERE delivery_id = $1', [id])).toHaveLength(1);
});
