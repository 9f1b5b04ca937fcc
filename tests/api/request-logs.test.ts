import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { startApi } from '../../api/main';
import { WriteBehind, type LossReason } from '../../api/http/write-behind';
import { requestsOf, storeRequests, type ApiRequest } from '../../db/access/api-requests';
import { forgetOldRequests } from '../../db/access/request-retention';
import { firstIdOf, newId } from '../../domain/ids';
import { databaseFor } from '../../sandbox/services';
import { atOnce, startHarness, type Answer, type Harness, type Shop } from './harness';
import { Person } from './person';

/** What merchants see of the requests of their secret keys. */

let h: Harness;
let admin: Person;
let adminId: string;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
  admin = await Person.admin(h);
  const [row] = await h.db.query<Array<{ merchant_id: string }>>(
    'SELECT merchant_id FROM dashboard_user WHERE email = $1',
    [admin.email],
  );
  adminId = row!.merchant_id;
});
afterAll(() => h?.stop());
beforeEach(() => h.db.query('DELETE FROM rate_limit'));

const path = '/api/v1/request-logs';
const unknown = 'f'.repeat(24);
const idOf = (answer: Answer): string => answer.headers.get('x-request-id')!;
/** The answer of the list once everything so far is written. */
async function ask(shop: Shop, query = ''): Promise<Answer> {
  await h.api.deps.requestLog.flush();
  return h.call('GET', `${path}${query}`, { key: shop.key });
}
type Row = Record<string, unknown>;
const list = async (shop: Shop, query = ''): Promise<Row[]> => (await ask(shop, query)).body.data.items as Row[];
const keyOf = async (shop: Shop): Promise<string> => {
  const rows = await h.db.query<Array<{ id: string }>>('SELECT id FROM api_key WHERE merchant_id = $1', [shop.id]);
  return rows[0]!.id;
};
const stored = async (merchantId: string): Promise<number> => {
  const [row] = await h.db.query<Array<{ n: number }>>(
    'SELECT count(*)::int AS n FROM api_request WHERE merchant_id = $1',
    [merchantId],
  );
  return row!.n;
};

