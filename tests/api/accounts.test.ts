import { generate, generateSecret } from 'otplib';
import { clearEnded } from '../../db/access/sessions';
import { stepOfCode } from '../../api/access/totp';
import { atOnce, caught, eventually, startHarness, type Harness } from './harness';
import { mailTo, newEmail, password, Person } from './person';

/** Accounts from registration to departure, over HTTP. Contract: 4.1–4.3, 5, G12, G13. */

let h: Harness;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
});
afterAll(() => h?.stop());

const codeIn = (text: string): string => /\b\d{6}\b/.exec(text)![0];
const answered = (answer: { status: number; body: unknown }) => [answer.status, answer.body];
const refused = (code: string, status: number) => [
  status,
  { ok: false, error: { code, message: expect.any(String) as string } },
];
const invalidToken = [401, { error: 'Invalid or expired token' }];
/** Moves everything that was rated by address or e-mail out of the way. */
const forgetLimits = () => h.db.query('DELETE FROM rate_limit');

describe('registration', () => {
  it('wants the terms accepted, a fit password and an address', async () => {
    const person = new Person(h);
    for (const [over, property] of [
      [{ acceptedTerms: false }, 'acceptedTerms'],
      [{ acceptedTerms: 'true' }, 'acceptedTerms'],
      [{ acceptedTerms: undefined }, 'acceptedTerms'],
      [{ email: 'nobody' }, 'email'],
      [{ email: 'a@b' }, 'email'],
      [{ email: 'a@b.example\nBcc: c@d.example' }, 'email'],
      [{ displayCurrency: 'XXX' }, 'displayCurrency'],
    ] as const) {
      await forgetLimits();
      const answer = await person.register(over);
      expect(answer).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } });
      expect(answer.body.error.message).toContain(property);
    }
    for (const weak of ['Sh0rt!', 'nocapitals1!', 'NOSMALL1!', 'NoDigits!!', 'NoSpecial11']) {
      await forgetLimits();
      const answer = await person.register({ password: weak });
      expect([weak, ...answered(answer)]).toEqual([weak, ...refused('VALIDATION_ERROR', 400)]);
    }
    await forgetLimits();
  });

  it('records the consent with versions, time and address', async () => {
    const person = new Person(h);
    await person.register();
    const rows = await h.db.query(
      'SELECT c.versions, c.ip FROM terms_consent c JOIN dashboard_user u ON u.id = c.user_id WHERE u.email = $1',
      [person.email],
    );
    expect(rows).toEqual([{ versions: { terms: '1', privacy: '1' }, ip: person.ip }]);
  });

  it('answers a registered address as a new one, and mails nothing', async () => {
    const first = new Person(h);
    const answer = await first.register();
    const again = new Person(h, first.email.toUpperCase());
    expect(answered(await again.register())).toEqual(answered(answer));
    expect(await caught(h, first.email)).toHaveLength(1);
  });

  it('keeps an account whose mail could not be sent, and sends another', async () => {
    const person = new Person(h);
    await h.mail.stop();
    const answer = await person.register();
    await h.mail.start();
    expect(answered(answer)).toEqual(refused('VERIFICATION_EMAIL_NOT_SENT', 502));
    expect((await person.post('/api/v1/auth/resend-verification', { email: person.email })).body.success).toBe(true);
    const code = codeIn(await mailTo(h, person.email));
    const verified = await person.post('/api/v1/auth/verify-email', { email: person.email, code });
    expect(answered(verified)).toEqual([200, { success: true, message: 'Email verified' }]);
  });

  it('can be closed for everybody', async () => {
    await h.db.query(`INSERT INTO platform_switch (name, is_on, reason) VALUES ('registration', false, 'Full')`);
    expect(answered(await new Person(h).register())).toEqual(refused('REGISTRATION_CLOSED', 403));
    await h.db.query('DELETE FROM platform_switch');
  });

  it('refuses every wrong verification alike, and a code after five guesses', async () => {
    const person = new Person(h);
    await person.register();
    const code = codeIn((await caught(h, person.email))[0]!.text);
    const refusal = [400, { error: 'Invalid or expired verification code' }];
    const verify = async (body: object) => {
      await forgetLimits();
      return answered(await person.post('/api/v1/auth/verify-email', body));
    };
    expect(await verify({ email: newEmail(), code })).toEqual(refusal);
    for (let guess = 0; guess < 5; guess += 1)
      expect(await verify({ email: person.email, code: code === '111111' ? '222222' : '111111' })).toEqual(refusal);
    expect(await verify({ email: person.email, code })).toEqual(refusal);
    await h.db.query('DELETE FROM wrong_factor');
    await person.post('/api/v1/auth/resend-verification', { email: person.email });
    const fresh = codeIn(await mailTo(h, person.email));
    await h.db.query(`UPDATE email_code SET expires_at = now() WHERE ended_at IS NULL`);
    expect(await verify({ email: person.email, code: fresh })).toEqual(refusal);
  });
});

