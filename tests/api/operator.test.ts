import { operate } from '../../api/operator';
import { limitsOf } from '../../db/limits/outbound';
import { byTwoOperators } from '../operators';
import { startHarness, type Harness } from './harness';
import { Person } from './person';

let h: Harness;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
});
afterAll(() => h?.stop());
const shell = (...args: string[]) => operate(h.db, h.api.deps.config, args);

it('suspends a merchant: sessions and keys are refused within a second, and a login says why', async () => {
  const admin = await Person.admin(h);
  const { merchantId } = (await admin.get('/api/v1/auth/me')).body;
  const made = await admin.post('/api/v1/api-keys', {
    name: 'k',
    scopes: ['payments:read'],
    totpCode: await admin.code(),
  });
  const key: string = made.body.data.apiKey;
  expect((await h.call('GET', '/api/v1/payments', { key })).status).toBe(200);
  expect(await shell('suspend', merchantId, 'fraud', 'report')).toBe(
    'Shop is suspended; its outgoing money is held: fraud report',
  );
  await new Promise((resolve) => setTimeout(resolve, 1100));
  expect((await admin.get('/api/v1/auth/me')).status).toBe(401);
  expect((await h.call('GET', '/api/v1/payments', { key })).body).toEqual({ error: 'Merchant account is not active' });
  expect((await admin.post('/api/v1/auth/refresh')).status).toBe(401);
  expect(await shell('merchants')).toContain(`${merchantId}  suspended  Shop`);
  expect(await shell('activate', merchantId, 'cleared')).toBe(
    'Shop is active; its outgoing money is held: fraud report',
  );
  await byTwoOperators(h.db, 'lift-hold', { merchantId });
  expect(await shell('activate', merchantId, 'cleared')).toBe('Shop is active');
  expect((await admin.signIn()).status).toBe(200);
  const { items } = (await admin.get('/api/v1/audit-log?action=merchant.suspended')).body.data;
  expect(items).toMatchObject([{ actor: { kind: 'operator' }, after: { reason: 'fraud report' }, ip: 'shell' }]);
});

it('makes an operator, who comes in by the link and acts with a factor', async () => {
  const printed = await shell('add-super-admin', 'Root@Platform.example');
  const secrets = new URLSearchParams(new URL(/http\S+/.exec(printed)![0]).hash.slice(1));
  const root = new Person(h, 'root@platform.example');
  await root.post('/api/v1/auth/reset-password', {
    email: secrets.get('email'),
    token: secrets.get('token'),
    newPassword: root.password_,
  });
  const login = await root.post('/api/v1/auth/login', { email: root.email, password: root.password_ });
  expect((await root.enrol(login.body.setupToken)).body).toMatchObject({ role: 'super_admin', merchantId: null });
  const merchant = await h.shop({ name: 'Closed' }, []);
  const act = async (path: string, body: object) =>
    root.post(`/api/v1/platform/${path}`, { reason: 'x', totpCode: await root.code(), ...body });
  expect((await act(`merchants/${merchant.id}/suspend`, {})).body.data).toMatchObject({
    status: 'suspended',
    outgoingHeld: 'x',
  });
  expect((await act(`merchants/${merchant.id}/activate`, {})).body.data).toMatchObject({
    status: 'active',
    outgoingHeld: 'x',
  });
  expect((await act(`merchants/${'f'.repeat(24)}/suspend`, {})).body.error.code).toBe('MERCHANT_NOT_FOUND');
  expect((await act('switches/registration', { isOn: false })).body.data).toMatchObject({ isOn: false });
  expect((await root.get('/api/v1/platform/switches')).body.data).toMatchObject([
    { name: 'registration', isOn: false },
    { name: 'unapproved-registration', isOn: true },
    { name: 'conversions', isOn: true },
  ]);
  expect((await new Person(h).register()).status).toBe(403);
  expect(await shell('switch', 'registration', 'on', 'open again')).toBe('registration is on');
  expect((await act('switches/everything', { isOn: false })).status).toBe(404);
  expect((await act('egress-freezes', { currency: 'ETH' })).body.data).toEqual({ frozen: true });
  expect((await act('egress-freezes', { currency: 'DOGE' })).status).toBe(400);
  expect((await root.get('/api/v1/platform/egress-freezes')).body.data).toMatchObject([
    { currency: 'ETH', reason: 'x' },
  ]);
  expect((await act('egress-freezes/ETH/lift', {})).status).toBe(404);
  const limits = await act('egress-limits', { dailyUsd: '5000', hourlyCount: 7 });
  expect(limits.body.data.effective).toEqual({ dailyUsd: '5000', hourlyCount: 7, approvalUsd: null });
  for (const looser of [{ dailyUsd: '5000.01' }, { hourlyCount: null }, { dailyUsd: '1', hourlyCount: 8 }]) {
    const refused = await act('egress-limits', looser);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'ACT_REFUSED']);
  }
  expect((await act('egress-limits', { dailyUsd: '4999.5' })).body.data.effective).toMatchObject({
    dailyUsd: '4999.5',
    hourlyCount: 7,
  });
  expect((await act('egress-limits', { merchantId: merchant.id, approvalUsd: '10' })).body.data.limits).toEqual({
    dailyUsd: null,
    hourlyCount: null,
    approvalUsd: '10',
  });
  expect((await act('egress-limits', { merchantId: 'f'.repeat(24), approvalUsd: '10' })).status).toBe(404);
  const ceiling = await root.get(`/api/v1/platform/egress-limits?merchantId=${merchant.id}`);
  expect(ceiling.body.data.effective.approvalUsd).toBe('10');
  const page = (await root.get('/api/v1/platform/merchants?limit=1')).body.data;
  expect(page.items).toHaveLength(1);
});

