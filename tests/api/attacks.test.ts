import { createHmac, generateKeyPairSync } from 'node:crypto';
import { request } from 'node:http';
import { SignJWT } from 'jose';
import { signingKeys } from '../../db/sealing';
import { signToken } from '../../api/access/tokens';
import { secretsKey, startHarness, type Answer, type Harness } from './harness';
import { mailTo, newEmail, Person } from './person';

/** What somebody would try. Invariants: 7, Headers, Sessions, Enumeration, Secrets. */

let h: Harness;
let admin: Person;
let claims: { userId: string; sid: string };
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
  admin = await Person.admin(h);
  const [, payload] = admin.cookies.get('svc_access')!.split('.');
  const { sub, sid } = JSON.parse(Buffer.from(payload!, 'base64url').toString()) as { sub: string; sid: string };
  claims = { userId: sub, sid };
});
afterAll(() => h?.stop());

let address = 0;
const elsewhere = (): Record<string, string> => {
  address += 1;
  return { 'X-Forwarded-For': `10.${20 + (address >> 16)}.${(address >> 8) % 256}.${address % 256}` };
};
const me = (token: string): Promise<Answer> => h.call('GET', '/api/v1/auth/me', { key: token, headers: elsewhere() });
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('tokens', () => {
  const body = () => {
    const now = Math.floor(Date.now() / 1000);
    return {
      iss: 'crypto-payments',
      aud: 'access',
      sub: claims.userId,
      sid: claims.sid,
      ver: 1,
      jti: 'x',
      iat: now,
      exp: now + 900,
    };
  };
  const signed = (header: object, payload: object, key: Uint8Array | string): string => {
    const text = `${part(header)}.${part(payload)}`;
    return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
  };

  it('serve while they are what they seem', async () => {
    expect((await me(signed({ alg: 'HS256', typ: 'JWT' }, body(), signingKeys(secretsKey)[0]))).status).toBe(200);
  });

  it.each<[string, () => string | Promise<string>]>([
    ['without a signature', () => `${part({ alg: 'none', typ: 'JWT' })}.${part(body())}.`],
    ['with `none` in capitals', () => `${part({ alg: 'NONE' })}.${part(body())}.`],
    ['with the signature cut off', () => admin.cookies.get('svc_access')!.replace(/\.[^.]*$/, '.')],
    ['with another algorithm of the same family', () => signed({ alg: 'HS512' }, body(), signingKeys(secretsKey)[0])],
    [
      'signed by a key pair',
      async () => {
        const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
        return new SignJWT(body()).setProtectedHeader({ alg: 'RS256' }).sign(privateKey);
      },
    ],
    [
      'that bring their own key',
      () => signed({ alg: 'HS256', jwk: { kty: 'oct', k: 'AAAA' } }, body(), Buffer.from('AAAA', 'base64url')),
    ],
    ['signed with the secret itself', () => signed({ alg: 'HS256' }, body(), Buffer.from(secretsKey, 'hex'))],
    ['signed with an empty key', () => signed({ alg: 'HS256' }, body(), '')],
    ['that are over', () => signed({ alg: 'HS256' }, { ...body(), exp: body().iat - 6 }, signingKeys(secretsKey)[0])],
    ['of another issuer', () => signed({ alg: 'HS256' }, { ...body(), iss: 'else' }, signingKeys(secretsKey)[0])],
    ['without an end', () => signed({ alg: 'HS256' }, { ...body(), exp: undefined }, signingKeys(secretsKey)[0])],
    ['of an older session version', () => signToken(secretsKey, 'access', claims.userId, { sid: claims.sid, ver: 0 })],
    ['of a session that is not', () => signToken(secretsKey, 'access', claims.userId, { sid: 'f'.repeat(24), ver: 1 })],
    ['for a refresh', () => admin.cookies.get('svc_refresh')!],
    ['for the second step', () => signToken(secretsKey, 'totp', claims.userId, { ver: 1 })],
    ['for an enrolment', () => signToken(secretsKey, 'setup', claims.userId, { ver: 1 })],
    ['that are too long', () => `${admin.cookies.get('svc_access')}${'A'.repeat(5000)}`],
  ])('are refused %s', async (_, make) => {
    const answer = await me(await make());
    expect([answer.status, answer.body]).toEqual([401, { error: 'Invalid or expired token' }]);
  });

  it('serve for their own step alone', async () => {
    const access = admin.cookies.get('svc_access')!;
    const attempts: Array<[string, object]> = [
      ['/api/v1/auth/2fa/setup', { setupToken: access }],
      ['/api/v1/auth/2fa/validate', { totpToken: access, code: '123456' }],
      ['/api/v1/auth/2fa/verify-setup', { confirmToken: access, code: '123456' }],
      [
        '/api/v1/auth/2fa/validate',
        { totpToken: await signToken(secretsKey, 'setup', claims.userId, { ver: 1 }), code: '123456' },
      ],
    ];
    for (const [path, fields] of attempts) {
      const answer = await h.call('POST', path, { body: fields, headers: elsewhere() });
      expect([path, answer.status, answer.body]).toEqual([path, 401, { error: 'Invalid or expired token' }]);
    }
    const answer = await h.call('POST', '/api/v1/auth/refresh', {
      headers: { ...elsewhere(), Cookie: `svc_refresh=${access}`, Origin: 'http://localhost:3002' },
    });
    expect(answer.status).toBe(401);
  });

  it('of a cookie do not count beside an Authorization header', async () => {
    const answer = await h.call('GET', '/api/v1/auth/me', {
      key: 'nonsense',
      headers: { Cookie: `svc_access=${admin.cookies.get('svc_access')}` },
    });
    expect(answer.status).toBe(401);
  });
});