describe('the request log', () => {
  it('has a row for each request with a secret key, newest first, without query, body and header', async () => {
    const shop = await h.shop();
    const begun = Date.now();
    const headers = { 'X-Forwarded-For': '203.0.113.7', 'X-Request-Id': 'order-4711-a' };
    const made = await h.call('POST', '/api/v1/payments', {
      key: shop.key,
      body: { amount: 25, currency: 'BTC', description: 'secret-of-a-body' },
      headers: { ...headers, 'Idempotency-Key': 'secret-of-a-header' },
    });
    expect(made.status).toBe(201);
    const id: string = made.body.paymentId;
    await h.call('GET', `/api/v1/payments/${id}?search=secret-of-a-query`, { key: shop.key });
    await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 25, idempotencyKey: 'in-the-body' } });
    const [inBody, read, create, ...rest] = await list(shop);
    expect(rest).toEqual([]);
    expect(create).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{24}$/) as string,
      method: 'POST',
      route: '/api/v1/payments',
      path: '/api/v1/payments',
      status: 201,
      errorCode: null,
      requestId: 'order-4711-a',
      apiKeyId: await keyOf(shop),
      durationMs: expect.any(Number) as number,
      ip: '203.0.113.7',
      idempotencyKeyUsed: true,
      createdAt: expect.any(String) as string,
    });
    expect(Date.parse(create!['createdAt'] as string)).toBeGreaterThanOrEqual(begun);
    expect(read).toMatchObject({
      method: 'GET',
      route: '/api/v1/payments/{paymentId}',
      path: `/api/v1/payments/${id}`,
      idempotencyKeyUsed: false,
    });
    expect(inBody).toMatchObject({ status: 201, idempotencyKeyUsed: true });
    const rows = await h.db.query('SELECT * FROM api_request WHERE merchant_id = $1', [shop.id]);
    expect(JSON.stringify(rows)).not.toContain('secret-of');
    expect(JSON.stringify(rows)).not.toContain(shop.key);
  });

  it('has refused requests with the code that was told', async () => {
    const shop = await h.shop();
    const body = (more: object) => ({ key: shop.key, body: { amount: 25, ...more } });
    await h.call('GET', `/api/v1/payments/${unknown}`, { key: shop.key });
    const generic = await h.call('POST', '/api/v1/payments', body({ currency: 'DOGE' }));
    await h.call('POST', '/api/v1/payments', { key: shop.key, text: '{' });
    await h.call('POST', '/api/v1/payments', body({ amount: 'x' }));
    for (const tail of ['', '/timeline']) await h.call('GET', `/api/v1/payments/nope${tail}`, { key: shop.key });
    const told = (await list(shop)).map(({ status, errorCode }) => [status, errorCode]);
    expect(told).toEqual([
      [400, 'INVALID_ID'],
      [400, 'INVALID_ID'],
      [400, 'VALIDATION_ERROR'],
      [400, 'MALFORMED_JSON'],
      [400, 'PAYMENT_CREATION_FAILED'],
      [404, 'PAYMENT_NOT_FOUND'],
    ]);
    const [row] = await list(shop, `?requestId=${idOf(generic)}`);
    expect(row).toMatchObject({ requestId: idOf(generic), errorCode: 'PAYMENT_CREATION_FAILED' });
    const reason = await h.call('GET', `${path}/${idOf(generic)}`, { key: shop.key });
    expect(reason.body.data).toMatchObject({ requestId: idOf(generic), reason: 'UNKNOWN_CURRENCY' });
  });

  it('has what the guard refuses to a key that is known: by scope, address, suspension, limit', async () => {
    const reader = await h.shop({}, [], ['payments:read']);
    const create = () => h.call('POST', '/api/v1/payments', { key: reader.key, body: { amount: 25 } });
    expect((await create()).status).toBe(403);
    await h.db.query(`UPDATE api_key SET allowed_ips = '{198.51.100.1}' WHERE merchant_id = $1`, [reader.id]);
    h.api.deps.keys.forget();
    expect((await create()).status).toBe(403);
    await h.db.query(`UPDATE api_key SET allowed_ips = '{}' WHERE merchant_id = $1`, [reader.id]);
    await h.db.query(`UPDATE merchant SET status = 'suspended' WHERE id = $1`, [reader.id]);
    h.api.deps.keys.forget();
    expect((await create()).status).toBe(403);
    await h.db.query(`UPDATE merchant SET status = 'active' WHERE id = $1`, [reader.id]);
    h.api.deps.keys.forget();
    const told = (await list(reader)).map(({ errorCode }) => errorCode);
    expect(told).toEqual(['MERCHANT_INACTIVE', 'IP_NOT_ALLOWED', 'INSUFFICIENT_SCOPE']);
    const shop = await h.shop();
    for (let n = 0; n < 11; n += 1) await h.call('POST', `/api/v1/payments/${unknown}/aml-screen`, { key: shop.key });
    expect((await list(shop, '?limit=1'))[0]).toMatchObject({ status: 429, errorCode: 'RATE_LIMITED' });
  });

  it('has nothing of keys that are revoked, expired or unknown, and nothing of sessions', async () => {
    const [revoked, expired] = [await h.shop(), await h.shop()];
    await h.db.query('UPDATE api_key SET revoked_at = now() WHERE merchant_id = $1', [revoked.id]);
    await h.db.query(`UPDATE api_key SET expires_at = now() - interval '1 s' WHERE merchant_id = $1`, [expired.id]);
    h.api.deps.keys.forget();
    await h.api.deps.requestLog.flush();
    const count = async () => (await h.db.query('SELECT count(*)::int AS n FROM api_request'))[0].n as number;
    const before = await count();
    const own = await h.shop();
    for (const key of [revoked.key, expired.key, `svc_live_${'x'.repeat(32)}`, `svc_test_${'x'.repeat(32)}`])
      expect((await h.call('GET', '/api/v1/payments', { key })).status).toBe(401);
    expect((await h.call('GET', '/api/v1/whitelist', { key: own.key })).status).toBe(401); // to it, keys are no tokens
    expect((await admin.get('/api/v1/payments')).status).toBe(200);
    expect((await admin.get('/api/v1/payments/zz')).status).toBe(400);
    expect((await h.call('GET', '/api/v1/nothing', { key: own.key })).status).toBe(404);
    await h.api.deps.requestLog.flush();
    expect(await count()).toBe(before);
  });

  it('keeps no secret that stands in a path by mistake', async () => {
    const shop = await h.shop();
    const lost = [shop.key, 'whsec_c2VjcmV0', 'eyJhbGciOiJ.x.y', 'a%20b', `${'x'.repeat(101)}`];
    for (const value of lost) await h.call('GET', `/api/v1/payments/${value}`, { key: shop.key });
    const paths = (await list(shop)).map((row) => row['path']);
    expect(paths).toEqual(lost.map(() => '/api/v1/payments/{paymentId}'));
  });

  it('shows a merchant nothing of another, and no foreign request by its id', async () => {
    const [one, other] = [await h.shop(), await h.shop()];
    const sent = { 'X-Request-Id': 'the-same-id-1' };
    await h.call('GET', '/api/v1/payments', { key: one.key, headers: sent });
    expect(await list(one)).toHaveLength(1);
    expect(await list(other)).toEqual([]);
    expect(await list(other, '?requestId=the-same-id-1')).toEqual([]);
    expect(await list(other, `?apiKeyId=${await keyOf(one)}`)).toEqual([]);
    // A request id that somebody else has chosen too names a row of each.
    await h.call('GET', `/api/v1/payments/${unknown}`, { key: other.key, headers: sent });
    expect(await list(other, '?requestId=the-same-id-1')).toMatchObject([{ status: 404 }]);
    expect(await list(one, '?requestId=the-same-id-1')).toMatchObject([{ status: 200 }]);
  });

  it('is not filled by those who read it', async () => {
    const shop = await h.shop();
    for (let n = 0; n < 3; n += 1) expect(await list(shop)).toEqual([]);
    expect((await h.call('GET', `${path}/nothing-there`, { key: shop.key })).status).toBe(404);
    expect(await list(shop)).toEqual([]);
    expect((await ask(shop, '?limit=0')).status).toBe(400);
    expect(await list(shop)).toMatchObject([{ route: path, status: 400 }]);
  });

  it('answers in pages, by filter, and refuses what is none', async () => {
    const shop = await h.shop();
    for (let n = 0; n < 5; n += 1) {
      await h.call('GET', '/api/v1/payments', { key: shop.key });
      await h.call('POST', '/api/v1/payments', { key: shop.key, body: {} });
    }
    const all = await list(shop);
    expect(all).toHaveLength(10);
    const seen: Row[] = [];
    for (let cursor = ''; ;) {
      const { items, hasMore, nextCursor } = (await ask(shop, `?limit=3${cursor}`)).body.data;
      seen.push(...(items as Row[]));
      expect(hasMore).toBe(nextCursor !== null);
      if (!hasMore) break;
      cursor = `&cursor=${nextCursor}`;
    }
    expect(seen).toEqual(all);
    const statuses = async (query: string) => [...new Set((await list(shop, query)).map((row) => row['status']))];
    expect(await statuses('?refused=true')).toEqual([400]);
    expect(await statuses('?refused=false')).toEqual([200]);
    expect(await statuses('?method=POST')).toEqual([400]);
    expect(await list(shop, '?method=DELETE')).toEqual([]);
    expect(await list(shop, `?apiKeyId=${await keyOf(shop)}`)).toHaveLength(10);
    expect(await list(shop, `?apiKeyId=${unknown}`)).toEqual([]);
    const third = all[2]!['createdAt'] as string;
    const later = all.filter(({ createdAt }) => (createdAt as string) >= third);
    expect(await list(shop, `?since=${third}`)).toEqual(later);
    expect(await list(shop, '?since=1900-01-01')).toHaveLength(10);
    expect(await list(shop, '?since=2999-01-01')).toEqual([]);
    for (const wrong of [
      'method=PUT',
      'apiKeyId=x',
      'requestId=%00',
      'since=x',
      'cursor=1',
      'refused=maybe',
      'limit=0',
    ])
      expect([wrong, (await ask(shop, `?${wrong}`)).status]).toEqual([wrong, 400]);
  });

  it('is open to a session with the right of payments, and to a key with their scope', async () => {
    const key = await h.call('POST', '/api/v1/payments', { body: {} });
    expect(key.status).toBe(401);
    const now = new Date();
    await storeRequests(h.db, [rowOf(adminId, { createdAt: now })]);
    expect((await admin.get(path)).body.data.items).toMatchObject([{ createdAt: now.toISOString() }]);
    const poor = await Person.member(admin, ['webhooks:view']);
    expect((await poor.get(path)).status).toBe(403);
    const writer = await h.shop({}, [], ['payments:create']);
    expect((await ask(writer)).status).toBe(403);
  });
});