describe('signing in', () => {
  it('leads from the password over the enrolment to a session', async () => {
    const person = new Person(h);
    await person.register({ merchantName: 'Books & Co', displayCurrency: 'EUR' });
    const login = () => person.post('/api/v1/auth/login', { email: person.email.toUpperCase(), password });
    expect(answered(await login())).toEqual([200, { requiresVerification: true, email: person.email }]);
    const code = codeIn((await caught(h, person.email))[0]!.text);
    await person.post('/api/v1/auth/verify-email', { email: person.email, code });
    const { setupToken, ...rest } = (await login()).body;
    expect(rest).toEqual({ requiresTotpSetup: true });

    const setup = await person.post('/api/v1/auth/2fa/setup', { setupToken });
    expect(setup.body).toMatchObject({ manualKey: expect.stringMatching(/^[A-Z2-7]{32}$/) as string });
    expect(setup.body.qrCode).toMatch(/^data:image\/svg\+xml;base64,/);
    expect(answered(await person.post('/api/v1/auth/2fa/setup', { setupToken }))).toEqual(invalidToken);
    const { confirmToken, manualKey } = setup.body;
    const confirm = (body: object) => person.post('/api/v1/auth/2fa/verify-setup', { confirmToken, ...body });
    expect(answered(await confirm({ code: '12345x' }))).toEqual(refused('VALIDATION_ERROR', 400));
    expect(answered(await confirm({ code: '000000' }))).toEqual([401, { error: 'Invalid code' }]);
    person.totpSecret = manualKey;
    const done = await confirm({ code: await person.code() });
    expect(done.body).toMatchObject({
      email: person.email,
      role: 'merchant_admin',
      merchantName: 'Books & Co',
      emailVerified: true,
      totpEnabled: true,
      hasPasskey: false,
      language: null,
      timeZone: null,
    });
    expect(done.body.backupCodes).toHaveLength(10);
    for (const backup of done.body.backupCodes) expect(backup).toMatch(/^[0-9a-f]{16}$/);
    const cookies = done.headers.getSetCookie();
    expect(cookies[0]).toMatch(/^svc_access=[^;]+; Path=\/; Max-Age=900; HttpOnly; SameSite=Lax; Secure$/);
    expect(cookies[1]).toMatch(
      /^svc_refresh=[^;]+; Path=\/api\/v1\/auth; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/,
    );
    expect((await person.get('/api/v1/auth/me')).body.email).toBe(person.email);
    expect((await person.get('/api/v1/settings')).body.data.displayCurrency).toBe('EUR');

    const second = (await login()).body;
    expect(second).toMatchObject({ requiresTotp: true, methods: ['totp', 'backup'] });
    const validate = (code: string, totpToken = second.totpToken) =>
      person.post('/api/v1/auth/2fa/validate', { totpToken, code });
    expect((await validate(await person.code())).status).toBe(200);
    expect(answered(await validate(await person.code()))).toEqual(invalidToken); // a step's token serves once
    const [backup] = done.body.backupCodes as string[];
    expect((await validate(backup!.toUpperCase(), (await login()).body.totpToken)).status).toBe(200);
    await forgetLimits();
    expect(answered(await validate(backup!, (await login()).body.totpToken))).toEqual([401, { error: 'Invalid code' }]);
  });

  it('says the same of a wrong password, an unknown address and a removed user', async () => {
    const person = await Person.admin(h);
    const login = (email: string, text: string) => person.post('/api/v1/auth/login', { email, password: text });
    expect(answered(await login(person.email, 'Wrong-Horse-7'))).toEqual([401, { error: 'Invalid credentials' }]);
    expect(answered(await login(newEmail(), password))).toEqual([401, { error: 'Invalid credentials' }]);
  });

  it('tells a suspended merchant after the right password alone', async () => {
    const person = await Person.admin(h);
    await h.db.query(
      `UPDATE merchant SET status = 'suspended' WHERE id = (SELECT merchant_id FROM dashboard_user WHERE email = $1)`,
      [person.email],
    );
    const login = (text: string) => person.post('/api/v1/auth/login', { email: person.email, password: text });
    expect(answered(await login('Wrong-Horse-7'))).toEqual([401, { error: 'Invalid credentials' }]);
    expect(answered(await login(password))).toEqual([403, { error: 'Account suspended' }]);
  });

  it('D: wrong passwords by anybody lock only their own address out, never the owner', async () => {
    const person = await Person.admin(h);
    const guess = (by: Person, text = 'Wrong-Horse-7') =>
      by.post('/api/v1/auth/login', { email: person.email, password: text });
    for (let n = 0; n < 30; n += 1) await guess(new Person(h));
    const stranger = new Person(h);
    for (let n = 0; n < 20; n += 1) {
      expect((await guess(stranger)).status).toBe(401);
      await h.db.query(`DELETE FROM rate_limit WHERE key LIKE 'login%'`); // 5 a minute besides
    }
    const locked = await guess(stranger, password);
    expect(answered(locked)).toEqual(refused('RATE_LIMITED', 429));
    expect(parseInt(locked.headers.get('retry-after')!, 10)).toBeGreaterThan(600);
    expect((await guess(person, password)).body).toMatchObject({ requiresTotp: true });
    await forgetLimits();
  });

  it('counts requests by address, which no header changes', async () => {
    const person = new Person(h);
    const login = (headers: Record<string, string>) =>
      person.call('POST', '/api/v1/auth/login', { email: newEmail(), password }, headers);
    const statuses: number[] = [];
    for (let n = 0; n < 7; n += 1)
      statuses.push(
        (await login({ 'X-Forwarded-For': `1.2.3.${n}, 10.200.0.1`, Authorization: `Bearer ${n}` })).status,
      );
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
  });
});

