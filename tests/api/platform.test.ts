import { operate } from '../../api/operator';
import { newId } from '../../domain/ids';
import { openIncident, openIncidentAgain } from '../../db/incidents';
import { freeze, unfreeze } from '../../db/limits/outbound';
import { eventually, startHarness, type Harness, type Shop } from './harness';
import { Person } from './person';
import { settledStory } from './platform-rows';

/** The overview, incidents and merchants of operators. The shell does the same by the same commands. */

const at = '/api/v1/platform';
let h: Harness;
let shop: Shop;
let operator: Person;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
  shop = await h.shop({ name: 'Bäckerei 100%' });
  operator = await Person.superAdmin(h);
});
afterAll(() => h?.stop());
beforeEach(() => h.db.query('DELETE FROM rate_limit'));

const read = async (path: string) => {
  const answer = await operator.get(`${at}/${path}`);
  expect([path, answer.status]).toEqual([path, 200]);
  return answer.body.data;
};
const act = async (path: string, body: object) =>
  operator.post(`${at}/${path}`, { ...body, totpCode: await operator.code() });
const shell = (...args: string[]) => operate(h.db, h.api.deps.config, args);
const codeOf = ({ status, body }: { status: number; body: { error: { code: string } } }) => [status, body.error.code];
const acts = (action: string) =>
  h.db.query<Array<{ actor_name: string; target: string; before: object | null; after: object }>>(
    'SELECT actor_name, target, before, after FROM audit_log WHERE action = $1 ORDER BY id',
    [action],
  );

describe('10: the overview', () => {
  it('tells of incidents, networks, the outbox, wallets, exposure and volumes', async () => {
    await settledStory(h, shop, 'B-1');
    await h.db.query(
      `UPDATE chain_cursor SET scanned_through = now() - interval '10 minutes', head_height = 107, stale_since = now(),
              stale_reason = 'its head is 9 minutes old' WHERE network = 'bitcoin'`,
    );
    await h.db.query(
      `UPDATE temporal_request SET created_at = now() - interval '3 minutes'
        WHERE id = (SELECT min(id) FROM temporal_request)`,
    );
    await h.db.transaction((tx) => freeze(tx, 'BTC', 'drill'));
    const told = await read('overview');
    await h.db.transaction((tx) => unfreeze(tx, 'BTC'));
    expect(told.incidents).toContainEqual({ kind: 'sweep-overdue', count: 1, oldestAt: expect.any(String) });
    const bitcoin = told.networks.find(({ network }: { network: string }) => network === 'bitcoin');
    expect(bitcoin).toMatchObject({ height: '100', headHeight: '107', staleReason: 'its head is 9 minutes old' });
    expect(bitcoin.lagSeconds).toBeGreaterThanOrEqual(600);
    expect(told.outbox.ageSeconds).toBeGreaterThanOrEqual(180);
    expect(told.outbox.rows).toBeGreaterThan(0);
    expect(told.frozen).toEqual(['BTC']);
    expect(told.exposure.assets.map(({ currency }: { currency: string }) => currency)).toContain('ETH');
    expect(told.volumes.map(({ hours }: { hours: number }) => hours)).toEqual([24, 168]);
    for (const { byCurrency } of told.volumes)
      expect(byCurrency).toEqual([
        { fiatCurrency: 'USD', created: 1, settled: 1, createdAmount: '40', settledAmount: '40' },
      ]);
  });
});