const rowOf = (merchantId: string, more: Partial<ApiRequest> = {}): ApiRequest => ({
  merchantId,
  id: newId(),
  method: 'GET',
  route: '/api/v1/payments',
  path: '/api/v1/payments',
  status: 200,
  errorCode: null,
  requestId: newId(),
  apiKeyId: null,
  durationMs: 3,
  ip: '127.0.0.1',
  hasIdempotencyKey: false,
  createdAt: new Date(),
  ...more,
});

describe('writing it', () => {
  it('takes one statement for many rows, and changes nothing when it is repeated', async () => {
    const { id } = await h.shop();
    const rows = Array.from({ length: 500 }, () => rowOf(id));
    await storeRequests(h.db, rows);
    await storeRequests(h.db, rows);
    expect(await stored(id)).toBe(500);
    const found = await requestsOf(h.db, id, { limit: 1000 });
    expect(found.map((row) => row.id)).toEqual(rows.map((row) => row.id).reverse());
  });

  it('has every request of many at once, by itself after a moment', async () => {
    const shop = await h.shop();
    await atOnce(40, () => h.call('GET', '/api/v1/payments', { key: shop.key }));
    while ((await stored(shop.id)) < 40) await sleep(50);
    expect(await stored(shop.id)).toBe(40);
  });

  it('refuses no request where it cannot write: what is lost is counted and told', async () => {
    const shop = await h.shop();
    await h.api.deps.requestLog.flush();
    const lost = async () => {
      const text = await h.api.deps.metrics.text();
      return Number(/api_request_log_lost_total\{reason="failed"\} (\d+)/.exec(text)![1]);
    };
    const before = await lost();
    await h.db.query('ALTER TABLE api_request RENAME TO api_request_gone');
    try {
      expect((await h.call('GET', '/api/v1/payments', { key: shop.key })).status).toBe(200);
      await h.api.deps.requestLog.flush();
    } finally {
      await h.db.query('ALTER TABLE api_request_gone RENAME TO api_request');
    }
    expect(await lost()).toBe(before + 1);
    expect(h.logs.some((line) => line.includes('missing in the request log'))).toBe(true);
    expect((await h.call('GET', '/api/v1/payments', { key: shop.key })).status).toBe(200);
    expect(await list(shop)).toHaveLength(1);
  });

  it('is done with before the process ends', async () => {
    const shop = await h.shop();
    const other = await startApi(h.api.deps.config, h.api.deps.logger);
    const headers = { Authorization: `Bearer ${shop.key}` };
    for (let n = 0; n < 3; n += 1)
      expect((await fetch(`${other.url}/api/v1/payments`, { headers: { ...headers, Connection: 'close' } })).ok).toBe(
        true,
      );
    await other.close();
    expect(await stored(shop.id)).toBe(3);
  });
});

