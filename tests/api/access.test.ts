import { access, type Access, type RouteName } from '../../domain/access/access-table';
import { holds, isPermission, isScope, mayCall, opening, permissions, scopes } from '../../domain/access/access';
import { errorTable } from '../../domain/errors';
import type { Route } from '../../api/http/route';
import { routes } from '../../api/routes';
import { startHarness, type Harness, type Shop } from './harness';
import { Person } from './person';

/** Every route, those of test instances too, tried with every kind of credential, against
 *  domain/access/access-table.ts. Contract: 5.3, 7.2. */

let h: Harness;
let shop: Shop;
let admin: Person;
let stranger: Person;
let suspended: { key: string; person: Person };
let superAdmin: Person;

beforeAll(async () => {
  h = await startHarness({ MODE: 'test', PROXY_COUNT: '1' });
  admin = await Person.admin(h);
  stranger = await Person.member(admin, []);
  shop = await h.shop();
  const closed = await Person.admin(h);
  const [row] = await h.db.query<Array<{ merchant_id: string }>>(
    'SELECT merchant_id FROM dashboard_user WHERE email = $1',
    [closed.email],
  );
  const made = await closed.post('/api/v1/api-keys', {
    name: 'k',
    scopes: [...scopes],
    totpCode: await closed.code(),
  });
  suspended = { key: made.body.data.apiKey, person: closed };
  superAdmin = await Person.superAdmin(h);
  await h.db.query(`UPDATE merchant SET status = 'suspended' WHERE id = $1`, [row!.merchant_id]);
  h.api.deps.sessions.forget();
});
afterAll(() => h?.stop());

const concrete = (path: string): string => path.replaceAll(/\{\w+\}/g, 'f'.repeat(24));
const addresses = (function* () {
  for (let n = 0; ; n += 1) yield `10.9.${(n >> 8) % 256}.${n % 256}`;
})();

/** One call of a route that no limit and no schema stands in the way of: what a guard says comes first. */
function attempt(route: Route, headers: Record<string, string> = {}) {
  return h.call(route.method.toUpperCase(), concrete(route.path), {
    ...(route.method === 'get' ? {} : { body: {} }),
    headers: { 'X-Forwarded-For': addresses.next().value!, Origin: 'http://localhost:3002', ...headers },
  });
}
const withKey = (key: string) => ({ Authorization: `Bearer ${key}` });
const withSession = (person: Person) => ({ Authorization: `Bearer ${person.cookies.get('svc_access')}` });
const answered = (answer: { status: number; body: unknown }) => [answer.status, answer.body];

const unauthorised = [401, { error: 'Invalid or expired token' }];
const isGuards = (status: number): boolean => status === 401 || status === 403;
const streams = (route: Route): boolean => route.name === 'streamInvoice';

describe('the table', () => {
  it('has a row for every route, and no other', () => {
    expect(routes.map((route) => route.name).sort()).toEqual(Object.keys(access).sort());
    for (const route of routes) expect(route.may).toBeDefined();
  });

  it('says exactly one thing of each path', () => {
    const paths = routes.map((route) => `${route.method} ${route.path}`);
    expect(new Set(paths).size).toBe(paths.length);
  });

  it('names only rights that there are', () => {
    for (const { may } of Object.values<Access>(access)) {
      if (typeof may !== 'object') continue;
      expect(opening(may).every(isPermission)).toBe(true);
      if (may.key !== null) expect(isScope(may.key)).toBe(true);
    }
  });

  it('has a use for every permission that can be given', () => {
    for (const permission of permissions) {
      const member = { role: 'merchant_member' as const, permissions: [permission] };
      const opens = Object.values<Access>(access).filter(({ may }) => typeof may === 'object' && mayCall(member, may));
      expect([permission, opens.length > 0]).toEqual([permission, true]);
    }
  });

  it('asks for a factor where money or access changes hands, and the body can bring one', () => {
    for (const route of routes.filter((one) => one.factor))
      expect(Object.keys(route.body!.properties)).toEqual(
        expect.arrayContaining(
          route.name === 'executeConversion'
            ? ['otpCode', 'passkeyResponse', 'challengeKey']
            : ['emailCode', 'totpCode', 'challengeKey'],
        ),
      );
  });

  it('lets nothing but a session change keys, people, wallets or the platform', () => {
    for (const route of routes.filter((one) =>
      /api-keys|team-m|merchant-wallets|whitelist|platform|settings/.test(one.path),
    ))
      if (route.method !== 'get') expect(typeof route.may === 'object' ? route.may.key : null).toBeNull();
  });
});