describe('language and time zone', () => {
  it('are kept with the account, for every browser', async () => {
    const person = await Person.admin(h);
    const me = '/api/v1/auth/me';
    const chosen = { language: 'de', timeZone: 'America/Argentina/Buenos_Aires' };
    const before = (await person.get(me)).body;
    const changed = await person.call('PATCH', me, chosen);
    expect([changed.status, changed.body]).toEqual([200, { ...before, ...chosen }]);
    const elsewhere = Object.assign(new Person(h, person.email), { totpSecret: person.totpSecret });
    await h.db.query('UPDATE dashboard_user SET totp_last_step = 0 WHERE email = $1', [person.email]);
    expect((await elsewhere.signIn()).body).toMatchObject(chosen);
    expect((await elsewhere.get(me)).body).toMatchObject({ ...chosen, displayName: 'Ann' });
    expect((await person.call('PATCH', me, { displayName: 'Zoe' })).body).toMatchObject({
      ...chosen,
      displayName: 'Zoe',
    });
    const cleared = await elsewhere.call('PATCH', me, { language: null, timeZone: null });
    expect(cleared.body).toMatchObject({ displayName: 'Zoe', language: null, timeZone: null });
    const acts = await h.db.query('SELECT action FROM audit_log WHERE target = $1 ORDER BY id DESC LIMIT 4', [
      before.id,
    ]);
    expect(acts.map(({ action }: { action: string }) => action)).toEqual([
      'user.preferences_changed',
      'user.renamed',
      'user.signed_in',
      'user.preferences_changed',
    ]);
  });

  it.each([
    [{ language: 'fr' }],
    [{ language: '' }],
    [{ timeZone: 'Mars/Olympus_Mons' }],
    [{ timeZone: '' }],
    [{ timeZone: '+01:00' }],
    [{ timeZone: 'Europe/Berlin ' }],
    [{ timeZone: 'x'.repeat(65) }],
    [{ timeZone: 1 }],
    [{ displayName: ' ', language: 'de' }],
  ])('are refused as %j', async (body) => {
    const person = await (settled ??= Person.admin(h));
    const refusal = await person.call('PATCH', '/api/v1/auth/me', body);
    expect([refusal.status, refusal.body.error?.code ?? refusal.body.error]).toEqual([400, expect.any(String)]);
    expect((await person.get('/api/v1/auth/me')).body).toMatchObject({ language: null, timeZone: null });
  });
  let settled: Promise<Person> | undefined;

  it('leave with the one who chose them', async () => {
    const person = await Person.admin(h);
    const member = await Person.member(person, ['payments:view']);
    const { id } = (await member.call('PATCH', '/api/v1/auth/me', { language: 'de', timeZone: 'UTC' })).body;
    await person.call('DELETE', `/api/v1/team-members/${id}`, { totpCode: await person.code() });
    const [row] = await h.db.query('SELECT language, time_zone FROM dashboard_user WHERE id = $1', [id]);
    expect(row).toEqual({ language: null, time_zone: null });
  });
});