describe('rows that wait to be written', () => {
  type Loss = [count: number, reason: LossReason, error: string | undefined];
  function collected({ groupSize = 3, everyMs = 3_600_000, capacity = 100, hold = Promise.resolve() } = {}) {
    const groups: number[][] = [];
    const losses: Loss[] = [];
    const behind = new WriteBehind<number>({
      groupSize,
      everyMs,
      capacity,
      async write(rows) {
        groups.push([...rows]);
        await hold;
        if (rows.includes(13)) throw new Error('no 13');
      },
      onLost: (count, reason, error) => void losses.push([count, reason, (error as Error | undefined)?.message]),
    });
    return { behind, groups, losses };
  }

  it('go in groups: a full one at once, a smaller one later', async () => {
    const { behind, groups } = collected();
    for (const n of [1, 2, 3, 4]) behind.add(n);
    expect(groups).toEqual([[1, 2, 3]]);
    await behind.flush();
    expect(groups).toEqual([[1, 2, 3], [4]]);
    const soon = collected({ everyMs: 1 });
    soon.behind.add(1);
    expect(soon.groups).toEqual([]);
    while (!soon.groups.length) await sleep(1);
    expect(soon.groups).toEqual([[1]]);
  });

  it('are written one group at a time, however many come meanwhile', async () => {
    let release = (): void => undefined;
    const hold = new Promise<void>((resolve) => (release = resolve));
    const { behind, groups } = collected({ hold });
    for (let n = 1; n <= 8; n += 1) behind.add(n);
    expect(groups).toEqual([[1, 2, 3]]);
    release();
    await behind.flush();
    expect(groups).toEqual([
      [1, 2, 3],
      [4, 5, 6],
      [7, 8],
    ]);
  });

  it('give way to newer ones when too many wait', async () => {
    let release = (): void => undefined;
    const hold = new Promise<void>((resolve) => (release = resolve));
    const { behind, groups, losses } = collected({ hold, capacity: 4 });
    for (let n = 1; n <= 10; n += 1) behind.add(n);
    expect(losses).toEqual(Array.from({ length: 3 }, () => [1, 'full', undefined]));
    release();
    await behind.flush();
    expect(groups).toEqual([[1, 2, 3], [7, 8, 9], [10]]);
  });

  it('are lost where their group is refused, and the next group is written', async () => {
    const { behind, groups, losses } = collected();
    for (const n of [12, 13, 14, 15]) behind.add(n);
    await behind.flush();
    expect(losses).toEqual([[3, 'failed', 'no 13']]);
    expect(groups).toEqual([[12, 13, 14], [15]]);
    await behind.flush(); // with nothing to do
    expect(groups).toHaveLength(2);
  });
});

