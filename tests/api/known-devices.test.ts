import { eventually, startHarness, type Answer, type Harness } from './harness';
import { mailTo, newEmail, password, Person } from './person';

let h: Harness;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
});
afterAll(() => h?.stop());
afterEach(() => forgetRequests('%'));

/** The contract's own limit of requests per address is not what is looked at here. */
const forgetRequests = (of: string): Promise<unknown> => h.db.query('DELETE FROM rate_limit WHERE key LIKE $1', [of]);

const login = (by: Person, email: string, text = 'Wrong-Horse-7'): Promise<Answer> =>
  by.post('/api/v1/auth/login', { email, password: text });

/** Guesses from `count` network addresses, many at a time; how many were looked at. */
async function attack(email: string, count: number, cookie?: string): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {};
  const guesser = new Person(h);
  for (let at = 0; at < count; at += 50)
    await Promise.all(
      Array.from({ length: Math.min(50, count - at) }, async (_, n) => {
        const { status } = await guesser.call(
          'POST',
          '/api/v1/auth/login',
          { email, password: `Wrong-Horse-${at + n}` },
          {
            'X-Forwarded-For': `10.${100 + Math.floor((at + n) / 250)}.1.${(at + n) % 250}`,
            ...(cookie ? { Cookie: cookie } : {}),
          },
          false,
        );
        statuses[status] = (statuses[status] ?? 0) + 1;
      }),
    );
  return statuses;
}

/** Strangers have used up so many of their guesses. */
async function exhaust(email: string, guesses = 100): Promise<void> {
  await attack(email, 1);
  await h.db.query(`UPDATE rate_limit SET points = $1 WHERE key LIKE 'password.strangers%' AND points > 0`, [guesses]);
}

const deviceLine = (answer: Answer): string | undefined =>
  answer.headers.getSetCookie().find((line) => line.startsWith('svc_device='));

describe('D: wrong passwords by anybody never stop the owner', () => {
  it('a thousand addresses get few guesses, and the browser of the owner still signs in', async () => {
    const owner = await Person.admin(h);
    const stranger = new Person(h);
    expect(await attack(owner.email, 1000)).toEqual({ 401: 100, 429: 900 });

    expect((await login(stranger, owner.email, password)).status).toBe(429);
    expect((await owner.post('/api/v1/auth/logout')).status).toBe(200);
    expect((await owner.signIn()).status).toBe(200);
    expect((await owner.get('/api/v1/auth/me')).status).toBe(200);
    // The owner's login gave strangers no guess back.
    expect(await attack(owner.email, 10)).toEqual({ 429: 10 });
  });

  it('guesses at an address that is not known are counted alike', async () => {
    const email = newEmail();
    await exhaust(email, 90);
    expect(await attack(email, 20)).toEqual({ 401: 10, 429: 10 });
  });

  it('an owner who signs in elsewhere gives strangers no more guesses', async () => {
    const owner = await Person.admin(h);
    await exhaust(owner.email, 60);
    for (let n = 0; n < 10; n += 1) expect((await login(new Person(h), owner.email, password)).status).toBe(200);
    expect(await attack(owner.email, 50)).toEqual({ 401: 40, 429: 10 });
  });

  it('a known browser has a count of its own, which is as small as that of an address', async () => {
    const owner = await Person.admin(h);
    for (let n = 0; n < 20; n += 1) {
      expect((await login(owner, owner.email)).status).toBe(401);
      await forgetRequests('login%');
    }
    expect((await login(owner, owner.email, password)).status).toBe(429);
    expect((await login(new Person(h), owner.email, password)).status).toBe(200);
    // It follows the browser and not its address.
    const { cookies } = owner;
    const elsewhere = Object.assign(new Person(h), { cookies });
    expect((await login(elsewhere, owner.email, password)).status).toBe(429);
  });

  it('a cookie that was made up, or that is known to another user, opens no count', async () => {
    const [owner, other] = [await Person.admin(h), await Person.admin(h)];
    await exhaust(owner.email);
    for (const value of ['', 'x', 'A'.repeat(43), other.cookies.get('svc_device')!])
      expect(await attack(owner.email, 3, `svc_device=${value}`)).toEqual({ 429: 3 });
  });

  it('is of no use after its time', async () => {
    const owner = await Person.admin(h);
    await exhaust(owner.email);
    await h.db.query(`UPDATE known_device SET expires_at = now() - interval '1 second'`);
    expect((await login(owner, owner.email, password)).status).toBe(429);
  });

  it('the owner without a known browser gets in by a mailed link', async () => {
    const owner = await Person.admin(h);
    await exhaust(owner.email);
    const fresh = Object.assign(new Person(h, owner.email), { totpSecret: owner.totpSecret });
    expect((await login(fresh, owner.email, password)).status).toBe(429);
    await fresh.post('/api/v1/auth/forgot-password', { email: owner.email });
    await eventually(async () => /token=/.test(await mailTo(h, owner.email)));
    const token = /token=([\w%-]+)/.exec(await mailTo(h, owner.email))![1]!;
    const reset = await fresh.post('/api/v1/auth/reset-password', {
      email: owner.email,
      token: decodeURIComponent(token),
      newPassword: 'Better-Horse-8',
    });
    expect([reset.status, deviceLine(reset) !== undefined]).toEqual([200, true]);
    fresh.password_ = 'Better-Horse-8';
    // The authenticator is the owner's: a code of this half minute has been used.
    await h.db.query('UPDATE dashboard_user SET totp_last_step = 0 WHERE email = $1', [owner.email]);
    expect((await fresh.signIn()).status).toBe(200);
  });
});

