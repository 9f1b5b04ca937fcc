import { Webhook } from 'standardwebhooks';
import { forgetOldDeliveries } from '../../db/webhooks/deliveries';
import { deliveryId, emitEvent } from '../../db/webhooks/events';
import type { EventType } from '../../domain/webhooks/event-types';
import { newId } from '../../domain/ids';
import { openSealed } from '../../db/sealing';
import { atOnce, secretsKey, startHarness, type Harness, type Shop } from './harness';
import { Person } from './person';

/** Endpoints, events and deliveries as merchants see them; what a delivery does is in tests/activities.
 *  Contract: G4. */

let h: Harness;
let shop: Shop;
let other: Shop;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' }, { inventsEvents: true });
  [shop, other] = [await h.shop(), await h.shop()];
});
afterAll(() => h?.stop());
beforeEach(() => h.db.query('DELETE FROM rate_limit'));

const endpoints = '/api/v1/webhook-endpoints';
const refused = (status: number, code: string) => ({ status, body: { ok: false, error: { code } } });
const notFound = refused(404, 'WEBHOOK_ENDPOINT_NOT_FOUND');
const call = (method: string, path: string, body?: unknown, key = shop.key) =>
  h.call(method, path, { key, ...(body === undefined ? {} : { body }) });
const post = (path: string, body: unknown = {}, key?: string) => call('POST', path, body, key);
const get = (path: string, key?: string) => call('GET', path, undefined, key);

/** An endpoint of its own merchant, so that nobody else's events reach it. */
async function anEndpoint(over: Record<string, unknown> = {}, of?: Shop) {
  const owner = of ?? (await h.shop());
  const answer = await post(endpoints, { url: 'https://shop.example/hooks', enabledEvents: ['*'], ...over }, owner.key);
  expect(answer.status).toBe(201);
  const { secret, ...endpoint } = answer.body.data;
  return { owner, secret, endpoint, id: endpoint.id as string, path: `${endpoints}/${endpoint.id}` };
}
const emit = (merchantId: string, type: EventType, over: Partial<Parameters<typeof emitEvent>[1]> = {}) =>
  h.db.transaction((tx) =>
    emitEvent(tx, {
      merchantId,
      type,
      entityId: newId(),
      stateVersion: 1,
      data: '{ "n": 1.10 }',
      previous: {},
      ipnUrl: null,
      openDelta: 0,
      ...over,
    }),
  );
const targetsOf = async (eventId: string): Promise<string[]> =>
  (await h.db.query('SELECT endpoint FROM delivery WHERE event_id = $1 ORDER BY n', [eventId])).map(
    (row: { endpoint: string }) => row.endpoint,
  );

