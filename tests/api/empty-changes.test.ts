import { startHarness, type Harness } from './harness';
import { Person } from './person';

/** A change that changes nothing is no act: the audit log has no entry for it. */

let h: Harness;
let admin: Person;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
  admin = await Person.admin(h);
});
afterAll(() => h?.stop());

const entries = async (): Promise<number> => (await h.db.query('SELECT FROM audit_log')).length;
const made = async (path: string, body: object): Promise<string> => {
  const answer = await admin.post(path, body);
  expect(answer.status).toBe(201);
  return `${path}/${answer.body.data.id}`;
};
type Subject = [what: string, path: () => Promise<string>, changes: readonly object[], byFactor?: true];
const fixed = (path: string) => () => Promise.resolve(path);

const subjects: Subject[] = [
  [
    'settings',
    fixed('/api/v1/settings'),
    [
      { underpaymentTolerancePct: 1.5, refundDailyCapUsd: '10.50', callbackDomains: ['shop.example'] },
      { refundDailyCapUsd: '10.5' },
      {},
    ],
  ],
  ['branding', fixed('/api/v1/settings/branding'), [{ accentColor: '#0a7cff', supportEmail: 'a@shop.example' }, {}]],
  ['limits', fixed('/api/v1/settings/egress-limits'), [{ dailyUsd: '10', hourlyCount: 3 }, { dailyUsd: '10.0' }], true],
  ['the account', fixed('/api/v1/auth/me'), [{ displayName: 'Zoe', language: 'de', timeZone: 'Europe/Berlin' }, {}]],
  [
    'a secret key',
    async () => made('/api/v1/api-keys', { name: 'k', scopes: ['payments:read'], totpCode: await admin.code() }),
    [{ name: 'other', expiresAt: '2100-01-01T00:00:00Z' }, {}],
  ],
  [
    'a webhook endpoint',
    () => made('/api/v1/webhook-endpoints', { url: 'https://shop.example/hook', enabledEvents: ['*'] }),
    [{ isActive: false, description: 'x' }, {}],
  ],
  [
    'a widget',
    () => made('/api/v1/widgets', { type: 'payment', name: 'w', amountMode: 'fixed', fixedAmount: 5 }),
    [{ name: 'other', branding: { buttonLabel: 'Pay' } }, {}],
  ],
  [
    'a member',
    async () => {
      const member = await Person.member(admin, ['payments:view']);
      return `/api/v1/team-members/${(await member.get('/api/v1/auth/me')).body.id}`;
    },
    [{ permissions: ['payments:view', 'widgets:view'] }, { isActive: true }, {}],
    true,
  ],
];
it.each(subjects)('of %s', async (...[, pathOf, [change, ...nothing], byFactor]: Subject) => {
  const path = await pathOf();
  const patch = async (body: object) => {
    await h.db.query('DELETE FROM rate_limit');
    const answer = await admin.call('PATCH', path, { ...body, ...(byFactor ? { totpCode: await admin.code() } : {}) });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    const { updatedAt: _, ...rest } = answer.body.data ?? answer.body;
    return rest;
  };
  const before = await entries();
  const first = await patch(change!);
  expect(await entries()).toBe(before + 1);
  for (const body of [change!, ...nothing]) expect(await patch(body)).toEqual(first);
  expect(await entries()).toBe(before + 1);
});
