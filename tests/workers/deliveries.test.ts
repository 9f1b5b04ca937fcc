import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { ServerPlaces } from '../../activities/webhooks/server-places';
import { webhookActivities } from '../../activities/webhooks/webhooks';
import { redeliver } from '../../commands/webhooks/redeliver';
import { audit } from '../../db/audit/audit';
import { seal } from '../../db/sealing';
import { claimRequests } from '../../db/temporal/temporal-requests';
import { deliveryId, emitEvent, replayEvents } from '../../db/webhooks/events';
import { createEndpoint } from '../../db/webhooks/webhook-endpoints';
import { parseConfig, type Config } from '../../domain/config';
import { newId } from '../../domain/ids';
import { DeliveryPool } from '../../workers/deliveries/pool';
import { root } from '../../sandbox/paths';
import { connectionsTo, freshDatabase } from '../setup/postgres';
import { noLog } from '../shared/no-log';
import { insertMerchant } from '../merchant-row';

/** First attempts, by the pool of the payments worker on a real database and real servers. There is no Temporal. */

type Call = { path: string; headers: IncomingHttpHeaders; id: string; at: number };

const secret = `whsec_${Buffer.from('twenty-four bytes of key').toString('base64')}`;
let config: Config;
let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
let server: Server;
let url: string;
let calls: Call[] = [];
/** What a path answers; 200 at once unless told. */
const behaviour = new Map<string, (response: ServerResponse) => void>();
const pools: DeliveryPool[] = [];