describe('10: incidents', () => {
  const open = async (kind: 'sweep-overdue' | 'gas-low' | 'wallet-frozen' | 'node-stale', id = newId()) => {
    if (kind === 'wallet-frozen') await openIncident(h.db, { kind, subject: { kind: 'wallet', id }, details: {} });
    else if (kind === 'node-stale')
      await openIncidentAgain(h.db, { kind, subject: { kind: 'network', id }, details: { n: 1 } });
    else if (kind === 'gas-low') await openIncident(h.db, { kind, subject: { kind: 'intent', id }, details: {} });
    else await openIncident(h.db, { kind, subject: { kind: 'payment', id }, details: { amount: '1' } });
    const [row] = await h.db.query<Array<{ id: string }>>('SELECT max(id)::text AS id FROM incident');
    return { id: row!.id, subject: id };
  };

  it('are listed with their runbook, by state and kind, page by page', async () => {
    const first = await open('sweep-overdue');
    const second = await open('gas-low');
    const { items, nextCursor } = await read('incidents?state=open&limit=1');
    expect(items).toMatchObject([
      { id: second.id, kind: 'gas-low', runbook: { page: 'operations/incidents.md#gas-low', endedBy: 'operator' } },
    ]);
    expect((await read(`incidents?state=open&limit=1&cursor=${nextCursor}`)).items).toMatchObject([{ id: first.id }]);
    expect((await read('incidents?kind=gas-low')).items).toMatchObject([{ id: second.id }]);
    expect((await read(`incidents/${first.id}`)).subject).toEqual({ kind: 'payment', id: first.subject });
    expect((await read('incidents?state=resolved')).items).toEqual([]);
    for (const query of ['state=shut', 'kind=none', 'cursor=x', 'limit=0'])
      expect(codeOf(await operator.get(`${at}/incidents?${query}`))).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('are resolved with a factor and a reason, once, and the log says by whom', async () => {
    const { id } = await open('sweep-overdue');
    const bare = await operator.post(`${at}/incidents/${id}/resolve`, { reason: 'x' });
    expect(codeOf(bare)).toEqual([400, 'VERIFICATION_FAILED']);
    expect(codeOf(await act(`incidents/${id}/resolve`, {}))).toEqual([400, 'VALIDATION_ERROR']);
    expect((await read(`incidents/${id}`)).resolvedAt).toBeNull();
    const done = await act(`incidents/${id}/resolve`, { reason: 'swept by hand' });
    expect(done.body.data).toMatchObject({
      id,
      resolvedAt: expect.any(String),
      resolvedBy: operator.email,
      resolution: 'swept by hand',
    });
    expect(codeOf(await act(`incidents/${id}/resolve`, { reason: 'again' }))).toEqual([409, 'INCIDENT_RESOLVED']);
    const told = (await acts('incident.resolved')).filter(({ target }) => target === id);
    expect(told).toMatchObject([{ actor_name: operator.email, after: { reason: 'swept by hand' } }]);
    for (const none of ['99999999', 'abc', '1e3'])
      expect(codeOf(await act(`incidents/${none}/resolve`, { reason: 'x' }))).toEqual([404, 'INCIDENT_NOT_FOUND']);
  });

  it('are not resolved by hand where two operators decide, from a shell neither', async () => {
    const { id } = await open('wallet-frozen', `ethereum/${newId()}`);
    expect((await read(`incidents/${id}`)).runbook.endedBy).toBe('unfreeze-wallet');
    expect(codeOf(await act(`incidents/${id}/resolve`, { reason: 'looks fine' }))).toEqual([409, 'ACT_REFUSED']);
    await expect(shell('resolve', id, 'looks', 'fine')).rejects.toThrow('unfreeze-wallet');
    expect((await read(`incidents/${id}`)).resolvedAt).toBeNull();
  });

  it('come back where the service still sees them, and forget who resolved them', async () => {
    const network = newId();
    const { id } = await open('node-stale', network);
    expect(await shell('incidents')).toContain(`node-stale  network ${network}`);
    expect(await shell('resolve', id, 'restarted')).toBe(`node-stale of network ${network} is resolved`);
    expect(await read(`incidents/${id}`)).toMatchObject({ resolution: 'restarted', resolvedBy: expect.any(String) });
    await openIncidentAgain(h.db, {
      kind: 'node-stale',
      subject: { kind: 'network', id: network },
      details: { n: 2 },
    });
    expect(await read(`incidents/${id}`)).toMatchObject({
      details: { n: 2 },
      resolvedAt: null,
      resolvedBy: null,
      resolution: null,
    });
  });
});

describe('10: merchants', () => {
  it('are found by the beginning of their name, and by their state', async () => {
    const names = async (query: string) =>
      (await read(`merchants?${query}`)).items.map(({ name }: { name: string }) => name);
    expect(await names(`name=${encodeURIComponent('bÄCK')}`)).toEqual(['Bäckerei 100%']);
    expect(await names('name=%25')).toEqual([]);
    expect(await names('name=_')).toEqual([]);
    expect(await names(`name=${encodeURIComponent('Bäckerei 100%')}`)).toEqual(['Bäckerei 100%']);
    expect(await names('status=suspended')).toEqual([]);
  });

  it('are shown with balances and users, and nothing sealed', async () => {
    const page = await operator.get(`${at}/merchants/${shop.id}`);
    expect(page.body.data).toMatchObject({ id: shop.id, feeBps: 40, openPayments: 0, status: 'active', users: [] });
    expect(page.text).not.toMatch(/secret|sealed|pk_live|hash/);
    const admin = await Person.admin(h, { merchantName: 'With people' });
    const { merchantId } = (await admin.get('/api/v1/auth/me')).body;
    expect((await read(`merchants/${merchantId}`)).users).toMatchObject([{ email: admin.email, isActive: true }]);
    expect(codeOf(await operator.get(`${at}/merchants/${newId()}`))).toEqual([404, 'MERCHANT_NOT_FOUND']);
    expect(codeOf(await admin.get(`${at}/merchants/${merchantId}`))).toEqual([403, 'FORBIDDEN']);
  });

  it('pay another commission from then on, and payments that are made keep theirs', async () => {
    const create = async () =>
      (await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 100, currency: 'USDT_ERC20' } })).body;
    const feeOf = async ({ paymentId }: { paymentId: string }) =>
      (await h.db.query<Array<{ fee_bps: number }>>('SELECT fee_bps FROM payment WHERE id = $1', [paymentId]))[0]!
        .fee_bps;
    const before = await create();
    for (const feeBps of [0, 5001, 1.5, '40'])
      expect(codeOf(await act(`merchants/${shop.id}/fee`, { feeBps, reason: 'x' }))).toEqual([400, 'VALIDATION_ERROR']);
    const bare = await operator.post(`${at}/merchants/${shop.id}/fee`, { feeBps: 25, reason: 'x' });
    expect(codeOf(bare)).toEqual([400, 'VERIFICATION_FAILED']);
    const set = await act(`merchants/${shop.id}/fee`, { feeBps: 25, reason: 'a large shop' });
    expect(set.body.data).toMatchObject({ id: shop.id, feeBps: 25 });
    await eventually(async () => (await feeOf(await create())) === 25); // a key's merchant is known for a second
    expect(await feeOf(before)).toBe(40);
    expect(await shell('fee', shop.id, '30', 'agreed')).toContain('30 hundredths');
    await expect(shell('fee', shop.id, '0', 'agreed')).rejects.toThrow('Usage');
    await expect(shell('fee', newId(), '30', 'agreed')).rejects.toThrow('Merchant not found');
    expect(await acts('merchant.fee_changed')).toMatchObject([
      { actor_name: operator.email, before: { feeBps: 40 }, after: { feeBps: 25, reason: 'a large shop' } },
      { before: { feeBps: 25 }, after: { feeBps: 30, reason: 'agreed' } },
    ]);
  });
});