describe('old requests', () => {
  it('are forgotten after 30 days, with reasons of refusals, by the worker of payments alone', async () => {
    const shop = await h.shop();
    const days = (n: number) => new Date(Date.now() - n * 86_400_000);
    const [old, young] = [days(31), days(29)];
    const row = (createdAt: Date) =>
      rowOf(shop.id, { id: `${firstIdOf(+createdAt).slice(0, 8)}${newId().slice(8)}`, createdAt });
    await storeRequests(h.db, [...Array.from({ length: 5001 }, () => row(old)), row(young)]);
    const reasons = [`old-${shop.id}`, `new-${shop.id}`];
    for (const [index, requestId] of reasons.entries())
      await h.db.query(
        `INSERT INTO request_log (request_id, merchant_id, reason, created_at) VALUES ($1, $2, 'QUOTA_REACHED', $3)`,
        [requestId, shop.id, [old, young][index]],
      );
    await expect(forgetOldRequests(h.api.deps.db)).rejects.toMatchObject({ code: '42501' });
    const payments = await new DataSource({
      type: 'postgres',
      url: databaseFor(h.databaseUrl, 'payments'),
      poolSize: 1,
    }).initialize();
    await forgetOldRequests(payments).finally(() => payments.destroy());
    expect(await list(shop)).toMatchObject([{ createdAt: young.toISOString() }]);
    const left = await h.db.query('SELECT request_id FROM request_log WHERE merchant_id = $1', [shop.id]);
    expect(left).toEqual([{ request_id: reasons[1] }]);
  });
});