describe('sessions', () => {
  it('go on by refresh tokens that serve once, two tabs included', async () => {
    const person = await Person.admin(h);
    const first = person.cookies.get('svc_refresh')!;
    const refresh = (token: string) =>
      person.call('POST', '/api/v1/auth/refresh', undefined, { Cookie: `svc_refresh=${token}` }, false);
    const tabs = await atOnce(8, () => refresh(first));
    const successors = new Set(tabs.map((answer) => answer.headers.getSetCookie()[1]));
    expect(tabs.map((answer) => answer.status)).toEqual(Array(8).fill(200));
    expect(successors.size).toBe(1);
    expect(new Date(tabs[0]!.body.expiresAt).getTime()).toBeGreaterThan(Date.now() + 800_000);
    const second = /svc_refresh=([^;]+)/.exec([...successors][0]!)![1]!;
    expect((await refresh(second)).status).toBe(200);
    // The first again, too late: somebody else has it.
    await forgetLimits();
    await h.db.query(`UPDATE user_session SET rotated_at = rotated_at - interval '11 seconds'`);
    expect(answered(await refresh(first))).toEqual(invalidToken);
    await forgetLimits();
    expect(answered(await refresh(second))).toEqual(invalidToken);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(answered(await person.get('/api/v1/auth/me'))).toEqual(invalidToken);
  });

  it('are not refreshed by a cookie beside an Authorization header', async () => {
    const person = await Person.admin(h);
    for (const value of ['Bearer x', 'Basic eDp5'])
      expect(answered(await person.post('/api/v1/auth/refresh', {}, { Authorization: value }))).toEqual(invalidToken);
    expect((await person.post('/api/v1/auth/refresh')).status).toBe(200);
  });

  it('begin by tokens that are known as spent for longer than they are taken', async () => {
    await h.db.query(
      `INSERT INTO spent_token (jti, expires_at) VALUES ('just-over', now() - interval '10 seconds'),
         ('long-over', now() - interval '2 minutes')`,
    );
    await clearEnded(h.db);
    expect(await h.db.query(`SELECT jti FROM spent_token WHERE jti LIKE '%-over'`)).toEqual([{ jti: 'just-over' }]);
  });

  it('end at once and everywhere by a logout, for the bearer of the access token too', async () => {
    const person = await Person.admin(h);
    const elsewhere = new Person(h, person.email);
    elsewhere.totpSecret = person.totpSecret;
    await h.db.query('UPDATE dashboard_user SET totp_last_step = 0 WHERE email = $1', [person.email]);
    expect((await elsewhere.signIn()).status).toBe(200);
    const token = elsewhere.cookies.get('svc_access')!;
    const asBearer = () => h.call('GET', '/api/v1/auth/me', { key: token });
    expect((await asBearer()).status).toBe(200);
    const { refresh, access } = {
      refresh: person.cookies.get('svc_refresh')!,
      access: person.cookies.get('svc_access')!,
    };
    const answer = await person.post('/api/v1/auth/logout');
    expect(answered(answer)).toEqual([200, { success: true }]);
    expect(answer.headers.getSetCookie().every((line) => line.includes('Max-Age=0'))).toBe(true);
    expect([...person.cookies.keys()]).toEqual(['svc_device']); // The browser stays known; it signs nobody in.
    expect(answered(await asBearer())).toEqual(invalidToken);
    const replay = (path: string, cookie: string) =>
      person.call('POST', path, undefined, { Cookie: cookie, Origin: 'http://localhost:3002' }, false);
    expect(answered(await replay('/api/v1/auth/refresh', `svc_refresh=${refresh}`))).toEqual(invalidToken);
    // A token that was void does not sign out whoever signs in afterwards.
    expect((await elsewhere.signIn()).status).toBe(200);
    await replay('/api/v1/auth/logout', `svc_access=${access}`);
    expect((await elsewhere.get('/api/v1/auth/me')).status).toBe(200);
  });

  it('are listed and ended one by one', async () => {
    const person = await Person.admin(h);
    const other = new Person(h, person.email);
    other.totpSecret = person.totpSecret;
    await h.db.query('UPDATE dashboard_user SET totp_last_step = 0 WHERE email = $1', [person.email]);
    await other.signIn();
    const { items, total } = (await person.get('/api/v1/auth/sessions')).body;
    expect([items.length, total]).toEqual([2, 2]);
    expect((await person.get('/api/v1/auth/sessions?limit=1')).body).toEqual({ items: [items[0]], total: 2 });
    const foreign = items.find((item: { isCurrent: boolean }) => !item.isCurrent);
    const stranger = await Person.admin(h);
    expect(answered(await stranger.call('DELETE', `/api/v1/auth/sessions/${foreign.id}`))).toEqual(
      refused('SESSION_NOT_FOUND', 404),
    );
    expect((await person.call('DELETE', `/api/v1/auth/sessions/${foreign.id}`)).status).toBe(200);
    expect(answered(await other.get('/api/v1/auth/me'))).toEqual(invalidToken);
    expect((await person.get('/api/v1/auth/me')).status).toBe(200);
  });

  it('end when the password changes, save the one that changed it', async () => {
    const person = await Person.admin(h);
    const before = person.cookies.get('svc_access')!;
    const change = async (body: object) =>
      person.post('/api/v1/auth/change-password', { currentPassword: password, newPassword: 'Newer-Horse-8', ...body });
    expect(answered(await change({ currentPassword: 'Wrong-Horse-7', totpCode: await person.code() }))).toEqual([
      401,
      { error: 'Invalid credentials' },
    ]);
    expect((await change({ newPassword: 'weak', totpCode: '000000' })).body.error.code).toBe('VALIDATION_ERROR');
    expect((await change({ totpCode: await person.code() })).status).toBe(200);
    expect(answered(await h.call('GET', '/api/v1/auth/me', { key: before }))).toEqual(invalidToken);
    expect((await person.get('/api/v1/auth/me')).status).toBe(200);
    expect(await mailTo(h, person.email)).toContain('Your password was changed');
  });

  it('end when a lost password is replaced by a mailed link, which serves once', async () => {
    const person = await Person.admin(h);
    const forgot = (headers = {}) => person.post('/api/v1/auth/forgot-password', { email: person.email }, headers);
    await forgot();
    const old = /token=(\w+)/.exec(await mailTo(h, person.email))![1];
    await forgot({ 'X-Forwarded-Host': 'evil.example' });
    const text = await mailTo(h, person.email);
    expect(text).toContain('http://localhost:3002/reset-password#');
    expect(text).not.toContain('evil');
    const token = /token=(\w+)/.exec(text)![1];
    const reset = async (body: object) => {
      await forgetLimits();
      return person.post('/api/v1/auth/reset-password', {
        email: person.email,
        token,
        newPassword: 'Newer-Horse-8',
        ...body,
      });
    };
    const refusal = [400, { error: 'Invalid or expired reset link' }];
    expect(answered(await reset({ token: old }))).toEqual(refusal);
    expect(answered(await reset({ email: newEmail() }))).toEqual(refusal);
    const access = person.cookies.get('svc_access')!;
    const resets = await atOnce(4, () => reset({}));
    expect(resets.map((answer) => answer.status).sort()).toEqual([200, 400, 400, 400]);
    expect(answered(await h.call('GET', '/api/v1/auth/me', { key: access }))).toEqual(invalidToken);
    await forgetLimits();
    expect(
      (await person.post('/api/v1/auth/login', { email: person.email, password: 'Newer-Horse-8' })).body,
    ).toMatchObject({
      requiresTotp: true,
    });
  });
});