it('lets `manage` include `view`, and nothing else', () => {
  for (const permission of permissions) {
    const member = { role: 'merchant_member' as const, permissions: [permission] };
    for (const wanted of permissions)
      expect(holds(member, wanted)).toBe(wanted === permission || wanted.replace(/:view$/, ':manage') === permission);
  }
});

describe.each(routes.map((route) => [route.name, route] as const))('%s', (_name, route) => {
  const { may } = route;
  const takesKey = typeof may === 'object' && may.key !== null;

  if (may === 'public') {
    it('is open to everybody', async () => {
      const answer = await attempt(route);
      if (route.name === 'refreshSession') return expect(answered(answer)).toEqual(unauthorised);
      expect(isGuards(answer.status) && answer.body?.error === 'Invalid or expired token').toBe(
        /2fa\/setup$/.test(route.path) && answer.status === 401,
      );
    });
    if (!streams(route))
      it('does not care for a credential', async () => {
        const [bare, foreign] = [await attempt(route), await attempt(route, withKey('svc_test_nonsense'))];
        expect(foreign.status).toBe(bare.status);
      });
    return;
  }

  if (may === 'publishable') {
    it('takes a publishable key, and no other credential', async () => {
      const refusal = [401, expect.objectContaining({ ok: false })];
      for (const headers of [{}, withKey(shop.key), withSession(admin), withKey('pk_test_nonsense')])
        expect(answered(await attempt(route, headers))).toEqual(refusal);
      const [row] = await h.db.query<Array<{ publishable_key: string }>>(
        'SELECT publishable_key FROM merchant LIMIT 1',
      );
      expect(isGuards((await attempt(route, withKey(row!.publishable_key))).status)).toBe(false);
    });
    return;
  }

  it('refuses whoever brings nothing', async () => expect(answered(await attempt(route))).toEqual(unauthorised));

  it('refuses a token that is none, or of another kind', async () => {
    expect(answered(await attempt(route, { Authorization: 'Bearer nonsense' }))).toEqual(unauthorised);
    expect(answered(await attempt(route, { Authorization: 'Basic YTpi' }))).toEqual(unauthorised);
    expect(answered(await attempt(route, { Cookie: 'svc_access=nonsense' }))).toEqual(unauthorised);
    const publishable = await h.db.query<Array<{ publishable_key: string }>>(
      'SELECT publishable_key FROM merchant LIMIT 1',
    );
    const wanted = takesKey ? [401, { error: 'Invalid API key' }] : unauthorised;
    expect(answered(await attempt(route, withKey(publishable[0]!.publishable_key)))).toEqual(wanted);
    expect(answered(await attempt(route, withKey(`svc_test_${'x'.repeat(32)}`)))).toEqual(wanted);
  });

  if (takesKey) {
    it('lets in the key with the scope, and no other', async () => {
      const key = await h.shop(
        {},
        [],
        scopes.filter((scope) => scope !== may.key),
      );
      expect(answered(await attempt(route, withKey(key.key)))).toEqual([
        403,
        { error: 'Insufficient scope', requiredScope: may.key },
      ]);
      expect(isGuards((await attempt(route, withKey(shop.key))).status)).toBe(false);
    });
    it('refuses the key of a suspended merchant', async () =>
      expect(answered(await attempt(route, withKey(suspended.key)))).toEqual([
        403,
        { error: 'Merchant account is not active' },
      ]));
  } else
    it('takes no key, whatever its scopes', async () =>
      expect(answered(await attempt(route, withKey(shop.key)))).toEqual(unauthorised));

  it('refuses the session of a suspended merchant', async () =>
    expect(answered(await attempt(route, withSession(suspended.person)))).toEqual(unauthorised));

  if (typeof may === 'object') {
    it('lets in an admin, and the member with a permission that opens it alone', async () => {
      const answer = await attempt(route, withSession(admin));
      expect(answer.status === 401 && !isFactorRefusal(answer)).toBe(false);
      expect([answer.status, answer.body?.error]).not.toEqual([403, 'Insufficient permission']);
      expect(answered(await attempt(route, withSession(stranger)))).toEqual([
        403,
        { error: 'Insufficient permission', requiredPermission: may.session },
      ]);
      try {
        for (const permission of opening(may)) {
          await h.db.query('UPDATE dashboard_user SET permissions = $2 WHERE email = $1', [
            stranger.email,
            [permission],
          ]);
          h.api.deps.sessions.forget();
          const let_in = await attempt(route, withSession(stranger));
          expect([let_in.status, let_in.body?.error]).not.toEqual([403, 'Insufficient permission']);
          expect(let_in.status === 401 && !isFactorRefusal(let_in)).toBe(false);
        }
      } finally {
        await h.db.query(`UPDATE dashboard_user SET permissions = '{}' WHERE email = $1`, [stranger.email]);
        h.api.deps.sessions.forget();
      }
    });
    it('has nothing for a super admin, who has no merchant', async () => {
      const answer = await attempt(route, withSession(superAdmin));
      expect(answered(answer)).toEqual([
        400,
        (route.refusals ?? route.envelope) === 'A'
          ? { ok: false, error: { code: route.noMerchant ?? 'NO_MERCHANT_CONTEXT', message: 'No merchant context' } }
          : { error: 'No merchant context' },
      ]);
    });
  } else if (may === 'super_admin')
    it('serves operators alone', async () => {
      expect(answered(await attempt(route, withSession(admin)))).toEqual([
        403,
        { ok: false, error: { code: 'FORBIDDEN', message: errorTable.FORBIDDEN.message } },
      ]);
      expect(isGuards((await attempt(route, withSession(superAdmin))).status)).toBe(false);
    });
  else
    it('serves anyone signed in', async () => {
      for (const person of [admin, stranger, superAdmin]) {
        const answer = await attempt(route, withSession(person));
        expect(answer.status === 401 && answer.body?.error === 'Invalid or expired token').toBe(false);
      }
    });

  if (route.method !== 'get')
    it('takes a cookie from a page of ours alone', async () => {
      const person = may === 'super_admin' ? superAdmin : admin;
      const Cookie = `svc_access=${person.cookies.get('svc_access')}`;
      const refusal = [403, { ok: false, error: { code: 'CSRF_ORIGIN_MISMATCH', message: 'Forbidden' } }];
      for (const origin of ['https://evil.example', 'null', 'http://localhost:3002.evil.example'])
        expect(answered(await attempt(route, { Cookie, Origin: origin }))).toEqual(refusal);
      const allowed = await attempt(route, { Cookie });
      expect(allowed.body?.error?.code).not.toBe('CSRF_ORIGIN_MISMATCH');
    });
});