it('stops and limits what leaves', async () => {
  await h.db.query(`DELETE FROM egress_limit WHERE scope = 'platform'`);
  expect(await shell('freeze', 'all', 'drill')).toBe('Everything is stopped');
  expect(await shell('freeze', 'all', 'drill')).toBe('Everything is stopped, as before');
  expect(await shell('freeze', 'btc', 'fork')).toBe('BTC is stopped');
  expect((await byTwoOperators(h.db, 'unfreeze', { currency: 'all' })).outcome).toBe('everything may leave');
  expect((await byTwoOperators(h.db, 'unfreeze', { currency: 'btc' })).outcome).toBe('BTC may leave');
  expect(await shell('limit', 'platform', 'daily', '1000000', 'first')).toBe('platform: daily 1000000');
  expect(await shell('limit', 'platform', 'hourly', '500', 'second')).toBe('platform: hourly 500');
  expect(await limitsOf(h.db, 'platform')).toMatchObject({ dailyUsd: '1000000', hourlyCount: 500 });
  await expect(shell('limit', 'platform', 'daily', 'none', 'open')).rejects.toThrow(
    'dailyUsd would be looser than now: ask for it by a request for loosen-limits',
  );
  expect(await limitsOf(h.db, 'platform')).toMatchObject({ dailyUsd: '1000000', hourlyCount: 500 });
});

it.each([
  [[]],
  [['freeze', 'DOGE', 'x']],
  [['freeze', 'all']],
  [['limit', 'platform', 'daily', 'many', 'x']],
  [['limit', 'platform', 'weekly', '5', 'x']],
  [['limit', 'f'.repeat(24), 'daily', '5', 'x']],
  [['suspend']],
  [['suspend', 'f'.repeat(24)]],
  [['suspend', 'f'.repeat(24), 'x']],
  [['switch', 'everything', 'off', 'x']],
  [['switch', 'registration', 'maybe', 'x']],
  [['add-super-admin', 'nobody']],
])('says what is wrong with %j', async (args) => {
  await expect(shell(...args)).rejects.toThrow(/Usage|No merchant|Merchant not found/);
});

it('does not make an operator of somebody who is there', async () => {
  const admin = await Person.admin(h);
  await expect(shell('add-super-admin', admin.email)).rejects.toThrow('registered already');
});