describe('second factors', () => {
  const key = { name: 'k', scopes: ['payments:read'] };

  it('serve once, for one user and one act', async () => {
    const person = await Person.admin(h);
    const create = (fields: object, who = person) => who.post('/api/v1/api-keys', { ...key, ...fields });
    const wrong = refused('VERIFICATION_FAILED', 401);
    // an authenticator's code
    const totpCode = await person.code();
    const made = await atOnce(5, () => create({ totpCode }));
    expect(made.map((answer) => answer.status).sort()).toEqual([201, 401, 401, 401, 401]);
    await h.db.query('DELETE FROM wrong_factor');
    // a mailed code
    await person.post('/api/v1/auth/mfa/send-email-code', { action: 'api_key' });
    const first = codeIn(await mailTo(h, person.email));
    await person.post('/api/v1/auth/mfa/send-email-code', { action: 'team' });
    const forTeam = codeIn(await mailTo(h, person.email));
    if (forTeam !== first) expect(answered(await create({ emailCode: forTeam }))).toEqual(wrong);
    const stranger = await Person.admin(h);
    expect(answered(await create({ emailCode: first }, stranger))).toEqual(wrong);
    expect((await create({ emailCode: first })).status).toBe(201);
    expect(answered(await create({ emailCode: first }))).toEqual(wrong);
    // not at login, and a backup code not here
    expect(answered(await create({ totpCode: 'a'.repeat(16) }))).toEqual(refused('VALIDATION_ERROR', 400));
    expect((await person.get('/api/v1/auth/mfa-options')).body).toEqual({
      ok: true,
      data: { methods: ['email', 'totp'] },
    });
  });

  it('are wrong, and no fault, where the clock of the database has stepped back', async () => {
    const secret = generateSecret({ length: 20 });
    const now = Math.floor(Date.now() / 30_000);
    const code = await generate({ secret, epoch: now * 30 });
    await h.db.transaction(async (tx) => {
      expect(await stepOfCode(tx, secret, code, now + 1000)).toBeNull();
      expect(await stepOfCode(tx, secret, code, 0)).not.toBeNull();
    });
  });

  it('are told where a code could not be sent, and it is void', async () => {
    const person = await Person.admin(h);
    await h.mail.stop();
    const answer = await person.post('/api/v1/auth/mfa/send-email-code', { action: 'api_key' });
    await h.mail.start();
    expect(answered(answer)).toEqual(refused('UPSTREAM_UNAVAILABLE', 503));
    const open = await h.db.query(
      'SELECT FROM email_code c JOIN dashboard_user u ON u.id = c.user_id WHERE u.email = $1 AND c.ended_at IS NULL',
      [person.email],
    );
    expect(open).toEqual([]);
  });

  it('are not spent where the act fails', async () => {
    const person = await Person.admin(h);
    const totpCode = await person.code();
    const remove = (memberId: string, fields: object) =>
      person.call('DELETE', `/api/v1/team-members/${memberId}`, fields);
    expect(answered(await remove('f'.repeat(24), { totpCode }))).toEqual(refused('MEMBER_NOT_FOUND', 404));
    expect((await person.post('/api/v1/api-keys', { ...key, totpCode })).status).toBe(201);
  });

  it('void a mailed code at the fifth wrong guess', async () => {
    const person = await Person.admin(h);
    await person.post('/api/v1/auth/mfa/send-email-code', { action: 'api_key' });
    const code = codeIn(await mailTo(h, person.email));
    const guess = code === '111111' ? '222222' : '111111';
    const statuses: number[] = [];
    for (let n = 0; n < 5; n += 1)
      statuses.push((await person.post('/api/v1/api-keys', { ...key, emailCode: guess })).status);
    expect(statuses).toEqual([401, 401, 401, 401, 429]);
    const message = expect.stringContaining('ask for a new code') as string;
    expect(answered(await person.post('/api/v1/api-keys', { ...key, emailCode: code }))).toEqual([
      429,
      { ok: false, error: { code: 'VERIFICATION_FAILED', message, reason: 'CODE_VOID' } },
    ]);
  });

  it('lock after many wrong guesses, at whichever endpoint, however many at once', async () => {
    const person = await Person.admin(h);
    const guesses = await Promise.all(
      Array.from({ length: 500 }, (_, n) =>
        person
          .call('POST', '/api/v1/api-keys', { ...key, totpCode: String(n).padStart(6, '0') }, {}, false)
          .then((answer) => answer.status),
      ),
    );
    const [row] = await h.db.query<Array<{ wrong: number }>>(
      'SELECT count(*)::int AS wrong FROM wrong_factor w JOIN dashboard_user u ON u.id = w.user_id WHERE u.email = $1',
      [person.email],
    );
    expect(row!.wrong).toBeLessThanOrEqual(10);
    expect(guesses.filter((status) => status === 201)).toHaveLength(0);
    expect(guesses.filter((status) => status === 401).length).toBeLessThanOrEqual(10);
    const right = { totpCode: await generate({ secret: person.totpSecret }) };
    const answer = await person.post('/api/v1/auth/backup-codes/regenerate', right);
    expect(answered(answer)).toEqual(refused('VERIFICATION_FAILED', 429));
    expect(parseInt(answer.headers.get('retry-after')!, 10)).toBeGreaterThan(0);
    // The second step of a login is behind the same lock.
    const login = await person.post('/api/v1/auth/login', { email: person.email, password });
    const step = await person.post('/api/v1/auth/2fa/validate', {
      totpToken: login.body.totpToken,
      code: right.totpCode,
    });
    expect(answered(step)).toEqual(refused('VERIFICATION_FAILED', 429));
  });

  it('say what is missing', async () => {
    const person = await Person.admin(h);
    await h.db.query('UPDATE dashboard_user SET totp_secret_sealed = NULL WHERE email = $1', [person.email]);
    expect(answered(await person.post('/api/v1/api-keys', { ...key, totpCode: '123456' }))).toEqual(
      refused('TOTP_MISCONFIGURED', 403),
    );
    await h.db.query('UPDATE dashboard_user SET totp_enabled_at = NULL WHERE email = $1', [person.email]);
    expect(answered(await person.post('/api/v1/api-keys', { ...key, totpCode: '123456' }))).toEqual(
      refused('VERIFICATION_FAILED', 403),
    );
  });

  it('replace backup codes', async () => {
    const person = await Person.admin(h);
    const answer = await person.post('/api/v1/auth/backup-codes/regenerate', { totpCode: await person.code() });
    expect(new Set(answer.body.backupCodes).size).toBe(10);
  });
});

