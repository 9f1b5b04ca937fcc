/** @jest-environment node */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServerPlaces } from '../../activities/webhooks/server-places';
import { jsonRpc } from '../../chains/json-rpc';
import { emitEvents, type NewEvent } from '../../db/webhooks/events';
import { parseConfig } from '../../domain/config';
import { newId } from '../../domain/ids';
import { inSpan, isTracing, readTraceparent } from '../../domain/tracing';
import { root } from '../../sandbox/paths';
import { DeliveryPool } from '../../workers/deliveries/pool';
import { startTracing, type Tracing } from '../../workers/tracing/start';
import { eventually, startHarness, type Harness, type Shop } from '../api/harness';
import { startCollector, type Collector, type Recorded } from '../collector';
import { connectionsTo } from '../setup/postgres';

/** What is recorded of requests and webhooks, what is not, and that nothing is without OTEL_*. Decision: 0053. */

let h: Harness;
let shop: Shop;
let collector: Collector;
let server: Server;
let url: string;
let received: IncomingHttpHeaders[] = [];
let tracing: Tracing | null = null;
const own = new Set<string>();

/** As a process starts them, with spans that are sent at once. */
async function trace(env: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries({ OTEL_BSP_SCHEDULE_DELAY: '20', ...env })) {
    own.add(name);
    process.env[name] = value;
  }
  tracing = await startTracing(parseConfig(env), 'crypto-payments-test');
}

