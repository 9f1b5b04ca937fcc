import { access } from '../../domain/access-table';
import { scopes, type Permission } from '../../domain/access';
import { startHarness, type Harness } from './harness';
import { Person } from './person';

/** Nobody grants what they lack, by a key or by an invitation. gaps: 12. */

let h: Harness;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
});
afterAll(() => h?.stop());

const told = (answer: { status: number; body: unknown }) => [answer.status, answer.body];
const refused = (code: string, status: number) => [
  status,
  { ok: false, error: { code, message: expect.any(String) as string } },
];
const userId = async (person: Person): Promise<string> => {
  const [row] = await h.db.query<Array<{ id: string }>>('SELECT id FROM dashboard_user WHERE email = $1', [
    person.email,
  ]);
  return row!.id;
};
/** Changes what a member may do behind the back of the API, whose sessions notice a second later. */
const nowMay = async (person: Person, permissions: readonly Permission[]) =>
  h.db.query('UPDATE dashboard_user SET permissions = $2 WHERE email = $1', [person.email, permissions]);

describe('a key', () => {
  const make = async (person: Person, wanted: readonly string[]) =>
    person.post('/api/v1/api-keys', { name: 'Till', scopes: wanted, totpCode: await person.code() });

  it('has no scope whose routes its maker could not call', async () => {
    const admin = await Person.admin(h);
    const member = await Person.member(admin, ['api-keys:manage', 'payments:view', 'webhooks:view']);
    expect((await make(member, ['payments:read'])).status).toBe(201);
    expect((await make(member, ['events:read', 'refunds:read'])).status).toBe(201);
    for (const wanted of [
      ['payments:create'],
      ['payments:read', 'conversions:execute'],
      ['refunds:create'],
      ['ledger:read'],
      ['webhooks:manage'], // opens what `webhooks:view` alone does not
    ])
      expect([wanted, ...told(await make(member, wanted))]).toEqual([wanted, ...refused('GRANT_REFUSED', 403)]);
    expect((await member.get('/api/v1/api-keys')).text).not.toContain('ledger:read');
    expect((await make(admin, scopes)).status).toBe(201);
  });

  it('is judged by every scope, one by one', async () => {
    const admin = await Person.admin(h);
    const member = await Person.member(admin, ['api-keys:manage']);
    for (const scope of scopes) {
      await h.db.query('DELETE FROM rate_limit');
      const opens = Object.values(access).flatMap(({ may }) =>
        typeof may === 'object' && may.key === scope ? [may.session] : [],
      );
      await nowMay(member, ['api-keys:manage']);
      h.api.deps.sessions.forget();
      expect([scope, (await make(member, [scope])).status]).toEqual([scope, 403]);
      await nowMay(member, ['api-keys:manage', ...opens]);
      h.api.deps.sessions.forget();
      expect([scope, (await make(member, [scope])).status]).toEqual([scope, 201]);
    }
  });

  it('is refused to whoever has just lost the right', async () => {
    const admin = await Person.admin(h);
    const member = await Person.member(admin, ['api-keys:manage', 'payments:view']);
    expect((await member.get('/api/v1/payments')).status).toBe(200); // kept for a second
    await nowMay(member, ['api-keys:manage']);
    expect(told(await make(member, ['payments:read']))).toEqual(refused('GRANT_REFUSED', 403));
    await h.db.query('UPDATE dashboard_user SET is_active = false WHERE id = $1', [await userId(member)]);
    expect((await make(member, ['payments:read'])).status).toBe(401);
  });
});