beforeAll(async () => {
  database = await freshDatabase();
  config = parseConfig({
    DATABASE_URL: database.url,
    ALLOW_INSECURE_CALLBACKS: 'true',
    SECRETS_KEY: 'a key of this test',
  });
  db = connectionsTo(database.url);
  await db.initialize();
  server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const path = request.url!;
      calls.push({ path, headers: request.headers, id: request.headers['webhook-id'] as string, at: Date.now() });
      (behaviour.get(path) ?? (() => response.end('ok')))(response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server?.closeAllConnections();
  server?.close();
  await db?.destroy();
  await database?.drop();
});
beforeEach(() => {
  calls = [];
  behaviour.clear();
});
afterEach(async () => {
  server.closeAllConnections(); // who still waits for an answer gets none
  await Promise.all(pools.splice(0).map((pool) => pool.stop()));
  await db.query('TRUNCATE delivery_queue, temporal_request, slow_receiver');
});

function start(): DeliveryPool {
  const pool = new DeliveryPool(db, config, new ServerPlaces(), noLog);
  pools.push(pool);
  pool.start();
  return pool;
}

async function merchant(): Promise<string> {
  const id = newId();
  await insertMerchant(db, id, { ipnSecret: seal(config.SECRETS_KEY, secret) });
  return id;
}
async function endpoint(
  merchantId: string,
  path: string,
  at = url,
): Promise<{ id: string; merchantId: string; url: string }> {
  const to = { url: at + path, enabledEvents: ['*'], description: null };
  return { id: (await createEndpoint(db, config.SECRETS_KEY, merchantId, to)).row.id, merchantId, url: to.url };
}
const emit = (merchantId: string, ipn: string | null = null): Promise<string> =>
  db.transaction((tx) =>
    emitEvent(tx, {
      merchantId,
      type: 'payment.settled',
      entityId: newId(),
      stateVersion: 1,
      data: '{"n":1.10}',
      previous: {},
      ipnUrl: ipn && url + ipn,
      openDelta: 0,
    }),
  );
const at = (path: string): Call[] => calls.filter((call) => call.path === path);
async function until(what: string, condition: () => Promise<boolean> | boolean, ms = 60_000): Promise<void> {
  for (const end = Date.now() + ms; !(await condition()); await sleep(20))
    if (Date.now() > end) throw new Error(`Not within ${ms} ms: ${what}`);
}
const rowOf = async (id: string) =>
  (
    await db.query<Array<{ status: string; attempts: number; queued: boolean }>>(
      `SELECT status, attempts, EXISTS (SELECT FROM delivery_queue WHERE delivery_id = id) AS queued FROM delivery
        WHERE id = $1`,
      [id],
    )
  )[0]!;
const hasStatus = (id: string, status: string): Promise<void> =>
  until(`${id} is ${status}`, async () => (await rowOf(id)).status === status && !(await rowOf(id)).queued);
const requests = (): Promise<Array<{ workflow_id: string; kind: string; wait: number }>> =>
  db.query(
    `SELECT workflow_id, kind, extract(epoch FROM r.claimed_until - d.updated_at)::float8 AS wait
       FROM temporal_request r JOIN delivery d ON r.workflow_id = 'webhook/' || d.id`,
  );
const endClaims = (): Promise<unknown> =>
  db.query(`UPDATE delivery_queue SET claimed_until = now() - interval '1 second'`);

it('sends an event as soon as it is committed, and asks Temporal for nothing', async () => {
  const shop = await merchant();
  const books = await endpoint(shop, '/books');
  start();
  await until('the pool hears', async () => {
    const id = await emit(shop, '/ipn');
    await hasStatus(deliveryId(id, books.id), 'succeeded');
    await hasStatus(deliveryId(id, 'ipn'), 'succeeded');
    return at('/ipn').length > 0;
  });
  const [call] = at('/books');
  expect(call!.headers).toMatchObject({ 'x-webhook-attempt': '1', 'webhook-id': call!.id });
  expect(await requests()).toEqual([]);
  const log = await db.query(
    'SELECT n, status_code, response_body, error FROM delivery_attempt WHERE delivery_id = $1',
    [deliveryId(call!.id, books.id)],
  );
  expect(log).toEqual([{ n: 1, status_code: 200, response_body: 'ok', error: null }]);
});

it('hands what failed to a workflow, which is asked for when the second attempt is due', async () => {
  const shop = await merchant();
  behaviour.set('/down', (response) => response.writeHead(500).end('down'));
  const id = deliveryId(await emit(shop, '/down'), 'ipn');
  start();
  await hasStatus(id, 'retrying');
  const [request, ...more] = await requests();
  expect(more).toEqual([]);
  expect(request).toMatchObject({ workflow_id: `webhook/${id}`, kind: 'signal' });
  expect(request!.wait).toBeGreaterThan(4.4);
  expect(request!.wait).toBeLessThan(5.6);
  expect(await claimRequests(db, 10, 15, false)).toEqual([]);
  await db.query(`UPDATE temporal_request SET claimed_until = now() - interval '1 second'`);
  expect(await claimRequests(db, 10, 15, false)).toMatchObject([
    { workflow: 'webhook', args: [id], signal: 'updated' },
  ]);
  behaviour.clear();
  const { deliverOnce } = webhookActivities({ db, config, log: noLog });
  expect(await deliverOnce(id, 1)).toMatchObject({ status: 'succeeded', attempt: 2 });
  expect(at('/down').map(({ headers }) => headers['x-webhook-attempt'])).toEqual(['1', '2']);
});

it('ends what says that it is gone, or is switched off, without a workflow', async () => {
  const shop = await merchant();
  const gone = await endpoint(shop, '/gone');
  behaviour.set('/gone', (response) => response.writeHead(410).end());
  const first = deliveryId(await emit(shop), gone.id);
  start();
  await hasStatus(first, 'failed');
  const off = await endpoint(shop, '/off');
  await pools.splice(0)[0]!.stop();
  const second = deliveryId(await emit(shop), off.id);
  await db.query('UPDATE webhook_endpoint SET is_active = false WHERE id = $1', [off.id]);
  start();
  await hasStatus(second, 'cancelled');
  expect([at('/gone').length, at('/off').length]).toEqual([1, 0]);
  expect(await requests()).toEqual([]);
});

it('lets a dead endpoint delay nobody, and holds it back once it is late', async () => {
  const shop = await merchant();
  behaviour.set('/dead', () => undefined);
  const dead = await endpoint(shop, '/dead', url.replace('127.0.0.1', 'localhost')); // another server
  await endpoint(shop, '/alive');
  for (let n = 0; n < 60; n += 1) await emit(shop);
  start();
  await until('the living have all', () => at('/alive').length === 60);
  expect(at('/dead').length).toBeLessThanOrEqual(20);
  await until('it is known as slow', async () => {
    const rows = await db.query('SELECT FROM slow_receiver WHERE endpoint = $1', [dead.id]);
    return rows.length > 0;
  });
  const since = Date.now();
  const id = await emit(shop);
  await until('the next one comes at once', () => at('/alive').some((call) => call.id === id));
  expect(Date.now() - since).toBeLessThan(5000); // it is silent for 15 s
  const [{ front }] = await db.query(
    'SELECT count(*)::int AS front FROM delivery_queue WHERE endpoint = $1 AND NOT is_behind AND claimed_until IS NULL',
    [dead.id],
  );
  expect(front).toBe(0);
});

it('gives a merchant with one event its turn beside one with ten thousand', async () => {
  const [big, small] = [await merchant(), await merchant()];
  const to = await endpoint(big, '/big');
  await db.query(
    `INSERT INTO event (id, merchant_id, seq, type, entity_id, state_version, data)
       SELECT lpad(to_hex(n), 24, '0'), $1, n, 'payment.settled', $1, n, '{}' FROM generate_series(1, 10000) n`,
    [big],
  );
  const span = { since: new Date(0), until: new Date(Date.now() + 60_000), types: ['*'] };
  const replayed = db.transaction(async (tx) => {
    await tx.query('SET LOCAL statement_timeout = 0'); // a machine that is busy elsewhere
    return replayEvents(tx, to, span);
  });
  expect(await replayed).toBe(10_000);
  await db.query('UPDATE delivery_queue SET is_behind = false'); // as if all were new
  start();
  await until('it is at work', () => at('/big').length > 40);
  const before = at('/big').length;
  await emit(small, '/small');
  await until('the other has its own', () => at('/small').length === 1);
  expect(at('/big').length - before).toBeLessThan(1000);
  await db.query('DELETE FROM delivery_queue WHERE merchant_id = $1', [big]);
});

it('shares the work of two pools: each delivery once', async () => {
  const shop = await merchant();
  await endpoint(shop, '/books');
  const ids: string[] = [];
  for (let n = 0; n < 300; n += 1) ids.push(await emit(shop));
  behaviour.set('/books', (response) => void setTimeout(() => response.end(), 50));
  start();
  start();
  await until('all are noted', async () => !(await db.query('SELECT FROM delivery_queue LIMIT 1')).length);
  expect(
    at('/books')
      .map(({ id }) => id)
      .sort(),
  ).toEqual(ids.sort());
});

describe('a process that dies', () => {
  /** Runs a pool in a process of its own until a fail point kills it. */
  async function killedAt(point: string): Promise<void> {
    await db.query(
      `INSERT INTO fail_point (name, action, remaining) VALUES ($1, 'kill', 1)
       ON CONFLICT (name) DO UPDATE SET action = 'kill', remaining = 1`,
      [point],
    );
    const child = spawn(process.execPath, [join(__dirname, 'pool.cjs'), database.url], { cwd: root, stdio: 'inherit' });
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
    expect(signal).toBe('SIGKILL');
  }

  it.each([
    ['before it sends', 'webhook.afterClaim', ['2']],
    ['before it notes the answer', 'webhook.afterPost', ['1', '2']],
  ])('%s leaves a claim that another takes when it ends', async (_, point, numbers) => {
    const shop = await merchant();
    const id = deliveryId(await emit(shop, '/ipn'), 'ipn');
    await killedAt(point);
    expect(await rowOf(id)).toEqual({ status: 'pending', attempts: 0, queued: true });
    start();
    await sleep(500);
    expect(at('/ipn')).toHaveLength(numbers.length - 1); // the claim of the dead holds
    expect(await webhookActivities({ db, config, log: noLog }).deliverOnce(id, 1)).toMatchObject({ attempt: 0 });
    await endClaims();
    await hasStatus(id, 'succeeded');
    expect(at('/ipn').map(({ headers }) => headers['x-webhook-attempt'])).toEqual(numbers);
    expect(new Set(at('/ipn').map((call) => call.id)).size).toBe(1);
    expect(await rowOf(id)).toEqual({ status: 'succeeded', attempts: 2, queued: false });
  });

  it('is an invariant where nobody takes its claim within a minute of its end', async () => {
    const shop = await merchant();
    const id = deliveryId(await emit(shop, '/ipn'), 'ipn');
    const unattempted = async () =>
      (await audit(db)).filter(({ what }) => what === 'a delivery that nobody will attempt');
    await db.query(`UPDATE delivery_queue SET claimed_until = now() - interval '10 seconds'`);
    expect(await unattempted()).toEqual([]);
    await db.query(`UPDATE delivery_queue SET claimed_until = now() - interval '70 seconds'`);
    expect(await unattempted()).toMatchObject([{ invariant: 'I11', found: [id] }]);
  });

  it('again and again over one delivery leaves that to a workflow', async () => {
    const shop = await merchant();
    const id = deliveryId(await emit(shop, '/ipn'), 'ipn');
    await db.query(`UPDATE delivery_queue SET tries = 3, claimed_until = now() - interval '1 second'`);
    start();
    await until('it is asked for', async () => (await requests()).length === 1);
    expect(await rowOf(id)).toMatchObject({ status: 'pending', queued: false });
    expect(await claimRequests(db, 10, 15, false)).toMatchObject([{ workflow: 'webhook', args: [id] }]);
    expect(calls).toEqual([]);
  });
});

describe('what is asked for again', () => {
  it('begins a new round in the queue, and is tried at once where it is asked for during an attempt', async () => {
    const shop = await merchant();
    const id = deliveryId(await emit(shop, '/ipn'), 'ipn');
    start();
    await hasStatus(id, 'succeeded');
    let answer = (): void => undefined;
    behaviour.set('/ipn', (response) => (answer = () => response.writeHead(500).end()));
    await db.transaction((tx) => redeliver(tx, shop, id));
    await until('it came again', () => at('/ipn').length === 2);
    await db.transaction((tx) => redeliver(tx, shop, id));
    answer();
    await hasStatus(id, 'retrying');
    const [request] = await requests();
    expect(request!.wait).toBeLessThan(1);
    expect(at('/ipn').map(({ headers }) => headers['x-webhook-attempt'])).toEqual(['1', '2']);
    const [{ before }] = await db.query('SELECT attempts_before AS before FROM delivery WHERE id = $1', [id]);
    expect(before).toBe(1);
  });

  it('of a span of time comes behind what is new', async () => {
    const shop = await merchant();
    for (let n = 0; n < 200; n += 1) await emit(shop);
    const to = await endpoint(shop, '/late');
    const span = { since: new Date(0), until: new Date(Date.now() + 60_000), types: ['*'] };
    expect(await db.transaction((tx) => replayEvents(tx, to, span))).toBe(200);
    const news: string[] = [];
    for (let n = 0; n < 5; n += 1) news.push(await emit(shop));
    behaviour.set('/late', (response) => void setTimeout(() => response.end(), 20));
    start();
    await until('all came', () => at('/late').length === 205);
    const first = at('/late').slice(0, 60);
    for (const id of news) expect(first.map((call) => call.id)).toContain(id);
  });
});

it('leaves a server alone that has many attempts under way, and goes on with others', async () => {
  const shop = await merchant();
  const waiting: Array<() => void> = [];
  behaviour.set('/slow', (response) => void waiting.push(() => response.end()));
  for (let n = 0; n < 30; n += 1) await emit(shop, '/slow');
  start();
  await until('its places are taken', () => at('/slow').length === 20);
  const other = await merchant();
  await emit(other, '/slow');
  await until('another merchant has places of its own', () => at('/slow').length === 21);
  await sleep(1500);
  expect(at('/slow')).toHaveLength(21);
  for (const answer of waiting.splice(0)) answer();
  await until('the rest comes behind all others', () => {
    for (const answer of waiting.splice(0)) answer();
    return at('/slow').length === 31;
  });
});