describe('keys', () => {
  it('are shown once, listed, narrowed and revoked', async () => {
    const person = await Person.admin(h);
    const make = async (over: object) =>
      person.post('/api/v1/api-keys', {
        name: 'Shop',
        scopes: ['payments:read', 'ledger:read'],
        totpCode: await person.code(),
        ...over,
      });
    const made = (await make({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() })).body.data;
    expect(made.apiKey).toMatch(/^svc_live_[0-9A-Za-z]{32}$/);
    expect(made.apiKey.endsWith(made.last4)).toBe(true);
    const use = () => h.call('GET', '/api/v1/payments', { key: made.apiKey });
    expect((await use()).status).toBe(200);
    const read = async () => (await person.get('/api/v1/api-keys')).body.data.items[0];
    await eventually(async () => (await read()).lastUsedIp !== null);
    const listed = await read();
    expect(JSON.stringify(listed)).not.toContain(made.apiKey);
    expect(listed).toMatchObject({ id: made.id, lastUsedIp: '127.0.0.1', revokedAt: null });
    const patch = (body: object, id = made.id) => person.call('PATCH', `/api/v1/api-keys/${id}`, body);
    expect((await patch({ scopes: ['payments:read', 'events:read'] })).body.error.code).toBe('VALIDATION_ERROR');
    expect((await patch({ expiresAt: '2099-01-01T00:00:00Z' })).body.error.code).toBe('VALIDATION_ERROR');
    expect((await patch({ name: 'Till', scopes: ['ledger:read'] })).body.data).toMatchObject({
      name: 'Till',
      scopes: ['ledger:read'],
    });
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(answered(await use())).toEqual([403, { error: 'Insufficient scope', requiredScope: 'payments:read' }]);
    const stranger = await Person.admin(h);
    expect(answered(await stranger.call('DELETE', `/api/v1/api-keys/${made.id}`))).toEqual(
      refused('API_KEY_NOT_FOUND', 404),
    );
    expect((await person.call('DELETE', `/api/v1/api-keys/${made.id}`)).body.data.revokedAt).not.toBeNull();
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(answered(await use())).toEqual([401, { error: 'Invalid API key' }]);

    for (const bad of [
      { allowedIps: ['nonsense'] },
      { allowedIps: ['10'] },
      { allowedIps: ['0x7f.1'] },
      { allowedIps: ['0.0.0.0/0'] },
      { expiresAt: '2001-01-01' },
      { scopes: [] },
      { scopes: ['root'] },
      { name: ' ' },
      { limits: { dailyUsd: '-1' } },
      { limits: { dailyUsd: '1e9' } },
    ])
      expect((await make(bad)).body.error.code).toBe('VALIDATION_ERROR');
    const limited = (await make({ limits: { dailyUsd: '250.50' } })).body.data;
    expect(limited.limits).toEqual({ dailyUsd: '250.5' });
    expect([listed.limits, made.limits]).toEqual([{}, {}]);
    const bound = (await make({ allowedIps: ['10.0.0.0/8', '2001:db8::/32'] })).body.data.apiKey;
    expect(answered(await h.call('GET', '/api/v1/payments', { key: bound }))).toEqual([
      403,
      { error: 'IP address not allowed' },
    ]);
    const inside = { 'X-Forwarded-For': '10.1.2.3' };
    expect((await h.call('GET', '/api/v1/payments', { key: bound, headers: inside })).status).toBe(200);
    await forgetLimits();
    const mapped = (await make({ allowedIps: ['::ffff:10.1.2.9/120', '10.1.2.0/24'] })).body.data;
    expect(mapped.allowedIps).toEqual(['10.1.2.0/24']);
    expect((await h.call('GET', '/api/v1/payments', { key: mapped.apiKey, headers: inside })).status).toBe(200);
    await h.db.query(`UPDATE api_key SET allowed_ips = '{10.1.2.9/24,2001:DB8::1}' WHERE id = $1`, [mapped.id]);
    expect((await patch({ allowedIps: ['10.1.2.0/24'] }, mapped.id)).body.data.allowedIps).toEqual(['10.1.2.0/24']);
    expect((await patch({ allowedIps: ['10.1.3.0/24'] }, mapped.id)).body.error.code).toBe('VALIDATION_ERROR');
  });

  it('have a publishable one that is rotated with an overlap', async () => {
    const person = await Person.admin(h);
    const read = async () => (await person.get('/api/v1/api-keys/publishable')).body;
    const before = await read();
    expect(before).toEqual({ publishableKey: expect.stringMatching(/^pk_live_\w{32}$/) as string });
    const rotated = (await person.post('/api/v1/api-keys/publishable/rotate', { totpCode: await person.code() })).body;
    expect(new Date(rotated.previousValidUntil).getTime()).toBeGreaterThan(Date.now() + 86_000_000);
    expect(await read()).toEqual({ publishableKey: rotated.publishableKey });
    expect(rotated.publishableKey).not.toBe(before.publishableKey);
  });
});

