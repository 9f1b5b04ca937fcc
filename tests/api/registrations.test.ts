import { operate } from '../../api/operator';
import { newId } from '../../domain/ids';
import { createMerchant } from '../../db/access/merchants';
import { secretsKey, startHarness, type Harness } from './harness';
import { mailTo, newEmail, Person } from './person';

/** Who may register, by the switches of operators and by the codes that they hand out. */

const at = '/api/v1/platform';
let h: Harness;
let operator: Person;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
  operator = await Person.superAdmin(h);
});
afterAll(() => h?.stop());
beforeEach(() => h.db.query('DELETE FROM rate_limit'));
afterEach(() => h.db.query('DELETE FROM platform_switch'));

const turnOff = (name: string) =>
  h.db.query(`INSERT INTO platform_switch (name, is_on, reason) VALUES ($1, false, 'x')`, [name]);
const read = async (path: string) => {
  const answer = await operator.get(`${at}/${path}`);
  expect([path, answer.status]).toEqual([path, 200]);
  return answer.body.data;
};
const act = async (path: string, body: object) =>
  operator.post(`${at}/${path}`, { ...body, totpCode: await operator.code() });
const codeOf = ({ status, body }: { status: number; body: { error: string | { code: string } } }) => [
  status,
  typeof body.error === 'string' ? body.error : body.error.code,
];
const shell = (...args: string[]) => operate(h.db, h.api.deps.config, args);
const acts = (action: string) =>
  h.db.query<Array<{ actor_name: string; target: string; after: object }>>(
    'SELECT actor_name, target, after FROM audit_log WHERE action = $1 ORDER BY id',
    [action],
  );
const makeCode = async (wanted: object = {}) => (await act('invite-codes', { label: 'Fair', ...wanted })).body.data;
const merchantOf = async (email: string) =>
  (
    await h.db.query<Array<{ id: string; fee_bps: number; approval: string; invite_code_id: string | null }>>(
      `SELECT m.id, m.fee_bps, m.approval, m.invite_code_id
         FROM merchant m JOIN dashboard_user u ON u.merchant_id = m.id
        WHERE u.email = $1`,
      [email],
    )
  )[0];