describe('D: the cookie of a known browser', () => {
  it('comes with a complete login alone, HttpOnly, Strict and for sign-in alone', async () => {
    const person = await Person.admin(h);
    const half = await login(new Person(h), person.email, password);
    expect([half.status, deviceLine(half)]).toEqual([200, undefined]);
    const whole = await person.signIn();
    expect(deviceLine(whole)).toMatch(
      /^svc_device=[\w-]{43}; Path=\/api\/v1\/auth; Max-Age=15552000; HttpOnly; SameSite=Strict; Secure$/,
    );
  });

  it('is new at each login, is stored as a keyed hash, and stays after a logout', async () => {
    const person = await Person.admin(h);
    const first = person.cookies.get('svc_device')!;
    await person.signIn();
    const second = person.cookies.get('svc_device')!;
    expect(second).not.toBe(first);
    const stored = JSON.stringify(await h.db.query('SELECT * FROM known_device'));
    for (const token of [first, second]) expect(stored).not.toContain(token);
    await person.post('/api/v1/auth/logout');
    expect(person.cookies.has('svc_access')).toBe(false);
    expect(person.cookies.get('svc_device')).toBe(second);
  });

  it('that somebody put into a browser becomes known to nobody', async () => {
    const [owner, thief] = [await Person.admin(h), await Person.admin(h)];
    const planted = thief.cookies.get('svc_device')!;
    owner.cookies.set('svc_device', planted);
    await owner.signIn();
    await exhaust(owner.email);
    expect(await attack(owner.email, 3, `svc_device=${planted}`)).toEqual({ 429: 3 });
  });

  it('stands for every user of a browser, and the newest ten browsers of a user', async () => {
    const [first, second] = [await Person.admin(h), await Person.admin(h)];
    second.cookies.set('svc_device', first.cookies.get('svc_device')!);
    await second.signIn();
    first.cookies.set('svc_device', second.cookies.get('svc_device')!);
    await exhaust(first.email);
    expect((await login(first, first.email, password)).status).toBe(200);
    for (let n = 0; n < 12; n += 1) {
      second.cookies.delete('svc_device');
      expect((await second.signIn()).status).toBe(200);
      await forgetRequests('%');
    }
    const [{ count }] = await h.db.query<[{ count: string }]>(
      'SELECT count(*) FROM known_device d JOIN dashboard_user u ON u.id = d.user_id WHERE u.email = $1',
      [second.email],
    );
    expect(count).toBe('10');
  });
});