beforeAll(async () => {
  collector = await startCollector();
  h = await startHarness({ ALLOW_INSECURE_CALLBACKS: 'true' });
  shop = await h.shop();
  server = createServer((request, response) => {
    received.push(request.headers);
    request.resume();
    request.on('end', () => response.end('{"result":"0x1"}'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(async () => {
  server?.closeAllConnections();
  server?.close();
  collector?.stop();
  await h?.stop();
});
afterEach(async () => {
  await tracing?.stop();
  tracing = null;
  for (const name of own) delete process.env[name];
  own.clear();
  collector.spans.length = 0;
  received = [];
});

const json = (): Record<string, string> => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
});
const callers = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const traceId = callers.split('-')[1]!;
const pay = async (headers: Record<string, string> = {}, key = shop.key): Promise<string> => {
  const body = { amount: 25, currency: 'BTC', ipnCallbackUrl: url };
  const { status, body: answer } = await h.call('POST', '/api/v1/payments', { key, body, headers });
  expect(status).toBe(key === shop.key ? 201 : 401);
  return answer.paymentId as string;
};
const rowsOf = (id: string): Promise<unknown> =>
  h.db.query(
    `SELECT e.traceparent AS event, r.traceparent AS request FROM event e, temporal_request r
      WHERE e.entity_id = $1 AND r.workflow_id = 'payment/' || $1`,
    [id],
  );
const recorded = async (name: string): Promise<Recorded> => {
  await eventually(() => Promise.resolve(collector.spans.some((span) => span.name === name)));
  return collector.spans.find((span) => span.name === name)!;
};

it('reads the context of W3C, and nothing that only looks like it', () => {
  expect(readTraceparent(callers)).toEqual({ traceId, spanId: '00f067aa0ba902b7' });
  expect(readTraceparent(`01${callers.slice(2)}-more`)).toEqual({ traceId, spanId: '00f067aa0ba902b7' });
  for (const wrong of [
    undefined,
    '',
    `${callers}-more`,
    `ff${callers.slice(2)}`,
    callers.toUpperCase(),
    callers.replace(traceId, '0'.repeat(32)),
    callers.replace('00f067aa0ba902b7', '0'.repeat(16)),
    callers.replace(traceId, `${traceId}\n`),
  ])
    expect([wrong, readTraceparent(wrong)]).toEqual([wrong, null]);
});

it('goes on with the trace of a caller who has a secret key, and of nobody else', async () => {
  await trace(json());
  const id = await pay({ traceparent: callers });
  const first = await recorded('POST /api/v1/payments');
  expect(first).toMatchObject({ traceId, parentSpanId: '00f067aa0ba902b7', service: 'crypto-payments-test' });
  const ours = `00-${traceId}-${first.spanId}-01`;
  expect(await rowsOf(id)).toEqual([{ event: ours, request: ours }]);

  collector.spans.length = 0;
  await pay({ traceparent: callers }, 'svc_live_nobody');
  const refused = await recorded('POST /api/v1/payments');
  expect(refused).toMatchObject({
    parentSpanId: '',
    isFault: false,
    attributes: { 'http.response.status_code': 401, errorCode: 'INVALID_API_KEY' },
  });
  expect(refused.traceId).not.toBe(traceId);
  await h.call('GET', '/healthz');
  await h.call('GET', '/nothing-here');
  await h.call('GET', '/api/v1/currencies?q=secret-words');
  await recorded('GET /api/v1/currencies');
  expect(collector.spans.map(({ name }) => name)).toEqual(['POST /api/v1/payments', 'GET /api/v1/currencies']);
  expect(JSON.stringify(collector.spans)).not.toContain('secret-words');
});

it('decides by its own settings what is recorded, whatever the caller asks for', async () => {
  await trace({ ...json(), OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' });
  const id = await pay({ traceparent: callers });
  expect(await rowsOf(id)).toEqual([{ event: null, request: null }]);
  await h.call('GET', '/api/v1/currencies');
  await tracing!.stop();
  expect(collector.spans).toEqual([]);
});

it('hands the trace to webhooks and nodes, and later events have that of the one before', async () => {
  await trace(json());
  const id = await pay({ traceparent: callers });
  const event = (more: Partial<NewEvent>): NewEvent => ({
    merchantId: shop.id,
    type: 'payment.settled',
    entityId: id,
    stateVersion: 2,
    data: '{}',
    previous: {},
    ipnUrl: null,
    openDelta: 0,
    ...more,
  });
  await h.db.transaction((tx) => emitEvents(tx, [event({}), event({ entityId: newId() })]));
  const rows = await h.db.query<Array<{ traceparent: string | null }>>(
    `SELECT traceparent FROM event WHERE merchant_id = $1 AND (entity_id = $2 OR traceparent IS NULL) ORDER BY seq DESC
       LIMIT 3`,
    [shop.id, id],
  );
  expect(rows.map((row) => row.traceparent?.split('-')[1])).toEqual([undefined, traceId, traceId]);

  const worker = await connectionsTo(h.databaseUrl).initialize();
  const lines: Array<Record<string, unknown>> = [];
  const log = {
    info: (fields: object) => void lines.push({ ...fields }),
    warn: () => undefined,
    error: () => undefined,
  };
  const pool = new DeliveryPool(worker, h.api.deps.config, new ServerPlaces(), log as never);
  pool.start();
  const isSent = ({ name, attributes }: Recorded): boolean =>
    name === 'webhook payment.created' && attributes.paymentId === id;
  await eventually(() => Promise.resolve(collector.spans.some(isSent)));
  const sent = collector.spans.find(isSent)!;
  await pool.stop();
  await worker.destroy();
  expect(sent).toMatchObject({ traceId, attributes: { paymentId: id, 'http.response.status_code': 200 } });
  expect(received.map((headers) => headers.traceparent)).toContain(`00-${traceId}-${sent.spanId}-01`);
  expect(lines.find(({ paymentId }) => paymentId === id)).toMatchObject({ traceId });

  received = [];
  await inSpan({ name: 'step', kind: 'internal', parent: callers }, () => jsonRpc(url)('eth_chainId'));
  await jsonRpc(url)('eth_blockNumber');
  const step = await recorded('step');
  const node = await recorded('eth_chainId');
  expect(node).toMatchObject({ traceId, parentSpanId: step.spanId });
  expect(received.map((headers) => headers.traceparent)).toEqual([`00-${traceId}-${node.spanId}-01`, undefined]);
});

it('speaks protobuf unless told, and a collector that is away hurts nobody and is told of once', async () => {
  await trace({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  await pay();
  await eventually(() => Promise.resolve(collector.types.includes('POST /v1/traces application/x-protobuf')));
  await tracing!.stop();

  await trace({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_EXPORTER_OTLP_TIMEOUT: '50' });
  const told: unknown[] = [];
  tracing!.reportTo({ warn: (...line: unknown[]) => void told.push(line) });
  for (let n = 0; n < 5; n += 1) {
    await pay();
    await sleep(100);
  }
  await eventually(() => Promise.resolve(told.length > 0));
  expect(told).toEqual([[{ error: expect.any(String) as string }, 'Spans of traces are lost']]);
  const stopped = performance.now();
  await tracing!.stop();
  expect(performance.now() - stopped).toBeLessThan(4000);
});

it.each([
  ['nothing', {}],
  ['OTEL_SDK_DISABLED', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' }],
  ['OTEL_TRACES_EXPORTER=none', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_TRACES_EXPORTER: 'none' }],
])('is off with %s: no row and no webhook has a trace', async (_, env) => {
  await trace(env);
  expect([tracing, isTracing()]).toEqual([null, false]);
  const id = await pay({ traceparent: callers });
  expect(await rowsOf(id)).toEqual([{ event: null, request: null }]);
});

it('takes what processes of the release before write, which name no trace', async () => {
  const [id, entityId] = [newId(), newId()];
  expect(
    await h.db.query(
      `SELECT emit_event_2($1, $2, 'payment.settled', $3, 1, '{}', '{}', $2, $4, 0, 'asked', $3) AS id`,
      [shop.id, id, entityId, url],
    ),
  ).toEqual([{ id: 'asked' }]);
  expect(await h.db.query('SELECT request_id, traceparent FROM event WHERE id = $1', [id])).toEqual([
    { request_id: 'asked', traceparent: null },
  ]);
  await h.db.query(`SELECT request_workflow('signal', 'payment', 'payment/old', '["1"]', 'updated', '{}')`);
  expect(await h.db.query(`SELECT kind, traceparent FROM temporal_request WHERE workflow_id = 'payment/old'`)).toEqual([
    { kind: 'signal', traceparent: null },
  ]);
  const copied = await pay({ 'idempotency-key': 'of-the-release-before' });
  expect(
    await h.db.query(`SELECT insert_payment(p, '{}', 'created', '{}', '{}') AS inserted FROM payment p WHERE id = $1`, [
      copied,
    ]),
  ).toEqual([{ inserted: false }]);
});

/** Packages of OpenTelemetry that a process has in memory when it waits for its database. */
async function loadedBy(file: string, env: Record<string, string>): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'loaded-'));
  const list = join(folder, 'list');
  const child = spawn(process.execPath, ['--require', join(__dirname, 'loaded.cjs'), join(root, 'dist', file)], {
    env: {
      PATH: process.env.PATH,
      LOADED: list,
      DATABASE_URL: 'postgres://nobody:x@127.0.0.1:1/none',
      SECRETS_KEY: 'ab'.repeat(32),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let said = '';
    for await (const chunk of child.stdout) if ((said += String(chunk)).includes('does not answer')) break;
    expect(said).toContain('does not answer');
    return existsSync(list) ? [...new Set(readFileSync(list, 'utf8').trim().split('\n'))] : [];
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
    rmSync(folder, { recursive: true });
  }
}

it.each(['api/server.js', 'workers/payments.js'])('%s loads no SDK of OpenTelemetry without OTEL_*', async (file) => {
  // Its interfaces belong to prom-client too.
  expect((await loadedBy(file, {})).filter((name) => name !== '@opentelemetry/api')).toEqual([]);
});

it('loads it where OTEL_* ask for it', async () => {
  const loaded = await loadedBy('api/server.js', { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  expect(loaded).toContain('@opentelemetry/sdk-trace-base');
});