describe('endpoints', () => {
  it('are made with a secret that is shown once and sealed at rest', async () => {
    const { endpoint, secret, path, owner } = await anEndpoint({ description: 'Books', enabledEvents: ['payment.*'] });
    expect(endpoint).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      url: 'https://shop.example/hooks',
      enabledEvents: ['payment.*'],
      description: 'Books',
      isActive: true,
      createdAt: expect.any(String),
      disabledReason: null,
    });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect((await get(path, owner.key)).body.data).toEqual(endpoint);
    expect((await get(endpoints, owner.key)).body.data).toEqual({ items: [endpoint], total: 1 });
    const [row] = await h.db.query('SELECT secret_sealed FROM webhook_endpoint WHERE id = $1', [endpoint.id]);
    expect(row.secret_sealed).not.toContain(secret.slice(6));
    expect(openSealed(secretsKey, row.secret_sealed)).toBe(secret);
  });

  it('refuse an address that is not https, is internal, or is none', async () => {
    const make = (url: unknown) => post(endpoints, { url, enabledEvents: ['*'] });
    expect(await make('http://shop.example/')).toMatchObject({
      status: 400,
      body: { ok: false, error: { code: 'CALLBACK_NOT_HTTPS', message: 'Callback URLs must use HTTPS in production' } },
    });
    for (const url of ['https://127.0.0.1/', 'https://[::1]/', 'https://169.254.169.254/', 'https://db.internal/'])
      expect(await make(url)).toMatchObject({
        status: 400,
        body: {
          ok: false,
          error: { code: 'CALLBACK_INTERNAL', message: 'Callback URLs must not point to internal addresses' },
        },
      });
    for (const url of ['shop.example', 'ftp://shop.example/', 'https://a:b@shop.example/', '', 7, undefined])
      expect(await make(url)).toMatchObject(refused(400, 'VALIDATION_ERROR'));
    expect(await make(`https://shop.example/${'x'.repeat(2048)}`)).toMatchObject(refused(400, 'VALIDATION_ERROR'));
    const { path, owner } = await anEndpoint();
    expect((await call('PATCH', path, { url: 'https://10.0.0.1/' }, owner.key)).status).toBe(400);
    const elsewhere = 'https://shop.example:8080/';
    for (const answer of [await make(elsewhere), await call('PATCH', path, { url: elsewhere }, owner.key)]) {
      expect(answer).toMatchObject(refused(400, 'VALIDATION_ERROR'));
      expect(answer.body.error.message).toBe('url must name port 443 or 8443, or none');
    }
  });

  it('keep to the domains that the merchant has listed', async () => {
    const strict = await h.shop({ callbackDomains: ['shop.example'] });
    expect(await post(endpoints, { url: 'https://evil.example/', enabledEvents: ['*'] }, strict.key)).toMatchObject(
      refused(400, 'VALIDATION_ERROR'),
    );
    await anEndpoint({ url: 'https://api.shop.example/' }, strict);
  });

  it('refuse events that there are not', async () => {
    for (const enabledEvents of [
      [],
      ['nothing'],
      ['payment'],
      ['payment.'],
      ['nothing.*'],
      ['*.*'],
      ['payment.paid'],
      '*',
      [1],
    ])
      expect(await post(endpoints, { url: 'https://shop.example/', enabledEvents })).toMatchObject(
        refused(400, 'VALIDATION_ERROR'),
      );
    const { endpoint } = await anEndpoint({ enabledEvents: ['payment.settled', 'payment.settled', 'payment.*'] });
    expect(endpoint.enabledEvents).toEqual(['payment.settled', 'payment.*']);
  });

  it('are twenty at the most, also when all come at once', async () => {
    const busy = await h.shop();
    const made = await atOnce(22, () =>
      post(endpoints, { url: 'https://shop.example/', enabledEvents: ['*'] }, busy.key),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(made.find(({ status }) => status !== 201)).toMatchObject(refused(409, 'TOO_MANY_ENDPOINTS'));
    const page = (await get(`${endpoints}?page=2&limit=15`, busy.key)).body.data;
    expect([page.items.length, page.total]).toEqual([5, 20]);
  });

  it('change in part, and are switched off and on', async () => {
    const { endpoint, path, owner } = await anEndpoint({ description: 'Books' });
    const change = async (body: object) => (await call('PATCH', path, body, owner.key)).body.data;
    expect(await change({})).toEqual(endpoint);
    expect(await change({ url: 'https://shop.example/new', description: null })).toEqual({
      ...endpoint,
      url: 'https://shop.example/new',
      description: null,
    });
    expect(await change({ isActive: false })).toMatchObject({ isActive: false, disabledReason: null });
    expect(await targetsOf(await emit(owner.id, 'payment.settled'))).toEqual([]);
    expect(await post(`${path}/test`, {}, owner.key)).toMatchObject(refused(409, 'WEBHOOK_ENDPOINT_INACTIVE'));
    expect(await change({ isActive: true, enabledEvents: ['payment.failed'] })).toMatchObject({ isActive: true });
    expect(await targetsOf(await emit(owner.id, 'payment.settled'))).toEqual([]);
    expect(await targetsOf(await emit(owner.id, 'payment.failed'))).toEqual([endpoint.id]);
  });

  it('forget why they were switched off, and since when they fail, once they are switched on again', async () => {
    const { id, path, owner } = await anEndpoint();
    await h.db.query(
      `UPDATE webhook_endpoint SET is_active = false, disabled_reason = 'failing',
         failing_since = now() - interval '6 days' WHERE id = $1`,
      [id],
    );
    const change = async (body: object) => (await call('PATCH', path, body, owner.key)).body.data.disabledReason;
    expect(await change({ description: 'still off' })).toBe('failing');
    expect(await change({ isActive: true })).toBeNull();
    expect(await h.db.query('SELECT failing_since FROM webhook_endpoint WHERE id = $1', [id])).toEqual([
      { failing_since: null },
    ]);
  });

  it('are deleted with what is on its way there, and the log stays', async () => {
    const { id, path, owner } = await anEndpoint();
    const event = await emit(owner.id, 'payment.settled');
    expect((await call('DELETE', path, undefined, owner.key)).body.data).toEqual({ deleted: true });
    expect(await call('DELETE', path, undefined, owner.key)).toMatchObject(notFound);
    expect(await get(path, owner.key)).toMatchObject(notFound);
    const rows = await h.db.query('SELECT status, endpoint FROM delivery WHERE event_id = $1', [event]);
    expect(rows).toEqual([{ status: 'cancelled', endpoint: id }]);
  });

  it('give a new secret, and tell how long the old one serves', async () => {
    const { path, owner, secret, endpoint } = await anEndpoint();
    const answer = await post(`${path}/rotate-secret`, {}, owner.key);
    const { secret: next, previousValidUntil, ...rest } = answer.body.data;
    expect(rest).toEqual(endpoint);
    expect(next).not.toBe(secret);
    expect(() => new Webhook(next)).not.toThrow();
    expect(Math.abs(new Date(previousValidUntil).getTime() - Date.now() - 86_400_000)).toBeLessThan(60_000);
  });

  it('are nobody else’s', async () => {
    const { path, owner, endpoint } = await anEndpoint();
    for (const where of [path, `${endpoints}/${newId()}`]) {
      expect(await get(where, other.key)).toMatchObject(notFound);
      expect(await call('PATCH', where, { isActive: false }, other.key)).toMatchObject(notFound);
      expect(await call('DELETE', where, undefined, other.key)).toMatchObject(notFound);
      expect(await post(`${where}/rotate-secret`, {}, other.key)).toMatchObject(notFound);
      expect(await post(`${where}/test`, {}, other.key)).toMatchObject(notFound);
    }
    expect((await get(endpoints, other.key)).body.data.items).not.toContainEqual(endpoint);
    expect((await get(path, owner.key)).body.data).toEqual(endpoint);
  });

  it('tell the audit log who changed them, and no secret', async () => {
    const admin = await Person.admin(h);
    const made = await admin.post(endpoints, { url: 'https://shop.example/', enabledEvents: ['*'] });
    const { id, secret } = made.body.data;
    await admin.call('PATCH', `${endpoints}/${id}`, { isActive: false });
    const rotated = await admin.post(`${endpoints}/${id}/rotate-secret`);
    await admin.call('DELETE', `${endpoints}/${id}`);
    const log = await admin.get('/api/v1/audit-log');
    expect(
      log.body.data.items
        .filter((act: { target: string }) => act.target === id)
        .map((act: { action: string }) => act.action),
    ).toEqual([
      'webhook_endpoint.deleted',
      'webhook_endpoint.secret_rotated',
      'webhook_endpoint.changed',
      'webhook_endpoint.created',
    ]);
    expect(log.text).not.toContain(secret);
    expect(log.text).not.toContain(rotated.body.data.secret);
    const { path, owner } = await anEndpoint();
    await call('DELETE', path, undefined, owner.key);
    const acts = await h.db.query(`SELECT actor_kind, actor_id FROM audit_log WHERE merchant_id = $1`, [owner.id]);
    const [key] = await h.db.query('SELECT id FROM api_key WHERE merchant_id = $1', [owner.id]);
    expect(acts).toEqual(Array(2).fill({ actor_kind: 'key', actor_id: key.id }));
  });
});