const isFactorRefusal = (answer: { body?: { error?: { code?: string } } }): boolean =>
  answer.body?.error?.code === 'VERIFICATION_FAILED';

const actsByFactor = routes.filter((route) => route.factor);
/** Calls `route`, which needs a factor, in the session of somebody who may. */
function act(route: Route, body: object, place = 'f'.repeat(24)) {
  const person = route.may === 'super_admin' ? superAdmin : admin;
  return h.call(route.method.toUpperCase(), route.path.replaceAll(/\{\w+\}/g, place), {
    body,
    headers: { 'X-Forwarded-For': addresses.next().value!, ...withSession(person) },
  });
}
const forgetGuesses = async (): Promise<void> => {
  await h.db.query('DELETE FROM email_code'); // five wrong guesses void one
  await h.db.query('DELETE FROM wrong_factor');
  await h.db.query('DELETE FROM rate_limit');
};

it.each(actsByFactor.map((route) => [route.name, route] as const))(
  '%s misses its factor before it looks at anything else that the body names',
  async (name, route) => {
    const nothing = { currency: 'NONE', amount: '1', reason: 'x' };
    const wrong: Partial<Record<RouteName, object>> = {
      createWithdrawal: { ...nothing, address: 'x', feeMode: 'deduct', idempotencyKey: 'key-of-none' },
      queuePayouts: { rows: [{ currency: 'NONE', address: 'x', amount: '1' }] },
      createRefund: { type: 'full', address: 'x' },
      executeConversion: { fromCurrency: 'NONE', toCurrency: 'NONE', fromAmount: '1' },
      addWallet: { ...nothing, settlementAddress: 'x' },
      repointWallet: { settlementAddress: 'x' },
      whitelistWallet: { ...nothing, address: 'x' },
      whitelistIp: { ip: 'nowhere' },
      createApiKey: { name: ' ', scopes: ['payments:read'], allowedIps: ['nowhere'], expiresAt: 'never' },
      createInvitation: { email: admin.email, role: 'merchant_member', permissions: [] },
      changePassword: { currentPassword: 'Wrong-Horse-9', newPassword: 'short' },
      freezeEgress: nothing,
      fileOperatorRequest: { kind: 'unfreeze', payload: {}, reason: 'x' },
      setPlatformLimits: { merchantId: 'f'.repeat(24), reason: 'x' },
      setMerchantFee: { feeBps: 30, reason: 'x' },
      setSwitch: { isOn: true, reason: 'x' },
      createInviteCode: { label: 'x' },
      limitExposure: { limitUsd: null, beyond: 'off', reason: 'x' },
      setConversionPair: { fromCurrency: 'NONE', toCurrency: 'NONE', mode: 'off', reason: 'x' },
    };
    const asked = wrong[name] ?? { reason: 'x' };
    const missing = name === 'executeConversion' ? 'MFA_REQUIRED' : 'VERIFICATION_FAILED';
    const code = name === 'executeConversion' ? 'otpCode' : 'totpCode';
    const passkey = { passkeyResponse: { id: 'x' }, challengeKey: 'x' };
    for (const factor of [{}, { passkeyResponse: {} }, { challengeKey: 'x' }, { ...passkey, [code]: '000000' }]) {
      const refused = await act(route, { ...asked, ...factor });
      expect([refused.status, refused.body.error?.code]).toEqual([400, missing]);
    }
    expect(await h.db.query('SELECT FROM wrong_factor')).toEqual([]);
    await forgetGuesses();
  },
);

