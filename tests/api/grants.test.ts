import { access, type Access } from '../../domain/access/access-table';
import { scopes, type Permission } from '../../domain/access/access';
import { startHarness, type Harness } from './harness';
import { mailTo, password, Person } from './person';

/** Nobody grants what they lack, by a key or by an invitation. Contract: G12. */

let h: Harness;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
});
afterAll(() => h?.stop());

const answered = (answer: { status: number; body: unknown }) => [answer.status, answer.body];
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
      expect([wanted, ...answered(await make(member, wanted))]).toEqual([wanted, ...refused('GRANT_REFUSED', 403)]);
    expect((await member.get('/api/v1/api-keys')).text).not.toContain('ledger:read');
    expect((await make(admin, scopes)).status).toBe(201);
  });

  it('is checked by every scope, one by one', async () => {
    const admin = await Person.admin(h);
    const member = await Person.member(admin, ['api-keys:manage']);
    for (const scope of scopes) {
      await h.db.query('DELETE FROM rate_limit');
      const rights = Object.values<Access>(access).flatMap(({ may }) =>
        typeof may === 'object' && may.key === scope ? [may] : [],
      );
      await nowMay(member, ['api-keys:manage']);
      h.api.deps.sessions.forget();
      expect([scope, (await make(member, [scope])).status]).toEqual([scope, 403]);
      for (const opens of [rights.map(({ session }) => session), rights.map(({ session, or }) => or ?? session)]) {
        await nowMay(member, ['api-keys:manage', ...opens]);
        h.api.deps.sessions.forget();
        expect([scope, (await make(member, [scope])).status]).toEqual([scope, 201]);
      }
    }
  });

  it('is refused to whoever has just lost the right', async () => {
    const admin = await Person.admin(h);
    const member = await Person.member(admin, ['api-keys:manage', 'payments:view']);
    expect((await member.get('/api/v1/payments')).status).toBe(200); // kept for a second
    await nowMay(member, ['api-keys:manage']);
    expect(answered(await make(member, ['payments:read']))).toEqual(refused('GRANT_REFUSED', 403));
    await h.db.query('UPDATE dashboard_user SET is_active = false WHERE id = $1', [await userId(member)]);
    expect((await make(member, ['payments:read'])).status).toBe(401);
  });
});

describe('an invitation', () => {
  const invite = async (person: Person, permissions: readonly string[], guest = new Person(h)) => {
    const answer = await person.post('/api/v1/team-invitations', {
      email: guest.email,
      role: 'merchant_member',
      permissions,
      totpCode: await person.code(),
    });
    const mail = answer.status === 201 ? await mailTo(h, guest.email) : '';
    return { answer, guest, id: answer.body.data?.id as string, token: /token=(\w{64})/.exec(mail)?.[1] };
  };
  const accept = (guest: Person, token: string | undefined) =>
    guest.post('/api/v1/team-invitations/accept', { token, password, displayName: 'Guest' });
  const statusOf = async (id: string) => {
    const [row] = await h.db.query<Array<{ status: string }>>('SELECT status FROM team_invitation WHERE id = $1', [id]);
    return row!.status;
  };
  const change = async (admin: Person, member: Person, body: object) =>
    admin.call('PATCH', `/api/v1/team-members/${await userId(member)}`, { ...body, totpCode: await admin.code() });
  const invalid = refused('INVALID_INVITATION', 400);
  const rights: Permission[] = ['team:manage', 'payments:manage', 'wallets:view'];
  beforeEach(() => h.db.query('DELETE FROM rate_limit'));

  it('ends with the rights of its inviter', async () => {
    const admin = await Person.admin(h);
    const member = await Person.member(admin, rights);
    const [kept, lost] = [await invite(member, ['payments:view']), await invite(member, ['wallets:view'])];
    expect((await change(admin, member, { permissions: ['team:manage', 'payments:manage'] })).status).toBe(200);
    expect([await statusOf(kept.id), await statusOf(lost.id)]).toEqual(['pending', 'revoked']);
    expect(answered(await accept(lost.guest, lost.token))).toEqual(invalid);
    expect((await accept(kept.guest, kept.token)).status).toBe(200);
    const acts = (await admin.get('/api/v1/audit-log?action=invitation.revoked')).body.data.items;
    expect(acts).toMatchObject([{ target: lost.id, actor: { name: admin.email } }]);
  });

  it.each([
    ['deactivated', (admin: Person, member: Person) => change(admin, member, { isActive: false })],
    [
      'removed',
      async (admin: Person, member: Person) =>
        admin.call('DELETE', `/api/v1/team-members/${await userId(member)}`, { totpCode: await admin.code() }),
    ],
  ] as const)('ends when its inviter is %s', async (_how, act) => {
    const admin = await Person.admin(h);
    const member = await Person.member(admin, rights);
    const [theirs, ours] = [await invite(member, []), await invite(admin, ['payments:view'])];
    expect((await act(admin, member)).status).toBe(200);
    expect(await statusOf(theirs.id)).toBe('revoked');
    expect(answered(await accept(theirs.guest, theirs.token))).toEqual(invalid);
    expect((await accept(ours.guest, ours.token)).status).toBe(200);
  });

  it('is void where its inviter lacks what it gives, however that came', async () => {
    const admin = await Person.admin(h);
    const member = await Person.member(admin, rights);
    const { guest, token } = await invite(member, ['wallets:view']);
    await nowMay(member, ['team:manage']);
    expect(answered(await guest.post('/api/v1/team-invitations/lookup', { token }))).toEqual(invalid);
    expect(answered(await accept(guest, token))).toEqual(invalid);
  });

  it('is mailed again only by whoever could give it, and is theirs from then on', async () => {
    const admin = await Person.admin(h);
    const member = await Person.member(admin, rights);
    const poor = await Person.member(admin, ['team:manage']);
    const { id, guest } = await invite(member, ['wallets:view']);
    await h.db.query('UPDATE team_invitation SET expires_at = now() WHERE id = $1', [id]);
    const resend = (person: Person) => person.post(`/api/v1/team-invitations/${id}/resend`);
    expect(answered(await resend(poor))).toEqual(refused('GRANT_REFUSED', 403));
    expect((await resend(admin)).status).toBe(200);
    expect((await change(admin, member, { isActive: false })).status).toBe(200);
    const token = /token=(\w{64})/.exec(await mailTo(h, guest.email))![1];
    expect((await accept(guest, token)).status).toBe(200);
  });

  it('and a return to the team give no more than the giver has', async () => {
    const admin = await Person.admin(h);
    const member = await Person.member(admin, rights);
    const poor = await Person.member(admin, ['team:manage']);
    expect((await change(admin, member, { isActive: false })).status).toBe(200);
    expect(answered(await change(poor, member, { isActive: true }))).toEqual(refused('GRANT_REFUSED', 403));
    expect((await change(poor, member, { isActive: true, permissions: ['team:view'] })).status).toBe(200);
  });
});