describe('an event', () => {
  it('goes to the IPN target and to each active endpoint that wants its type, each by itself', async () => {
    const owner = await h.shop();
    const all = await anEndpoint({}, owner);
    const area = await anEndpoint({ enabledEvents: ['payment.*'] }, owner);
    const exact = await anEndpoint({ enabledEvents: ['payment.failed', 'payment.settled'] }, owner);
    await anEndpoint({ enabledEvents: ['payment.failed', 'webhook_endpoint.*'] }, owner);
    const off = await anEndpoint({}, owner);
    await call('PATCH', off.path, { isActive: false }, owner.key);
    const event = await emit(owner.id, 'payment.settled', { ipnUrl: 'https://shop.example/ipn' });
    const targets = ['ipn', all.id, area.id, exact.id];
    expect((await targetsOf(event)).sort()).toEqual([...targets].sort());
    const rows = await h.db.query(
      `SELECT d.id, q.merchant_id, q.endpoint = d.endpoint AS is_its, q.is_behind, q.tries FROM delivery d
         JOIN delivery_queue q ON q.delivery_id = d.id WHERE d.event_id = $1`,
      [event],
    );
    expect(rows.map((row: { id: string }) => row.id).sort()).toEqual(
      targets.map((target) => deliveryId(event, target)).sort(),
    );
    for (const row of rows)
      expect(row).toMatchObject({ merchant_id: owner.id, is_its: true, is_behind: false, tries: 0 });
    expect(await h.db.query(`SELECT FROM temporal_request WHERE workflow = 'webhook'`)).toEqual([]);
  });

  it('leaves no trace where its transaction is undone', async () => {
    const { owner } = await anEndpoint();
    await expect(
      h.db.transaction(async (tx) => {
        await emitEvent(tx, {
          merchantId: owner.id,
          type: 'payment.settled',
          entityId: newId(),
          stateVersion: 1,
          data: '{}',
          previous: {},
          ipnUrl: null,
          openDelta: 0,
        });
        throw new Error('undone');
      }),
    ).rejects.toThrow('undone');
    expect(await h.db.query('SELECT FROM delivery WHERE merchant_id = $1', [owner.id])).toEqual([]);
  });

  it('of a test goes to the endpoint under test alone', async () => {
    const owner = await h.shop();
    const tested = await anEndpoint({ enabledEvents: ['payment.failed'] }, owner);
    await anEndpoint({}, owner);
    await emit(owner.id, 'payment.settled');
    const plain = await post(`${tested.path}/test`, {}, owner.key);
    expect(plain).toMatchObject({
      status: 202,
      body: {
        data: {
          type: 'webhook.test',
          endpointId: tested.id,
          status: 'pending',
          attempts: [],
          url: tested.endpoint.url,
        },
      },
    });
    const like = await post(`${tested.path}/test`, { type: 'payment.settled' }, owner.key);
    expect(await targetsOf(like.body.data.eventId)).toEqual([tested.id]);
    const [stored] = await h.db.query('SELECT data::text FROM event WHERE id = $1', [like.body.data.eventId]);
    expect(stored.data).toBe(
      `{"endpoint":${JSON.stringify(tested.endpoint)},"type":"payment.settled","example":{ "n": 1.10 }}`,
    );
    expect(await post(`${tested.path}/test`, { type: 'payment.paid' }, owner.key)).toMatchObject(
      refused(400, 'VALIDATION_ERROR'),
    );
    expect(await post(`${tested.path}/test`, { type: 'toString' }, owner.key)).toMatchObject(
      refused(400, 'VALIDATION_ERROR'),
    );
  });
});