describe('teams', () => {
  it('grow by invitation, with no more than the inviter has', async () => {
    const admin = await Person.admin(h);
    const member = await Person.member(admin, ['payments:view', 'team:manage']);
    expect((await member.get('/api/v1/auth/me')).body).toMatchObject({
      role: 'merchant_member',
      permissions: ['payments:view', 'team:manage'],
      merchantName: 'Shop',
    });
    expect((await member.get('/api/v1/payments')).status).toBe(200);
    expect((await member.get('/api/v1/settings')).status).toBe(403);
    const invite = async (permissions: string[], email = newEmail()) =>
      member.post('/api/v1/team-invitations', {
        email,
        role: 'merchant_member',
        permissions,
        totpCode: await member.code(),
      });
    expect(answered(await invite(['wallets:manage']))).toEqual(refused('GRANT_REFUSED', 403));
    expect(answered(await invite(['payments:manage']))).toEqual(refused('GRANT_REFUSED', 403));
    expect((await invite(['team:view'])).status).toBe(201);
    expect(answered(await invite([], admin.email))).toEqual(refused('ALREADY_MEMBER', 409));

    const { items: members, total } = (await admin.get('/api/v1/team-members')).body.data;
    expect(total).toBe(2);
    const second = (await admin.get('/api/v1/team-members?page=2&limit=1')).body.data;
    expect(second).toEqual({ items: [members[1]], total: 2 });
    expect(members).toHaveLength(2);
    const [adminId, memberId] = members.map((one: { id: string }) => one.id);
    const change = async (who: Person, id: string, body: object) =>
      who.call('PATCH', `/api/v1/team-members/${id}`, { ...body, totpCode: await who.code() });
    expect(answered(await change(member, memberId, { permissions: ['wallets:manage'] }))).toEqual(
      refused('GRANT_REFUSED', 403),
    );
    expect(answered(await change(member, adminId, { isActive: false }))).toEqual(refused('LAST_ADMIN', 409));
    expect(answered(await change(admin, adminId, { isActive: false }))).toEqual(refused('LAST_ADMIN', 409));
    const stranger = await Person.admin(h);
    expect(answered(await change(stranger, memberId, { isActive: false }))).toEqual(refused('MEMBER_NOT_FOUND', 404));

    expect((await change(admin, memberId, { permissions: ['settings:view'] })).status).toBe(200);
    expect(answered(await member.get('/api/v1/auth/me'))).toEqual(invalidToken);
    await forgetLimits();
    expect((await member.signIn()).body.permissions).toEqual(['settings:view']);
    const remove = async (id: string) =>
      admin.call('DELETE', `/api/v1/team-members/${id}`, { totpCode: await admin.code() });
    expect(answered(await remove(adminId))).toEqual(refused('LAST_ADMIN', 409));
    expect(answered(await remove(memberId))).toEqual([
      200,
      { ok: true, data: { id: memberId, removed: true, activeKeys: [] } },
    ]);
    expect(answered(await member.get('/api/v1/auth/me'))).toEqual(invalidToken);
    await forgetLimits();
    expect((await member.post('/api/v1/auth/login', { email: member.email, password })).status).toBe(401);
  });

  it('keep an admin when two remove each other', async () => {
    const first = await Person.admin(h);
    const second = await Person.member(first, []);
    await h.db.query(`UPDATE dashboard_user SET role = 'merchant_admin' WHERE email = $1`, [second.email]);
    const [one, two] = (await first.get('/api/v1/team-members')).body.data.items.map((row: { id: string }) => row.id);
    h.api.deps.sessions.forget();
    const codes = [await first.code(), await second.code()];
    const answers = await Promise.all([
      first.call('DELETE', `/api/v1/team-members/${two}`, { totpCode: codes[0] }),
      second.call('DELETE', `/api/v1/team-members/${one}`, { totpCode: codes[1] }),
    ]);
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
  });

  it('withdraw, renew and use up invitations', async () => {
    const admin = await Person.admin(h);
    const email = newEmail();
    const invite = async () =>
      (
        await admin.post('/api/v1/team-invitations', {
          email,
          role: 'merchant_member',
          permissions: ['payments:view'],
          totpCode: await admin.code(),
        })
      ).body.data;
    const tokenOf = async () => /token=(\w{64})/.exec(await mailTo(h, email))![1]!;
    const guest = new Person(h, email);
    const lookup = (token: string) => guest.post('/api/v1/team-invitations/lookup', { token });
    const accept = (token: string) =>
      guest.post('/api/v1/team-invitations/accept', { token, password, displayName: 'Guest' });
    const refusal = refused('INVALID_INVITATION', 400);

    const made = await invite();
    const first = await tokenOf();
    expect((await lookup(first)).body.data).toMatchObject({
      merchantName: 'Shop',
      email,
      invitedBy: 'Ann',
      permissions: ['payments:view'],
      existingUser: false,
    });
    expect((await admin.post(`/api/v1/team-invitations/${made.id}/resend`)).status).toBe(200);
    const second = await tokenOf();
    expect(answered(await lookup(first))).toEqual(refusal);
    expect((await lookup(second)).status).toBe(200);
    const stranger = await Person.admin(h);
    expect(answered(await stranger.call('DELETE', `/api/v1/team-invitations/${made.id}`))).toEqual(
      refused('INVITATION_NOT_FOUND', 404),
    );
    expect((await admin.call('DELETE', `/api/v1/team-invitations/${made.id}`)).body.data.status).toBe('revoked');
    expect(answered(await accept(second))).toEqual(refusal);
    await invite();
    const third = await tokenOf();
    await h.db.query('UPDATE team_invitation SET expires_at = now() WHERE status = $1', ['pending']);
    expect(answered(await lookup(third))).toEqual(refusal);
    await admin.post(
      `/api/v1/team-invitations/${(await admin.get('/api/v1/team-invitations')).body.data.items[0].id}/resend`,
    );
    const fourth = await tokenOf();
    const accepted = await atOnce(5, () => accept(fourth));
    expect(accepted.map((answer) => answer.status).sort()).toEqual([200, 400, 400, 400, 400]);
    expect(answered(await lookup(fourth))).toEqual(refusal);
    expect(answered(await lookup('x'.repeat(64)))).toEqual(refusal);
  });
});