it('asks each act for its own factor, and counts a wrong one', async () => {
  const external = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
  const bodies: Record<string, object> = {
    addWallet: { currency: 'BTC' },
    repointWallet: { settlementAddress: external },
    whitelistWallet: { currency: 'ETH', address: external },
    whitelistIp: { ip: '198.51.100.7' },
    createApiKey: { name: 'k', scopes: ['payments:read'] },
    createInvitation: { email: 'new@example.com', role: 'merchant_member', permissions: [] },
    changePassword: { currentPassword: admin.password_, newPassword: 'Another-Horse-8' },
    createRefund: { type: 'full', address: 'x' },
    queuePayouts: { rows: [{ currency: 'ETH', address: external, amount: '1' }] },
    suspendMerchant: { reason: 'x' },
    activateMerchant: { reason: 'x' },
    setSwitch: { isOn: true, reason: 'x' },
    freezeEgress: { currency: 'ETH', reason: 'x' },
    fileOperatorRequest: { kind: 'unfreeze', payload: { currency: 'ETH' }, reason: 'x' },
    cancelOperatorRequest: { reason: 'x' },
    setPlatformLimits: { reason: 'x' },
    setMerchantFee: { feeBps: 30, reason: 'x' },
    resolveIncident: { reason: 'x' },
    approveRegistration: { reason: 'x' },
    refuseRegistration: { reason: 'x' },
    createInviteCode: { label: 'x' },
    revokeInviteCode: { reason: 'x' },
    limitExposure: { limitUsd: null, beyond: 'off', reason: 'x' },
    setConversionPair: { fromCurrency: 'BTC', toCurrency: 'ETH', mode: 'off', reason: 'x' },
  };
  // An execution tells of factors in words of its own, a withdrawal is checked before its factor is: see their tests.
  const apart = ['executeConversion', 'createWithdrawal'];
  const places: Partial<Record<RouteName, string>> = { setSwitch: 'registration', limitExposure: 'BTC' };
  for (const route of actsByFactor.filter(({ name }) => !apart.includes(name))) {
    const call = (fields: object) => act(route, { ...bodies[route.name], ...fields }, places[route.name]);
    const bare = await call({});
    expect([route.name, bare.status, bare.body.error?.code]).toEqual([route.name, 400, 'VERIFICATION_FAILED']);
    const both = await call({ totpCode: '000000', emailCode: '000000' });
    expect([both.status, both.body.error?.code]).toEqual([400, 'VERIFICATION_FAILED']);
    const wrong = await call({ emailCode: '000000' });
    expect([wrong.status, wrong.body.error?.code]).toEqual([401, 'VERIFICATION_FAILED']);
    const malformed = await call({ totpCode: '12345' });
    expect([malformed.status, malformed.body.error?.code]).toEqual([400, 'VALIDATION_ERROR']);
    await forgetGuesses();
  }
});
