import type { Browser, CDPSession, Page } from 'playwright-core';
import { parseConfig } from '../../domain/config';
import { Visitor } from '../../sandbox/visitor';
import { recordAnswer } from '../setup/record';
import { World } from '../world';
import { startBrowser } from './chromium';
import { withBrowser } from './with-browser';

/** Passkeys as a browser makes them: the real API, and Chromium with a virtual authenticator on the dashboard's
 *  origin. */

let world: World;
let browser: Browser;
let dashboardUrl: string;
const password = 'Correct-Horse-7';
const passkeyRefused = '401 {"error":"The passkey was not accepted"}';
const factorRefused =
  /401 .*"VERIFICATION_FAILED","message":"The email code, OTP or passkey is wrong, used or expired"/;

/** What WebAuthn sends over the wire, as far as these tests look into it. */
type Options = Record<string, unknown>;
type Challenge = Readonly<{ options: Options; challengeKey: string }>;
type Credential = Readonly<{ id: string; response: Record<string, string> }>;
type Answered = Readonly<{ passkeyResponse: Credential; challengeKey: string }>;

/** A browser with an authenticator of its own, on a page that holds nothing. */
class Device {
  private constructor(
    private readonly page: Page,
    private readonly authenticator: CDPSession,
    private readonly authenticatorId: string,
  ) {}

  /** `hasUserVerification`: whether the authenticator can tell who holds it. */
  static async open({ hasUserVerification = true } = {}): Promise<Device> {
    const page = await browser.newPage();
    await page.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }));
    await page.goto(dashboardUrl);
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('WebAuthn.enable');
    const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification,
        isUserVerified: hasUserVerification,
        automaticPresenceSimulation: true,
      },
    });
    return new Device(page, cdp, authenticatorId);
  }

  goTo = (url: string): Promise<unknown> => this.page.goto(url);

  /** Whether its owner proves to the authenticator who they are. */
  verifies = (isUserVerified: boolean): Promise<unknown> =>
    this.authenticator.send('WebAuthn.setUserVerified', { authenticatorId: this.authenticatorId, isUserVerified });

  create = (options: Options): Promise<Credential> => this.ask('create', 'parseCreationOptionsFromJSON', options);

  get = (options: Options): Promise<Credential> => this.ask('get', 'parseRequestOptionsFromJSON', options);

  private ask(verb: string, parse: string, options: Options): Promise<Credential> {
    const publicKey = `PublicKeyCredential.${parse}(${JSON.stringify(options)})`;
    return this.page.evaluate(
      `navigator.credentials.${verb}({ publicKey: ${publicKey} }).then((made) => made.toJSON())`,
    );
  }

  /** A challenge with this browser's answer to it; `over` is what the page asks for instead of what it was told. */
  async answer({ options, challengeKey }: Challenge, over: Options = {}): Promise<Answered> {
    return { passkeyResponse: await this.get({ ...options, ...over }), challengeKey };
  }
}

/** Calls of passkeys are examples in the API reference: nothing else has real ones. */
class RecordedVisitor extends Visitor {
  override async call(method: string, path: string, body?: unknown): ReturnType<Visitor['call']> {
    const answer = await super.call(method, path, body);
    if (path.includes('passkey')) recordAnswer(method, path, body, answer);
    return answer;
  }
}

let visitors = 0;
/** Somebody without a session, from an address of their own. */
function visitor(email = 'nobody@shop.example'): Visitor {
  visitors += 1;
  const { apiUrl, mail } = world.stack;
  const ip = `198.51.100.${visitors}`;
  return new RecordedVisitor({ apiUrl, dashboardUrl, mailUrl: mail.url, ip }, email, password);
}

/** A merchant's admin with a browser, signed in by an authenticator's code. */
async function newcomer(name: string): Promise<{ who: Visitor; device: Device }> {
  const who = visitor(`${name}@shop.example`);
  await who.register('Books');
  await who.enrol();
  return { who, device: await Device.open() };
}

const registerOptions = async (who: Visitor): Promise<Challenge> =>
  (await who.post('/api/v1/auth/passkey/register-options', { totpCode: await who.totpCode() })).body;