describe('the stream of events', () => {
  const events = '/api/v1/events';
  const seqs = (answer: { body: { data: { items: Array<{ seq: number }> } } }) =>
    answer.body.data.items.map(({ seq }) => seq);

  it('has each event byte for byte as a webhook carries it', async () => {
    const owner = await h.shop();
    const id = await emit(owner.id, 'payment.settled', { previous: { status: 'SWEEP_QUEUED' } });
    const one = await get(`${events}/${id}`, owner.key);
    const [row] = await h.db.query('SELECT created_at FROM event WHERE id = $1', [id]);
    const body =
      `{"id":"${id}","type":"payment.settled","timestamp":"${row.created_at.toISOString()}","apiVersion":"v1",` +
      `"livemode":true,"merchantId":"${owner.id}","seq":1,"data":{ "n": 1.10 },"previous":{"status": "SWEEP_QUEUED"}}`;
    expect(one.text).toBe(`{"ok":true,"data":${body}}`);
    expect((await get(events, owner.key)).text).toBe(
      `{"ok":true,"data":{"items":[${body}],"hasMore":false,"nextCursor":"1"}}`,
    );
  });

  it('is read on from where one was, without a gap', async () => {
    const owner = await h.shop();
    expect((await get(events, owner.key)).body.data).toEqual({ items: [], hasMore: false, nextCursor: '0' });
    for (let n = 0; n < 5; n += 1) await emit(owner.id, n === 3 ? 'payment.failed' : 'payment.settled');
    await emit(other.id, 'payment.settled');
    const first = await get(`${events}?limit=2`, owner.key);
    expect([seqs(first), first.body.data.hasMore, first.body.data.nextCursor]).toEqual([[1, 2], true, '2']);
    const rest = await get(`${events}?after=2`, owner.key);
    expect([seqs(rest), rest.body.data.hasMore, rest.body.data.nextCursor]).toEqual([[3, 4, 5], false, '5']);
    const none = await get(`${events}?after=5`, owner.key);
    expect(none.body.data).toEqual({ items: [], hasMore: false, nextCursor: '5' });
    expect((await get(`${events}?after=99`, owner.key)).body.data.nextCursor).toBe('99');
  });

  it('is read back from the newest, or from where one was', async () => {
    const owner = await h.shop();
    expect((await get(`${events}?before=0`, owner.key)).body.data).toEqual({
      items: [],
      hasMore: false,
      nextCursor: '0',
    });
    for (let n = 0; n < 5; n += 1) await emit(owner.id, n === 3 ? 'payment.failed' : 'payment.settled');
    await emit(other.id, 'payment.settled');
    const page = async (query: string) => {
      const answer = await get(`${events}?${query}`, owner.key);
      return [seqs(answer), answer.body.data.hasMore, answer.body.data.nextCursor];
    };
    expect(await page('before=0&limit=2')).toEqual([[5, 4], true, '4']);
    expect(await page('before=4&limit=2')).toEqual([[3, 2], true, '2']);
    expect(await page('before=2&limit=2')).toEqual([[1], false, '1']);
    expect(await page('before=1')).toEqual([[], false, '1']);
    expect(await page('before=0&types=payment.settled&limit=3')).toEqual([[5, 3, 2], true, '2']);
    for (const query of ['before=-1', 'before=x', 'before=', `before=${'9'.repeat(19)}`, 'before=3&after=1'])
      expect(await get(`${events}?${query}`, owner.key)).toMatchObject(refused(400, 'VALIDATION_ERROR'));
  });

  it('can be had by type, and the cursor passes over the others', async () => {
    const owner = await h.shop();
    for (const type of ['payment.failed', 'payment.settled', 'webhook_endpoint.disabled', 'payment.settled'] as const)
      await emit(owner.id, type);
    const typed = (types: string) => get(`${events}?types=${encodeURIComponent(types)}`, owner.key);
    expect(seqs(await typed('payment.settled'))).toEqual([2, 4]);
    expect(seqs(await typed('payment.failed, webhook_endpoint.*'))).toEqual([1, 3]);
    expect(seqs(await typed('payment.*'))).toEqual([1, 2, 4]);
    expect((await typed('payment.failed')).body.data.nextCursor).toBe('4');
    for (const types of ['', 'payment', 'nothing.*', 'payment.settled,', 'payment.settled\0'])
      expect(await typed(types)).toMatchObject(refused(400, 'VALIDATION_ERROR'));
    for (const query of ['after=-1', 'after=x', 'limit=0', 'limit=x', `after=${'9'.repeat(19)}`])
      expect(await get(`${events}?${query}`, owner.key)).toMatchObject(refused(400, 'VALIDATION_ERROR'));
  });

  it('shows a reader nothing late, however many write at once', async () => {
    const owner = await h.shop();
    let isWriting = true;
    const writers = Promise.all(Array.from({ length: 40 }, () => emit(owner.id, 'payment.settled'))).finally(() => {
      isWriting = false;
    });
    const seen: number[] = [];
    for (let after = '0', last = false; !last;) {
      last = !isWriting;
      const page = await get(`${events}?limit=7&after=${after}`, owner.key);
      seen.push(...seqs(page));
      after = page.body.data.nextCursor;
      if (page.body.data.hasMore) last = false;
    }
    await writers;
    expect(seen).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
  });

  it('is nobody else’s', async () => {
    const id = await emit(shop.id, 'payment.settled');
    for (const wanted of [id, newId()])
      expect(await get(`${events}/${wanted}`, other.key)).toMatchObject(refused(404, 'EVENT_NOT_FOUND'));
  });
});