it('writes down every act: who, what, when, from where, before and after', async () => {
  // The order is of numbers, not of digits.
  await h.db.query(`SELECT setval(pg_get_serial_sequence('audit_log', 'id'), 9997)`);
  const admin = await Person.admin(h);
  await admin.call('PATCH', '/api/v1/settings', { feeBearer: 'customer', underpaymentTolerancePct: 0.25 });
  expect((await admin.get('/api/v1/settings')).body.data).toMatchObject({
    feeBearer: 'customer',
    underpaymentTolerancePct: 0.25,
  });
  for (const bad of [
    { underpaymentTolerancePct: 51 },
    { feeBearer: 'nobody' },
    { callbackDomains: ['http://x'] },
    { defaultExpiresIn: 59 },
  ])
    expect((await admin.call('PATCH', '/api/v1/settings', bad)).body.error.code).toBe('VALIDATION_ERROR');
  const secret = (await admin.post('/api/v1/settings/ipn-secret/rotate', { totpCode: await admin.code() })).body.data;
  expect(secret.secret).toMatch(/^whsec_/);
  expect((Date.parse(secret.previousValidUntil) - Date.now()) / 3_600_000).toBeCloseTo(24, 1);
  const { items } = (await admin.get('/api/v1/audit-log')).body.data;
  expect(items.map((item: { action: string }) => item.action)).toEqual([
    'ipn_secret.rotated',
    'settings.changed',
    'user.signed_in',
    'user.totp_enrolled',
    'user.verified',
    'user.registered',
  ]);
  expect(items[1]).toMatchObject({
    actor: { kind: 'user', name: admin.email },
    before: { feeBearer: 'merchant', underpaymentTolerancePct: '1.00' },
    after: { feeBearer: 'customer', underpaymentTolerancePct: '0.25' },
    ip: admin.ip,
  });
  const page = (await admin.get('/api/v1/audit-log?limit=2')).body.data;
  expect([page.items.length, page.hasMore]).toEqual([2, true]);
  const rest = (await admin.get(`/api/v1/audit-log?cursor=${page.nextCursor}&actor=${admin.email}`)).body.data;
  expect([...page.items, ...rest.items]).toEqual(items);
  expect([rest.hasMore, rest.nextCursor]).toEqual([false, null]);
  expect((await admin.get('/api/v1/audit-log?action=settings.changed')).body.data.items).toHaveLength(1);
  expect((await admin.get('/api/v1/audit-log?dateFrom=tomorrow')).status).toBe(400);
  await expect(h.db.query('DELETE FROM audit_log')).rejects.toThrow('append-only');
  expect(JSON.stringify(await h.db.query('SELECT * FROM audit_log'))).not.toContain(secret.secret);
});

it('adds wallets by a factor, and tells all admins', async () => {
  const admin = await Person.admin(h);
  const add = async (body: object) =>
    admin.post('/api/v1/merchant-wallets', { currency: 'BTC', totpCode: await admin.code(), ...body });
  expect((await admin.post('/api/v1/merchant-wallets/send-email-code')).body.data.sent).toBe(true);
  const emailCode = codeIn(await mailTo(h, admin.email));
  const made = await admin.post('/api/v1/merchant-wallets', { currency: 'btc', emailCode });
  expect(made.body.data).toMatchObject({ currency: 'BTC', custody: 'platform', isActive: true });
  expect(await mailTo(h, admin.email)).toContain(made.body.data.settlementAddress);
  expect(answered(await add({}))).toEqual(refused('WALLET_EXISTS', 409));
  expect(answered(await add({ currency: 'DOGE' }))).toEqual(refused('CURRENCY_NOT_AVAILABLE', 400));
  const external = { currency: 'ETH', settlementAddress: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8' };
  expect(answered(await add({ ...external, settlementAddress: 'nonsense' }))).toEqual(refused('INVALID_ADDRESS', 400));
  expect((await add(external)).body.data).toMatchObject({
    custody: 'external',
    settlementAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  });
  const [ours] = await h.db.query<Array<{ address: string }>>(
    `SELECT address FROM address WHERE network = 'bitcoin' LIMIT 1`,
  );
  const stranger = await Person.admin(h);
  const round = await stranger.post('/api/v1/merchant-wallets', {
    currency: 'BTC',
    settlementAddress: ours!.address,
    totpCode: await stranger.code(),
  });
  expect(answered(round)).toEqual(refused('INVALID_ADDRESS', 400));
});