const registered = async (who: Visitor, answered: Answered, name?: string) =>
  (await who.post('/api/v1/auth/passkey/register-verify', { ...answered, name })).body;

/** A newcomer with a passkey. */
async function holder(name: string) {
  const { who, device } = await newcomer(name);
  const { options, challengeKey } = await registerOptions(who);
  const passkeyResponse = await device.create(options);
  const { passkey } = await registered(who, { passkeyResponse, challengeKey });
  return { who, device, passkeyResponse, passkeyId: passkey.id as string };
}
type Holder = Awaited<ReturnType<typeof holder>>;

const loginOptions = async (): Promise<Challenge> => (await visitor().post('/api/v1/auth/passkey/login-options')).body;
const login = async (answered: Answered, who = visitor()) =>
  (await who.post('/api/v1/auth/passkey/login-verify', answered)).body;
const actOptions = async (who: Visitor, action: string): Promise<Challenge> =>
  (await who.post('/api/v1/auth/mfa/passkey-options', { action })).body.data;
const makeKey = (who: Visitor, answered: Answered) =>
  who.post('/api/v1/api-keys', { name: 'Shop', scopes: ['payments:read'], ...answered });
const keysOf = async (who: Visitor): Promise<number> => (await who.call('GET', '/api/v1/api-keys')).body.data.total;
/** Leaves the refusal of an old answer to its challenge alone: synchronised passkeys do not count. */
const forgetCounters = () => world.db.query('UPDATE passkey SET counter = 0');
const isVerified = ({ response }: Credential): boolean =>
  (Buffer.from(response['authenticatorData']!, 'base64url')[32]! & 4) !== 0;