describe('deliveries', () => {
  const deliveries = '/api/v1/webhook-deliveries';
  const list = async (owner: Shop, query = '') => (await get(`${deliveries}${query}`, owner.key)).body.data;
  const idsOf = (data: { items: Array<{ id: string }> }) => data.items.map(({ id }) => id);
  const end = async (id: string, status: string): Promise<void> => {
    await h.db.query('UPDATE delivery SET status = $2, attempts = 3, next_attempt_at = NULL WHERE id = $1', [
      id,
      status,
    ]);
    await h.db.query('DELETE FROM delivery_queue WHERE delivery_id = $1', [id]);
  };

  it('are listed with their attempts, newest first, and found by what they are', async () => {
    const { owner, id: endpointId } = await anEndpoint();
    const paymentId = newId();
    const first = await emit(owner.id, 'payment.settled', { entityId: paymentId, ipnUrl: 'https://shop.example/ipn' });
    const second = await emit(owner.id, 'payment.failed');
    const [ipn, hook, failed] = [
      deliveryId(first, 'ipn'),
      deliveryId(first, endpointId),
      deliveryId(second, endpointId),
    ];
    await end(failed, 'failed');
    await h.db.query(
      `INSERT INTO delivery_attempt (delivery_id, n, at, duration_ms, status_code, response_body, error) VALUES
        ($1, 2, '2026-01-05T10:00:05.250Z', 15000, NULL, '', 'No answer within 15 s'),
        ($1, 1, '2026-01-05T10:00:00Z', 12, 500, 'down', 'HTTP 500')`,
      [failed],
    );
    const all = await list(owner);
    expect(idsOf(all)[0]).toBe(failed);
    expect(idsOf(all).sort()).toEqual([ipn, hook, failed].sort());
    expect([all.hasMore, all.nextCursor]).toEqual([false, null]);
    expect(all.items[0]).toEqual({
      id: failed,
      eventId: second,
      type: 'payment.failed',
      endpointId,
      url: 'https://shop.example/hooks',
      status: 'failed',
      attempts: [
        {
          n: 1,
          at: '2026-01-05T10:00:00.000Z',
          durationMs: 12,
          statusCode: 500,
          responseBody: 'down',
          error: 'HTTP 500',
        },
        {
          n: 2,
          at: '2026-01-05T10:00:05.250Z',
          durationMs: 15000,
          statusCode: null,
          responseBody: '',
          error: 'No answer within 15 s',
        },
      ],
      nextAttemptAt: null,
    });
    expect(idsOf(await list(owner, '?endpointId=ipn'))).toEqual([ipn]);
    expect(idsOf(await list(owner, `?endpointId=${endpointId}`))).toEqual([failed, hook]);
    expect(idsOf(await list(owner, `?eventId=${second}`))).toEqual([failed]);
    expect(idsOf(await list(owner, `?paymentId=${paymentId}`)).sort()).toEqual([ipn, hook].sort());
    expect(idsOf(await list(owner, `?status=failed`))).toEqual([failed]);
    expect(idsOf(await list(owner, `?status=pending&endpointId=ipn&paymentId=${paymentId}`))).toEqual([ipn]);
    const page = await list(owner, '?limit=2');
    expect([page.items.length, page.hasMore]).toEqual([2, true]);
    const last = await list(owner, `?limit=2&cursor=${page.nextCursor}`);
    expect([...idsOf(page), ...idsOf(last)]).toEqual(idsOf(all));
    expect(idsOf(await list(other, `?eventId=${second}`))).toEqual([]);
    for (const query of ['status=lost', 'endpointId=x', 'eventId=x', 'paymentId=x', 'cursor=x', 'limit=0'])
      expect(await get(`${deliveries}?${query}`)).toMatchObject(refused(400, 'VALIDATION_ERROR'));
  });

  it('are sent again at will: a new round where they are over, at once where they wait', async () => {
    const { owner, id: endpointId } = await anEndpoint();
    const id = deliveryId(await emit(owner.id, 'payment.settled'), endpointId);
    const again = () => post(`${deliveries}/${id}/redeliver`, {}, owner.key);
    const queued = () => h.db.query('SELECT is_behind FROM delivery_queue WHERE delivery_id = $1', [id]);
    for (const status of ['succeeded', 'failed', 'cancelled']) {
      await end(id, status);
      expect(await queued()).toEqual([]);
      expect(await again()).toMatchObject({ status: 202, body: { data: { id, status: 'pending' } } });
      const rows = await h.db.query('SELECT attempts, attempts_before FROM delivery WHERE id = $1', [id]);
      expect(rows).toEqual([{ attempts: 3, attempts_before: 3 }]);
      expect(await queued()).toEqual([{ is_behind: false }]);
    }
    await h.db.query('UPDATE delivery_queue SET is_behind = true WHERE delivery_id = $1', [id]);
    expect((await again()).status).toBe(202);
    expect(await queued()).toEqual([{ is_behind: false }]);
    await h.db.query('DELETE FROM delivery_queue WHERE delivery_id = $1', [id]);
    await h.db.query(
      `UPDATE delivery SET status = 'retrying', next_attempt_at = now() + interval '1 day' WHERE id = $1`,
      [id],
    );
    const waiting = (await again()).body.data;
    expect(waiting.status).toBe('retrying');
    expect(new Date(waiting.nextAttemptAt).getTime()).toBeLessThan(Date.now() + 60_000);
    const requests = await h.db.query(
      `SELECT kind, workflow, args, signal FROM temporal_request WHERE workflow_id = $1 AND kind = 'signal'`,
      [`webhook/${id}`],
    );
    expect(requests).toEqual([{ kind: 'signal', workflow: 'webhook', args: [id], signal: 'updated' }]);
  });

  it('are not sent again where nobody would take them', async () => {
    const { owner, id: endpointId, path } = await anEndpoint();
    const event = await emit(owner.id, 'payment.settled', { ipnUrl: 'https://shop.example/ipn' });
    const again = (id: string, key = owner.key) => post(`${deliveries}/${id}/redeliver`, {}, key);
    const hook = deliveryId(event, endpointId);
    for (const id of [newId()]) expect(await again(id)).toMatchObject(refused(404, 'DELIVERY_NOT_FOUND'));
    expect(await again(hook, other.key)).toMatchObject(refused(404, 'DELIVERY_NOT_FOUND'));
    await call('PATCH', path, { isActive: false }, owner.key);
    expect(await again(hook)).toMatchObject(refused(409, 'WEBHOOK_ENDPOINT_INACTIVE'));
    await call('DELETE', path, undefined, owner.key);
    expect(await again(hook)).toMatchObject(notFound);
    await h.db.query('UPDATE merchant SET ipn_enabled = false WHERE id = $1', [owner.id]);
    expect(await again(deliveryId(event, 'ipn'))).toMatchObject(refused(409, 'WEBHOOK_ENDPOINT_INACTIVE'));
  });

  it('of a span of time are replayed to one endpoint, what it never had included', async () => {
    const owner = await h.shop();
    const early = await emit(owner.id, 'payment.settled');
    const { id, path } = await anEndpoint({ enabledEvents: ['payment.settled', 'payment.failed'] }, owner);
    const [done, waiting] = [await emit(owner.id, 'payment.settled'), await emit(owner.id, 'payment.settled')];
    await end(deliveryId(done, id), 'succeeded');
    const [failed, unwanted] = [await emit(owner.id, 'payment.failed'), await emit(owner.id, 'payment.created')];
    await end(deliveryId(failed, id), 'failed');
    await post(`${path}/test`, {}, owner.key);
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const replay = (body: object, key = owner.key) => post(`${path}/replay`, body, key);
    await h.db.query('DELETE FROM delivery_queue');
    expect(await replay({ since, until, types: ['payment.failed'] })).toMatchObject({
      status: 202,
      body: { data: { deliveries: 1 } },
    });
    const all = await replay({ since, until });
    expect(all.body.data).toEqual({ deliveries: 2 }); // early and done: waiting and failed are on their way
    const rows = await h.db.query(
      `SELECT event_id, status FROM delivery WHERE endpoint = $1
         AND event_id <> ALL (SELECT id FROM event WHERE type = 'webhook.test')`,
      [id],
    );
    expect(rows.map((row: { event_id: string }) => row.event_id).sort()).toEqual([early, done, waiting, failed].sort());
    expect(new Set(rows.map((row: { status: string }) => row.status))).toEqual(new Set(['pending']));
    const queue = await h.db.query('SELECT delivery_id, is_behind FROM delivery_queue ORDER BY n');
    expect(queue).toEqual(
      [failed, early, done].map((event) => ({ delivery_id: deliveryId(event, id), is_behind: true })),
    );
    expect((await replay({ since, until, types: ['payment.*'] })).body.data).toEqual({ deliveries: 1 });
    expect(await targetsOf(unwanted)).toEqual([id]);
    expect((await replay({ since: '2026-01-01', until: since })).body.data).toEqual({ deliveries: 0 });

    for (const body of [
      {},
      { since },
      { since: until, until: since },
      { since: 'x', until },
      { since, until, types: ['x'] },
    ])
      expect(await replay(body)).toMatchObject(refused(400, 'VALIDATION_ERROR'));
    expect(await replay({ since, until }, other.key)).toMatchObject(notFound);
    await call('PATCH', path, { isActive: false }, owner.key);
    expect(await replay({ since, until })).toMatchObject(refused(409, 'WEBHOOK_ENDPOINT_INACTIVE'));
  });

  it('are not replayed by ten thousands', async () => {
    const { owner, path } = await anEndpoint();
    await h.db.query(
      `INSERT INTO event (id, merchant_id, seq, type, entity_id, state_version, data)
       SELECT lpad(to_hex(n), 24, '0'), $1, n, 'payment.settled', $1, n, '{}' FROM generate_series(1, 10001) n`,
      [owner.id],
    );
    const replay = (until: string) => post(`${path}/replay`, { since: '2026-01-01', until }, owner.key);
    expect(await replay('2100-01-01')).toMatchObject(refused(400, 'VALIDATION_ERROR'));
    await h.db.query('DELETE FROM event WHERE merchant_id = $1 AND seq > 10000', [owner.id]);
    expect((await replay('2100-01-01')).body.data).toEqual({ deliveries: 10_000 });
  });

  it('are forgotten after 60 days, with their attempts, once they are over', async () => {
    const { owner, id: endpointId } = await anEndpoint();
    const [old, open, young] = await Promise.all(
      Array.from({ length: 3 }, async () => deliveryId(await emit(owner.id, 'payment.settled'), endpointId)),
    );
    for (const id of [old!, young!]) {
      await end(id, 'succeeded');
      await h.db.query(`INSERT INTO delivery_attempt (delivery_id, n, at, duration_ms) VALUES ($1, 1, now(), 1)`, [id]);
    }
    await h.db.query(`UPDATE delivery SET created_at = now() - interval '61 days' WHERE id = ANY($1)`, [[old, open]]);
    expect(await forgetOldDeliveries(h.db, 100)).toBe(1);
    expect(idsOf(await list(owner)).sort()).toEqual([open!, young!].sort());
  });
});