describe('10: an invitation code', () => {
  it('opens the registration while it is off, as often as it says', async () => {
    await turnOff('registration');
    const { code, ...made } = await makeCode({ mostUses: 2, feeBps: 25 });
    expect(code).toMatch(/^inv_\w{24}$/);
    expect(made).toMatchObject({ state: 'open', uses: 0, createdBy: operator.email, last4: code.slice(-4) });
    const [first, second, third] = [new Person(h), new Person(h), new Person(h)];
    expect(codeOf(await first.register())).toEqual([403, 'REGISTRATION_CLOSED']);
    expect((await first.register({ inviteCode: code })).body).toMatchObject({ requiresVerification: true });
    expect(await merchantOf(first.email)).toMatchObject({ fee_bps: 25, approval: 'approved', invite_code_id: made.id });
    expect((await second.register({ inviteCode: ` ${code} ` })).status).toBe(200);
    expect(codeOf(await third.register({ inviteCode: code }))).toEqual([400, 'INVALID_INVITE_CODE']);
    expect(await merchantOf(third.email)).toBeUndefined();
    expect((await read('invite-codes')).items[0]).toEqual({ ...made, uses: 2, state: 'used' });
    const came = (await read(`registrations?inviteCodeId=${made.id}`)).items;
    expect(came.map(({ email }: { email: string }) => email)).toEqual([second.email, first.email]);
    expect(came[0]).toMatchObject({ state: 'approved', inviteCode: { id: made.id, label: 'Fair' } });
  });

  it('is not shared by two registrations at once', async () => {
    await turnOff('registration');
    const { code } = await makeCode();
    const people = [new Person(h), new Person(h), new Person(h)];
    const answers = await Promise.all(people.map((one) => one.register({ inviteCode: code })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });

  it('does not tell whether an e-mail address is registered: a try is a use', async () => {
    const known = await Person.admin(h);
    const { code, id } = await makeCode();
    const fresh = new Person(h);
    expect((await new Person(h, known.email).register({ inviteCode: code })).body).toEqual({
      requiresVerification: true,
      email: known.email,
    });
    expect(codeOf(await fresh.register({ inviteCode: code }))).toEqual([400, 'INVALID_INVITE_CODE']);
    expect((await read('invite-codes')).items.find((one: { id: string }) => one.id === id).uses).toBe(1);
  });

  it('is refused once it is revoked, has expired, or never was', async () => {
    const revoked = await makeCode();
    expect((await act(`invite-codes/${revoked.id}/revoke`, { reason: 'leaked' })).body.data).toMatchObject({
      state: 'revoked',
      revokedBy: operator.email,
    });
    expect(codeOf(await act(`invite-codes/${revoked.id}/revoke`, { reason: 'x' }))).toEqual([409, 'ACT_REFUSED']);
    expect(codeOf(await act(`invite-codes/${newId()}/revoke`, { reason: 'x' }))).toEqual([
      404,
      'INVITE_CODE_NOT_FOUND',
    ]);
    const old = await makeCode();
    await h.db.query('UPDATE invite_code SET expires_at = now() WHERE id = $1', [old.id]);
    for (const inviteCode of [revoked.code, old.code, old.code.toLowerCase(), `inv_${'x'.repeat(24)}`, "' OR 1=1 --"])
      expect(codeOf(await new Person(h).register({ inviteCode }))).toEqual([400, 'INVALID_INVITE_CODE']);
    const weak = await makeCode();
    expect((await new Person(h).register({ inviteCode: weak.code, password: 'short' })).status).toBe(400);
    expect((await read('invite-codes')).items[0]).toMatchObject({ id: weak.id, uses: 0 });
  });

  it('is shown once, kept as a hash alone, and in the audit log without itself', async () => {
    const { code, id } = await makeCode({ label: '<b>Fair</b>', skipsApproval: true });
    expect((await operator.get(`${at}/invite-codes`)).text).not.toContain(code);
    const rows = JSON.stringify([
      await h.db.query('SELECT * FROM invite_code'),
      await h.db.query('SELECT * FROM audit_log'),
    ]);
    expect(rows).not.toContain(code);
    expect(h.logs.join('\n')).not.toContain(code);
    expect((await acts('invite_code.created')).at(-1)).toMatchObject({
      actor_name: operator.email,
      target: id,
      after: { label: '<b>Fair</b>', skipsApproval: true, feeBps: null, mostUses: 1, validDays: 30 },
    });
    const bare = await operator.post(`${at}/invite-codes`, { label: 'x' });
    expect(codeOf(bare)).toEqual([400, 'VERIFICATION_FAILED']);
    for (const wrong of [{ label: '' }, { mostUses: 0 }, { validDays: 366 }, { feeBps: 0 }, { mostUses: 1.5 }])
      expect(codeOf(await act('invite-codes', { label: 'x', ...wrong }))).toEqual([400, 'VALIDATION_ERROR']);
  });
});

describe('10: a registration that an operator decides about', () => {
  const applies = async (over: object = {}) => {
    const person = new Person(h, newEmail());
    await person.register({ merchantName: 'Kiosk', ...over });
    const code = /\d{6}/.exec(await mailTo(h, person.email))![0];
    const login = () => person.post('/api/v1/auth/login', { email: person.email, password: person.password_ });
    expect((await login()).body).toEqual({ requiresVerification: true, email: person.email });
    await person.post('/api/v1/auth/verify-email', { email: person.email, code });
    return { person, login, id: (await merchantOf(person.email))!.id };
  };

  it('signs nobody in before it is approved, and tells them by mail', async () => {
    await turnOff('unapproved-registration');
    const { person, login, id } = await applies();
    expect((await login()).body.error).toMatch(/waits for the operators/);
    expect((await read('registrations?state=waiting')).items[0]).toMatchObject({
      merchant: { id, name: 'Kiosk' },
      email: person.email,
      isVerified: true,
      inviteCode: null,
    });
    expect(await read(`merchants/${id}`)).toMatchObject({ status: 'suspended', registration: 'waiting' });
    expect((await read('overview')).waitingRegistrations).toBe(1);
    expect(codeOf(await act(`merchants/${id}/activate`, { reason: 'x' }))).toEqual([409, 'ACT_REFUSED']);
    const bare = await operator.post(`${at}/registrations/${id}/approve`, { reason: 'x' });
    expect(codeOf(bare)).toEqual([400, 'VERIFICATION_FAILED']);
    expect((await login()).status).toBe(403);
    const approved = await act(`registrations/${id}/approve`, { reason: 'known shop' });
    expect(approved.body.data).toMatchObject({ merchant: { id }, state: 'approved' });
    expect(await mailTo(h, person.email)).toContain('Your account is open');
    expect((await login()).body).toMatchObject({ requiresTotpSetup: true });
    expect(codeOf(await act(`registrations/${id}/approve`, { reason: 'x' }))).toEqual([409, 'ACT_REFUSED']);
    expect(codeOf(await act(`registrations/${id}/refuse`, { reason: 'x' }))).toEqual([409, 'ACT_REFUSED']);
    expect((await acts('registration.approved')).at(-1)).toMatchObject({
      actor_name: operator.email,
      target: id,
      after: { reason: 'known shop' },
    });
  });

  it('stays out when it is refused, until somebody approves it after all', async () => {
    await turnOff('unapproved-registration');
    const { person, login, id } = await applies();
    await act(`registrations/${id}/refuse`, { reason: 'sanctioned' });
    expect((await login()).body.error).toBe('Account suspended');
    const mail = await mailTo(h, person.email);
    expect(mail).toContain('cannot open an account');
    expect(mail).not.toContain('sanctioned');
    expect(codeOf(await act(`registrations/${id}/refuse`, { reason: 'x' }))).toEqual([409, 'ACT_REFUSED']);
    expect((await read('registrations?state=refused')).items[0]).toMatchObject({ merchant: { id }, state: 'refused' });
    expect((await act(`registrations/${id}/approve`, { reason: 'appeal' })).status).toBe(200);
    expect((await login()).status).toBe(200);
  });

  it('is seen in the list of merchants, which finds who waits', async () => {
    await turnOff('unapproved-registration');
    const [waiting, refused] = [await applies(), await applies()];
    await act(`registrations/${refused.id}/refuse`, { reason: 'x' });
    const states = async (query: string): Promise<Map<string, string>> => {
      const { items } = await read(`merchants?limit=100${query}`);
      return new Map(items.map((one: { id: string; registration: string }) => [one.id, one.registration]));
    };
    const all = await states('');
    expect([all.get(waiting.id), all.get(refused.id)]).toEqual(['waiting', 'refused']);
    expect([...all.values()]).toContain('approved');
    for (const state of ['waiting', 'refused', 'approved'])
      expect(await states(`&registration=${state}`)).toEqual(new Map([...all].filter(([, one]) => one === state)));
    expect([...(await states('&status=active&registration=waiting'))]).toEqual([]);
    expect(codeOf(await operator.get(`${at}/merchants?registration=maybe`))).toEqual([400, 'VALIDATION_ERROR']);
    await act(`registrations/${waiting.id}/approve`, { reason: 'x' });
    expect((await states('')).get(waiting.id)).toBe('approved');
  });

  it('counts at once by a code that says so, and waits by one that does not', async () => {
    await turnOff('unapproved-registration');
    const [open, waits] = [await makeCode({ skipsApproval: true }), await makeCode()];
    const { login } = await applies({ inviteCode: open.code });
    expect((await login()).body).toMatchObject({ requiresTotpSetup: true });
    const other = await applies({ inviteCode: waits.code });
    expect((await other.login()).status).toBe(403);
  });

  it('is none of a merchant that nobody knows, and the list goes page by page', async () => {
    for (const id of [newId()])
      expect(codeOf(await act(`registrations/${id}/approve`, { reason: 'x' }))).toEqual([404, 'MERCHANT_NOT_FOUND']);
    const { id } = await createMerchant(h.db, { secretsKey, name: 'Bare' });
    const { items, nextCursor } = await read('registrations?limit=1');
    expect(items).toMatchObject([{ merchant: { id }, email: null, isVerified: false, state: 'approved' }]);
    expect((await read(`registrations?limit=1&cursor=${nextCursor}`)).items[0].merchant.id).not.toBe(id);
    for (const query of ['state=maybe', 'cursor=x', 'inviteCodeId=1', 'limit=0'])
      expect(codeOf(await operator.get(`${at}/registrations?${query}`))).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('is decided from a shell by the same commands', async () => {
    await turnOff('unapproved-registration');
    const { login, id } = await applies();
    expect(await shell('registrations')).toContain(`${id}  `);
    expect(await shell('refuse', id, 'too', 'new')).toBe('Kiosk is refused');
    expect(await shell('approve', id, 'known', 'now')).toBe('Kiosk is approved');
    expect((await login()).status).toBe(200);
    await turnOff('registration');
    const printed = await shell('invite', '1', '7', 'The', 'fair');
    const [code] = /inv_\w{24}/.exec(printed)!;
    expect((await new Person(h).register({ inviteCode: code })).status).toBe(200);
    const line = (await shell('invites')).split('\n')[0]!;
    expect(line).toContain('The fair  used 1 of 1');
    expect(await shell('revoke-invite', line.slice(0, 24), 'over')).toContain('of The fair is revoked');
    for (const wrong of [['invite', '0', '7', 'x'], ['invite', '1', '7'], ['approve', id], ['revoke-invite']])
      await expect(shell(...wrong)).rejects.toThrow('Usage');
    await expect(shell('approve', newId(), 'x')).rejects.toThrow('Merchant not found');
  });
});
