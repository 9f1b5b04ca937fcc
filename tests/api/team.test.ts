import { atOnce, startHarness, type Harness } from './harness';
import { mailTo, password, Person } from './person';

/** Invitations to addresses that are known already, and teams that are changed from several sides at once.
 *  Contract: G12. */

let h: Harness;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
});
afterAll(() => h?.stop());
beforeEach(() => h.db.query('DELETE FROM rate_limit'));

const answered = (answer: { status: number; body: unknown }) => [answer.status, answer.body];
const invalid = [400, { ok: false, error: { code: 'INVALID_INVITATION', message: 'Invalid or expired invitation' } }];
const invite = async (admin: Person, guest: Person, permissions: readonly string[] = ['payments:view']) =>
  admin.post('/api/v1/team-invitations', {
    email: guest.email,
    role: 'merchant_member',
    permissions,
    totpCode: await admin.code(),
  });
const tokenFor = async (guest: Person) => /token=(\w{64})/.exec(await mailTo(h, guest.email))![1];
const lookup = (guest: Person, token: unknown) => guest.post('/api/v1/team-invitations/lookup', { token });
const accept = (guest: Person, token: unknown) =>
  guest.post('/api/v1/team-invitations/accept', { token, password: 'Another-Horse-8', displayName: 'Guest' });

describe('an invited address', () => {
  it('that somebody registered and never verified belongs to whoever reads its mail', async () => {
    const admin = await Person.admin(h);
    const guest = new Person(h);
    await guest.register(); // not by the guest: without the mailed code
    const code = /\d{6}/.exec(await mailTo(h, guest.email))![0];
    await invite(admin, guest);
    const token = await tokenFor(guest);
    expect((await lookup(guest, token)).body.data.existingUser).toBe(false);
    const accepted = await accept(guest, token);
    expect(accepted.status).toBe(200);
    expect((await guest.enrol(accepted.body.data.setupToken)).body).toMatchObject({
      email: guest.email,
      role: 'merchant_member',
      permissions: ['payments:view'],
    });
    const squatter = new Person(h);
    expect((await squatter.post('/api/v1/auth/verify-email', { email: guest.email, code })).status).toBe(400);
    expect((await squatter.post('/api/v1/auth/login', { email: guest.email, password })).status).toBe(401);
    const rows = await h.db.query('SELECT removed_at IS NULL AS there FROM dashboard_user WHERE email = $1', [
      guest.email,
    ]);
    expect(rows).toEqual([{ there: true }]);
  });

  it('of a verified user is said to be one, and keeps its account', async () => {
    const admin = await Person.admin(h);
    const guest = await Person.admin(h);
    await invite(admin, guest);
    const token = await tokenFor(guest);
    expect((await lookup(guest, token)).body.data.existingUser).toBe(true);
    expect(answered(await accept(guest, token))).toEqual(invalid);
    expect((await guest.get('/api/v1/auth/me')).body).toMatchObject({ email: guest.email, role: 'merchant_admin' });
  });

  it('of an operator, or of an account that owns something, is never taken over', async () => {
    const admin = await Person.admin(h);
    for (const own of [
      `UPDATE dashboard_user SET role = 'super_admin', merchant_id = NULL WHERE email = $1`,
      `UPDATE dashboard_user SET last_login_at = now() WHERE email = $1`,
      `INSERT INTO api_key (id, merchant_id, name, key_hash, last4, scopes)
         SELECT u.id, u.merchant_id, 'Till', u.id, 'abcd', '{}' FROM dashboard_user u WHERE email = $1`,
    ]) {
      const guest = new Person(h);
      await guest.register();
      await h.db.query(own, [guest.email]);
      await invite(admin, guest);
      const token = await tokenFor(guest);
      expect((await lookup(guest, token)).body.data.existingUser).toBe(true);
      expect(answered(await accept(guest, token))).toEqual(invalid);
      const [row] = await h.db.query<unknown[]>('SELECT removed_at FROM dashboard_user WHERE email = $1', [
        guest.email,
      ]);
      expect(row).toEqual({ removed_at: null });
    }
  });

  it('has one owner where it is verified and accepted at once', async () => {
    const admin = await Person.admin(h);
    const guest = new Person(h);
    await guest.register();
    const code = /\d{6}/.exec(await mailTo(h, guest.email))![0];
    await invite(admin, guest);
    const token = await tokenFor(guest);
    const [verified, accepted] = await Promise.all([
      guest.post('/api/v1/auth/verify-email', { email: guest.email, code }),
      accept(guest, token),
    ]);
    expect([verified.status, accepted.status].sort()).toEqual([200, 400]);
  });
});

it('answers every bad token alike', async () => {
  const guest = new Person(h);
  for (const token of ['', 'x', 'x'.repeat(63), 'x'.repeat(64), 'x'.repeat(65), 'x'.repeat(200)]) {
    await h.db.query('DELETE FROM rate_limit');
    expect([token, ...answered(await lookup(guest, token))]).toEqual([token, ...invalid]);
    expect([token, ...answered(await accept(guest, token))]).toEqual([token, ...invalid]);
  }
});

describe('at once', () => {
  /** So many admins of one merchant. */
  const admins = async (count: number): Promise<Person[]> => {
    const first = await Person.admin(h);
    const all = [first];
    while (all.length < count) all.push(await Person.member(first, []));
    await h.db.query(`UPDATE dashboard_user SET role = 'merchant_admin' WHERE email = ANY($1)`, [
      all.map((one) => one.email),
    ]);
    h.api.deps.sessions.forget();
    return all;
  };

  it('invitations to one address leave one that is open', async () => {
    const team = await admins(3);
    const guest = new Person(h);
    const codes = await Promise.all(team.map((one) => one.code()));
    const answers = await atOnce(3, (n) =>
      team[n]!.post('/api/v1/team-invitations', {
        email: guest.email,
        role: 'merchant_member',
        permissions: [],
        totpCode: codes[n],
      }),
    );
    expect(answers.map((answer) => answer.status)).toEqual([201, 201, 201]);
    const [row] = await h.db.query<Array<{ open: string }>>(
      `SELECT count(*) AS open FROM team_invitation WHERE email = $1 AND status = 'pending'`,
      [guest.email],
    );
    expect(row).toEqual({ open: '1' });
  });

  it('admins who change or remove each other take turns', async () => {
    for (let round = 0; round < 4; round += 1) {
      await h.db.query('DELETE FROM rate_limit');
      const team = await admins(3);
      const members: Array<{ id: string; email: string }> = await h.db.query(
        'SELECT id, email FROM dashboard_user WHERE email = ANY($1)',
        [team.map((one) => one.email)],
      );
      const idOf = (person: Person) => members.find((member) => member.email === person.email)!.id;
      const codes = await Promise.all(team.map((one) => one.code()));
      const answers = await atOnce(3, (n) => {
        const one = team[n]!;
        const path = `/api/v1/team-members/${idOf(team[(n + 1) % 3]!)}`;
        const body = { totpCode: codes[n] };
        return round % 2 ? one.call('DELETE', path, body) : one.call('PATCH', path, { ...body, isActive: true });
      });
      expect(answers.map((answer) => answer.status).filter((status) => ![200, 401, 409].includes(status))).toEqual([]);
      const [left] = await h.db.query<Array<{ admins: number }>>(
        'SELECT count(*)::int AS admins FROM dashboard_user WHERE email = ANY($1) AND is_active',
        [team.map((one) => one.email)],
      );
      expect(left!.admins).toBeGreaterThan(0);
    }
  });
});