describe('writes by cookie', () => {
  const write = (headers: Record<string, string>) =>
    h.call('PATCH', '/api/v1/auth/me', {
      body: { displayName: 'Ann' },
      headers: { ...elsewhere(), Cookie: `svc_access=${admin.cookies.get('svc_access')}`, ...headers },
    });
  const forbidden = [403, { ok: false, error: { code: 'CSRF_ORIGIN_MISMATCH', message: 'Forbidden' } }];

  it.each([
    ['no origin at all', {}],
    ['the origin `null`', { Origin: 'null' }],
    ['an empty origin', { Origin: '' }],
    ['another origin with our referer', { Origin: 'https://evil.example', Referer: 'http://localhost:3002/' }],
    ['another port', { Origin: 'http://localhost:3003' }],
    ['the API, where another host serves the dashboard', { Origin: 'http://localhost:3000' }],
    ['another scheme', { Origin: 'https://localhost:3002' }],
    ['a host that begins like ours', { Origin: 'http://localhost:3002.evil.example' }],
    ['a user that looks like us', { Referer: 'http://localhost:3002@evil.example/' }],
    ['a referer that is none', { Referer: 'nonsense' }],
  ])('need a page of ours: %s', async (_, headers) => {
    const answer = await write(headers as Record<string, string>);
    expect([answer.status, answer.body]).toEqual(forbidden);
  });

  it('come from the dashboard, or by its referer', async () => {
    expect((await write({ Origin: 'http://localhost:3002' })).status).toBe(200);
    expect((await write({ Referer: 'http://localhost:3002/settings?tab=1' })).status).toBe(200);
  });

  it('come from the API where it serves the dashboard', async () => {
    const whole = await startHarness({ DASHBOARD_URL: 'http://localhost:3000/dashboard' });
    try {
      const person = await Person.admin(whole);
      const from = (Origin: string) => person.call('PATCH', '/api/v1/auth/me', { displayName: 'Ann' }, { Origin });
      expect((await from('http://localhost:3000')).status).toBe(200);
      expect((await from('http://localhost:3002')).status).toBe(403);
    } finally {
      await whole.stop();
    }
  });

  it('need none where a bearer writes', async () => {
    const answer = await h.call('PATCH', '/api/v1/auth/me', {
      key: admin.cookies.get('svc_access')!,
      body: { displayName: 'Ann' },
      headers: { ...elsewhere(), Origin: 'https://evil.example' },
    });
    expect(answer.status).toBe(200);
  });
});

describe('headers', () => {
  /** fetch sets Host itself; this does not. */
  const withHost = (host: string, body: object): Promise<number> =>
    new Promise((resolve, reject) => {
      const text = JSON.stringify(body);
      const { hostname, port } = new URL(h.url);
      const call = request(
        {
          hostname,
          port,
          method: 'POST',
          path: '/api/v1/auth/forgot-password',
          headers: { Host: host, 'Content-Type': 'application/json', 'Content-Length': text.length, ...elsewhere() },
        },
        (response) => resolve(response.resume().statusCode!),
      );
      call.on('error', reject).end(text);
    });

  it('do not steer the links in mail', async () => {
    expect(await withHost('evil.example', { email: admin.email })).toBe(400);
    await h.call('POST', '/api/v1/auth/forgot-password', {
      body: { email: admin.email },
      headers: { ...elsewhere(), 'X-Forwarded-Host': 'evil.example', Forwarded: 'host=evil.example' },
    });
    const text = await mailTo(h, admin.email);
    expect(text).toContain('http://localhost:3002/reset-password#');
    expect(text).not.toContain('evil.example');
  });
});

describe('second factors', () => {
  it('lock for the day after fifty wrong guesses, however they are spread', async () => {
    const person = await Person.admin(h);
    await h.db.query(
      `INSERT INTO wrong_factor (user_id, kind, at)
       SELECT id, 'totp', now() - make_interval(hours => 20) + make_interval(mins => n * 20) FROM dashboard_user,
         generate_series(0, 48) n WHERE email = $1`,
      [person.email],
    );
    const attempt = (fields: object) => person.post('/api/v1/auth/backup-codes/regenerate', fields);
    expect((await attempt({ emailCode: '000000' })).status).toBe(401);
    const locked = await attempt({ totpCode: await person.code() });
    expect([locked.status, locked.body.error.code]).toEqual([429, 'VERIFICATION_FAILED']);
    expect(parseInt(locked.headers.get('retry-after')!, 10)).toBeGreaterThan(3600);
  });
});

it('keeps every secret out of logs, outbox and tables', async () => {
  const canary = 'Canary-Horse-9z';
  const person = new Person(h, newEmail(), canary);
  await person.register();
  const code = /\d{6}/.exec(await mailTo(h, person.email))![0];
  await person.post('/api/v1/auth/verify-email', { email: person.email, code });
  const login = await person.post('/api/v1/auth/login', { email: person.email, password: canary });
  await person.enrol(login.body.setupToken);
  const made = await person.post('/api/v1/api-keys', {
    name: 'k',
    scopes: ['payments:read'],
    totpCode: await person.code(),
  });
  const secrets = [canary, person.totpSecret, made.body.data.apiKey, person.cookies.get('svc_refresh')!];
  const tables = await h.db.query<Array<{ name: string }>>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'
       AND table_type = 'BASE TABLE'`,
  );
  const lines = [...h.logs];
  expect(lines.length).toBeGreaterThan(50);
  for (const { name } of tables) lines.push(JSON.stringify(await h.db.query(`SELECT * FROM "${name}"`)));
  for (const secret of secrets) expect(lines.some((line) => line.includes(secret))).toBe(false);
});