withBrowser('passkeys', () => {
  let ann: Holder;
  let bob: Holder;
  beforeAll(async () => {
    world = await World.start({ env: { PROXY_COUNT: '1' } });
    dashboardUrl = parseConfig(world.stack.env).DASHBOARD_URL;
    browser = await startBrowser();
    ann = await holder('ann');
    bob = await holder('bob');
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await world?.stop();
  }, 60_000);

  it('are enrolled with a factor, listed, and offered as a factor from then on', async () => {
    const { who, device } = await newcomer('cleo');
    const me = async () => (await who.call('GET', '/api/v1/auth/me')).body;
    const methods = async () => (await who.call('GET', '/api/v1/auth/mfa-options')).body.data.methods;
    const atLogin = async () =>
      (await visitor().post('/api/v1/auth/login', { email: who.email, password })).body.methods;
    expect([(await me()).hasPasskey, await methods(), await atLogin()]).toEqual([
      false,
      ['email', 'totp'],
      ['totp', 'backup'],
    ]);
    await expect(who.post('/api/v1/auth/passkey/register-options')).rejects.toThrow('400');

    const emailCode = await who.emailCode('/api/v1/auth/mfa/send-email-code', { action: 'passkey' });
    const { options, challengeKey } = (await who.post('/api/v1/auth/passkey/register-options', { emailCode })).body;
    expect(options).toMatchObject({
      rp: { id: 'localhost' },
      user: { name: who.email, displayName: 'Demo' },
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: [],
    });
    const answered = { passkeyResponse: await device.create(options), challengeKey };
    const { success, passkey } = await registered(who, answered, ' Laptop ');
    expect([success, passkey.name]).toEqual([true, 'Laptop']);
    expect((await who.call('GET', '/api/v1/auth/passkeys')).body).toEqual({
      items: [{ ...passkey, lastUsedAt: null }],
      total: 1,
    });
    expect([(await me()).hasPasskey, await methods(), await atLogin()]).toEqual([
      true,
      ['email', 'totp', 'passkey'],
      ['totp', 'passkey', 'backup'],
    ]);
  });

  it('sign in without a password, and name nobody before', async () => {
    const challenge = await loginOptions();
    expect(challenge.options).toMatchObject({ rpId: 'localhost', userVerification: 'required', allowCredentials: [] });
    const guest = visitor();
    await expect(guest.call('GET', '/api/v1/auth/me')).rejects.toThrow('401');
    const answered = await ann.device.answer(challenge);
    const user = await login(answered, guest);
    expect(user).toMatchObject({ email: ann.who.email, role: 'merchant_admin', hasPasskey: true });
    expect((await guest.call('GET', '/api/v1/auth/me')).body).toEqual(user);
    const [kept] = await world.db.query('SELECT counter::int, last_used_at FROM passkey WHERE id = $1', [
      ann.passkeyId,
    ]);
    expect([kept.counter > 0, kept.last_used_at]).toEqual([true, expect.any(Date)]);

    await forgetCounters();
    await expect(login(answered)).rejects.toThrow(passkeyRefused);
  });

  it('are a second step after the password, for their owner alone', async () => {
    const signIn = (totpToken: string, answered: Answered, guest: Visitor) =>
      guest.post('/api/v1/auth/2fa/validate-passkey', { totpToken, ...answered });
    const guest = visitor();
    const { totpToken } = (await guest.post('/api/v1/auth/login', { email: ann.who.email, password })).body;
    const foreign = await bob.device.answer(await loginOptions());
    await expect(signIn(totpToken, foreign, guest)).rejects.toThrow(passkeyRefused);
    await expect(guest.call('GET', '/api/v1/auth/me')).rejects.toThrow('401');

    const own = await ann.device.answer(await loginOptions());
    expect((await signIn(totpToken, own, guest)).body).toMatchObject({ email: ann.who.email });
    expect((await guest.call('GET', '/api/v1/auth/me')).body.email).toBe(ann.who.email);
    const another = await ann.device.answer(await loginOptions());
    await expect(signIn(totpToken, another, visitor())).rejects.toThrow('401 {"error":"Invalid or expired token"}');
  });

  it('confirm the act that they were asked for, once', async () => {
    const answered = await ann.device.answer(await actOptions(ann.who, 'api_key'));
    const keys = await keysOf(ann.who);
    expect((await makeKey(ann.who, answered)).status).toBe(201);
    await forgetCounters();
    await expect(makeKey(ann.who, answered)).rejects.toThrow(factorRefused);
    expect(await keysOf(ann.who)).toBe(keys + 1);

    const atOnce = await ann.device.answer(await actOptions(ann.who, 'api_key'));
    const made = await Promise.allSettled(Array.from({ length: 4 }, () => makeKey(ann.who, atOnce)));
    expect(made.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
    expect(await keysOf(ann.who)).toBe(keys + 2);
  });

  it('approve money', async () => {
    const { merchantId } = (await ann.who.call('GET', '/api/v1/auth/me')).body;
    await world.db.query(
      `SELECT post_journal('test/passkey', '{"type":"adjustment","sourceType":"adjustment"}',
         jsonb_build_array(jsonb_build_object('debit', 'Q:capital', 'credit', 'L:available:' || $1, 'asset', 'ETH',
         'amount', '1')))`,
      [merchantId],
    );
    const address = '0x00000000000000000000000000000000000000A1';
    const entry = await ann.who.post('/api/v1/whitelist/wallet', {
      currency: 'ETH',
      address,
      ...(await ann.device.answer(await actOptions(ann.who, 'whitelist_change'))),
    });
    const ask = { currency: 'ETH', amount: '0.1', feeMode: 'deduct', whitelistId: entry.body.data.id };
    const forKey = await ann.device.answer(await actOptions(ann.who, 'api_key'));
    await expect(
      ann.who.post('/api/v1/withdrawals', { ...ask, idempotencyKey: 'passkey-1', ...forKey }),
    ).rejects.toThrow(factorRefused);
    const answered = await ann.device.answer(await actOptions(ann.who, 'withdrawal'));
    const made = await ann.who.post('/api/v1/withdrawals', { ...ask, idempotencyKey: 'passkey-1', ...answered });
    expect(made.status).toBe(201);
    await forgetCounters();
    await expect(
      ann.who.post('/api/v1/withdrawals', { ...ask, idempotencyKey: 'passkey-2', ...answered }),
    ).rejects.toThrow(factorRefused);
    await ann.who.post(`/api/v1/withdrawals/${made.body.data._id}/cancel`);

    const batch = { rows: [{ currency: 'ETH', address, amount: '0.1' }] };
    const forOne = await ann.device.answer(await actOptions(ann.who, 'withdrawal'));
    await expect(ann.who.post('/api/v1/mass-payouts', { ...batch, ...forOne })).rejects.toThrow(factorRefused);
    const forMany = await ann.device.answer(await actOptions(ann.who, 'mass_payout'));
    const queued = await ann.who.post('/api/v1/mass-payouts', { ...batch, ...forMany });
    expect(queued.status).toBe(201);
    await forgetCounters();
    await expect(ann.who.post('/api/v1/mass-payouts', { ...batch, ...forMany })).rejects.toThrow(factorRefused);
    await ann.who.post(`/api/v1/mass-payouts/${queued.body.data._id}/cancel`);
    await world.db.query('DELETE FROM wrong_factor'); // so many lock her out
  });

  it('confirm no other act, and no act by an answer that was meant for a login', async () => {
    const keys = await keysOf(bob.who);
    const forTeam = await bob.device.answer(await actOptions(bob.who, 'team'));
    await expect(makeKey(bob.who, forTeam)).rejects.toThrow(factorRefused);
    const invitation = { email: 'dan@shop.example', role: 'merchant_member', permissions: ['payments:view'] };
    expect((await bob.who.post('/api/v1/team-invitations', { ...invitation, ...forTeam })).status).toBe(201);

    const forLogin = await bob.device.answer(await loginOptions());
    await expect(makeKey(bob.who, forLogin)).rejects.toThrow(factorRefused);
    const forKey = await bob.device.answer(await actOptions(bob.who, 'api_key'));
    await expect(login(forKey)).rejects.toThrow(passkeyRefused);
    expect(await keysOf(bob.who)).toBe(keys);
    expect((await makeKey(bob.who, forKey)).status).toBe(201);
  });

  it('confirm nothing for another user: neither by their challenge nor by their passkey', async () => {
    const challenge = await actOptions(ann.who, 'api_key');
    const byBob = await bob.device.answer(challenge, { allowCredentials: [] });
    await expect(makeKey(bob.who, byBob)).rejects.toThrow(factorRefused);
    // Hers still: nobody else can use it up.
    expect((await makeKey(ann.who, await ann.device.answer(challenge))).status).toBe(201);

    const keys = await keysOf(ann.who);
    const withBobs = await bob.device.answer(await actOptions(ann.who, 'api_key'), { allowCredentials: [] });
    await expect(makeKey(ann.who, withBobs)).rejects.toThrow(factorRefused);
    expect(await keysOf(ann.who)).toBe(keys);
  });

  it('are refused from another origin', async () => {
    const carl = await newcomer('carl');
    await carl.device.goTo('http://localhost:3999/');
    const { options, challengeKey } = await registerOptions(carl.who);
    const passkeyResponse = await carl.device.create(options);
    await expect(registered(carl.who, { passkeyResponse, challengeKey })).rejects.toThrow(passkeyRefused);

    await ann.device.goTo('http://localhost:3999/');
    const elsewhere = await ann.device.answer(await loginOptions());
    await expect(login(elsewhere)).rejects.toThrow(passkeyRefused);
    await ann.device.goTo(dashboardUrl);
    expect(await login(await ann.device.answer(await loginOptions()))).toMatchObject({ email: ann.who.email });
  });

  it('are refused where the authenticator did not verify its user', async () => {
    const { who } = await newcomer('emil');
    const keyring = await Device.open({ hasUserVerification: false });
    const { options, challengeKey } = await registerOptions(who);
    const authenticatorSelection = { residentKey: 'required', userVerification: 'discouraged' };
    const passkeyResponse = await keyring.create({ ...options, authenticatorSelection });
    expect(isVerified(passkeyResponse)).toBe(false);
    await expect(registered(who, { passkeyResponse, challengeKey })).rejects.toThrow(passkeyRefused);

    const over = { userVerification: 'discouraged' };
    await ann.device.verifies(false);
    // A browser that keeps to the rules does not even answer.
    await expect(ann.device.answer(await loginOptions())).rejects.toThrow('NotAllowedError');
    const unverified = await ann.device.answer(await loginOptions(), over);
    await ann.device.verifies(true);
    expect(isVerified(unverified.passkeyResponse)).toBe(false);
    await expect(login(unverified)).rejects.toThrow(passkeyRefused);
    const verified = await ann.device.answer(await loginOptions());
    expect(isVerified(verified.passkeyResponse)).toBe(true);
    expect(await login(verified)).toMatchObject({ email: ann.who.email });
  });

  it('are refused after five minutes', async () => {
    const age = (minutes: number) =>
      world.db.query('UPDATE passkey_challenge SET expires_at = expires_at - make_interval(mins => $1)', [minutes]);
    const inTime = await ann.device.answer(await loginOptions());
    await age(4);
    expect(await login(inTime)).toMatchObject({ email: ann.who.email });
    const late = await ann.device.answer(await loginOptions());
    await age(5);
    await expect(login(late)).rejects.toThrow(passkeyRefused);
  });

  it('are refused with a counter that falls, as a copy has it', async () => {
    const count = async (counter?: number): Promise<number> => {
      if (counter !== undefined)
        await world.db.query('UPDATE passkey SET counter = $2 WHERE id = $1', [ann.passkeyId, counter]);
      return (await world.db.query('SELECT counter::int FROM passkey WHERE id = $1', [ann.passkeyId]))[0].counter;
    };
    const before = await count();
    await count(1000);
    const behind = await ann.device.answer(await loginOptions());
    await expect(login(behind)).rejects.toThrow(passkeyRefused);
    expect(await count()).toBe(1000);
    await count(before);
    expect(await login(await ann.device.answer(await loginOptions()))).toMatchObject({ email: ann.who.email });
    expect(await count()).toBeGreaterThan(before);
  });

  it('are refused with a signature or a challenge that is not theirs', async () => {
    const [one, two] = [await ann.device.answer(await loginOptions()), await ann.device.answer(await loginOptions())];
    await expect(login({ ...one, challengeKey: two.challengeKey })).rejects.toThrow(passkeyRefused);
    const { passkeyResponse } = one;
    const signature = two.passkeyResponse.response['signature']!;
    const response = { ...passkeyResponse.response, signature };
    await expect(login({ ...one, passkeyResponse: { ...passkeyResponse, response } })).rejects.toThrow(passkeyRefused);
  });

  it('are registered once, whoever tries again', async () => {
    const { device, passkeyResponse } = ann;
    for (const who of [ann.who, bob.who]) {
      const { options, challengeKey } = await registerOptions(who);
      // The browser keeps from making a second one where it is told of the first.
      if (who === ann.who) await expect(device.create(options)).rejects.toThrow('InvalidStateError');
      // Nothing signs this challenge: the client data can be made to fit it.
      const clientData = {
        type: 'webauthn.create',
        challenge: options['challenge'],
        origin: new URL(dashboardUrl).origin,
      };
      const clientDataJSON = Buffer.from(JSON.stringify(clientData)).toString('base64url');
      const again = { ...passkeyResponse, response: { ...passkeyResponse.response, clientDataJSON } };
      await expect(registered(who, { passkeyResponse: again, challengeKey })).rejects.toThrow(passkeyRefused);
      expect((await who.call('GET', '/api/v1/auth/passkeys')).body.items).toHaveLength(1);
    }
  });

  it('sign nobody in after their removal, and are removed by their owner alone', async () => {
    const dora = await holder('dora');
    const answered = await dora.device.answer(await loginOptions());
    const path = `/api/v1/auth/passkeys/${dora.passkeyId}`;
    await expect(ann.who.call('DELETE', path)).rejects.toThrow('404');
    expect((await dora.who.call('DELETE', path)).body).toEqual({ success: true });
    await expect(login(answered)).rejects.toThrow(passkeyRefused);
    await expect(dora.who.call('DELETE', path)).rejects.toThrow('404');
    expect((await dora.who.call('GET', '/api/v1/auth/me')).body.hasPasskey).toBe(false);
    expect((await dora.who.call('GET', '/api/v1/auth/mfa-options')).body.data.methods).toEqual(['email', 'totp']);
  });
});
