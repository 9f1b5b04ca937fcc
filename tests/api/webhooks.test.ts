import { Webhook } from 'standardwebhooks';
import { deliveryId, emitEvent } from '../../db/events';
import { newId } from '../../domain/ids';
import { openSealed } from '../../db/sealing';
import { secretsKey, startHarness, type Harness, type Shop } from './harness';
import { Person } from './person';

/** Endpoints, events and deliveries as merchants see them; what a delivery does is in tests/activities. gaps: 4. */

let h: Harness;
let shop: Shop;
let other: Shop;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
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
const emit = (merchantId: string, type: string, over: Partial<Parameters<typeof emitEvent>[1]> = {}) =>
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
      body: { error: 'Callback URLs must use HTTPS in production' },
    });
    for (const url of ['https://127.0.0.1/', 'https://[::1]/', 'https://169.254.169.254/', 'https://db.internal/'])
      expect(await make(url)).toMatchObject({
        status: 400,
        body: { error: 'Callback URLs must not point to internal addresses' },
      });
    for (const url of ['shop.example', 'ftp://shop.example/', 'https://a:b@shop.example/', '', 7, undefined])
      expect(await make(url)).toMatchObject(refused(400, 'VALIDATION_ERROR'));
    expect(await make(`https://shop.example/${'x'.repeat(2048)}`)).toMatchObject(refused(400, 'VALIDATION_ERROR'));
    const { path, owner } = await anEndpoint();
    expect((await call('PATCH', path, { url: 'https://10.0.0.1/' }, owner.key)).status).toBe(400);
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
    const made = await Promise.all(
      Array.from({ length: 22 }, () =>
        post(endpoints, { url: 'https://shop.example/', enabledEvents: ['*'] }, busy.key),
      ),
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
      `UPDATE webhook_endpoint SET is_active = false, disabled_reason = 'failing', failing_since = now() - interval '6 days' WHERE id = $1`,
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
    for (const where of [path, `${endpoints}/${newId()}`, `${endpoints}/nonsense`]) {
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
  it('goes to the IPN target and to every active endpoint that wants its type, each with a workflow of its own', async () => {
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
      `SELECT d.id, r.workflow, r.args, r.kind FROM delivery d JOIN temporal_request r ON r.workflow_id = 'webhook/' || d.id WHERE d.event_id = $1`,
      [event],
    );
    expect(rows.map((row: { id: string }) => row.id).sort()).toEqual(
      targets.map((target) => deliveryId(event, target)).sort(),
    );
    for (const row of rows) expect(row).toMatchObject({ workflow: 'webhook', kind: 'start', args: [row.id] });
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
