import { randomBytes } from 'node:crypto';
import { startApi, type RunningApi } from '../../api/main';
import { browsersOf } from '../../commands/payments/mark-payer';
import { keysOfOthers } from '../../db/access/api-keys';
import { newEmailCode, newResetToken, spendEmailCode, spendResetToken } from '../../db/access/factors';
import { createInvitation, findInvitation } from '../../db/access/invitations';
import { createInviteCode, spendInviteCode } from '../../db/access/invite-codes';
import { knownDevice, rememberDevice } from '../../db/access/known-devices';
import { keepChallenge, takeChallenge } from '../../db/access/passkeys';
import { sealAnew } from '../../db/access/sealed-secrets';
import { findPayerBrowser, storePayerBrowser } from '../../db/payments/payer-browsers';
import { idInLink, linkToken, openSealed } from '../../db/sealing';
import { createEndpoint, rotateEndpointSecret } from '../../db/webhooks/webhook-endpoints';
import { newId } from '../../domain/ids';
import { noLog } from '../shared/no-log';
import { secretsKey as old, startHarness, type Harness } from './harness';
import { Person } from './person';

/** SECRETS_KEY is changed while the service runs: three restarts in turn, and nobody notices. */

const next = 'cd'.repeat(32);
const [onlyOld, oldFirst, nextFirst, onlyNext] = [old, `${old},${next}`, `${next},${old}`, next];
let h: Harness;
let ann: Person;
let userId: string;
let merchantId: string;
let paymentId: string;
const apis: RunningApi[] = [];
beforeAll(async () => {
  h = await startHarness();
  ann = await Person.admin(h);
  [{ id: userId, merchant_id: merchantId }] = await h.db.query(
    'SELECT id, merchant_id FROM dashboard_user WHERE email = $1',
    [ann.email],
  );
  const shop = await h.shop();
  const body = { amount: 25, currency: 'BTC' };
  paymentId = (await h.call('POST', '/api/v1/payments', { key: shop.key, body })).body.paymentId;
});
afterAll(async () => {
  for (const api of apis) await api.close();
  await h?.stop();
});

/** One more process of the API on the same database, with another SECRETS_KEY; its `call` goes there. */
async function another(secretsKey: string): Promise<Harness> {
  const api = await startApi({ ...h.api.deps.config, SECRETS_KEY: secretsKey }, noLog);
  apis.push(api);
  const call: Harness['call'] = async (method, path, { key, body, headers = {} } = {}) => {
    const response = await fetch(api.url + path, {
      method,
      headers: {
        ...(key ? { authorization: `Bearer ${key}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: text ? JSON.parse(text) : undefined };
  };
  return { ...h, api, url: api.url, call };
}

/** Somebody who goes on at another process, with the same cookies and the same authenticator. */
async function at(place: Harness, person: Person): Promise<Person> {
  // So soon an authenticator has no other code, and so often nobody may sign in.
  await h.db.query('DELETE FROM rate_limit');
  await h.db.query('UPDATE dashboard_user SET totp_last_step = 0 WHERE email = $1', [person.email]);
  const same = new Person(place, person.email, person.password_);
  same.totpSecret = person.totpSecret;
  for (const [name, value] of person.cookies) same.cookies.set(name, value);
  return same;
}

/** What is kept as a hash: made by one key, and whether it is found by another. */
const kept: ReadonlyArray<
  readonly [
    what: string,
    make: (key: string) => Promise<string>,
    find: (key: string, token: string) => Promise<unknown>,
  ]
> = [
  [
    'a mailed code',
    async (key) => (await h.db.transaction((tx) => newEmailCode(tx, key, userId, 'withdrawal'))).code,
    async (key, code) =>
      (await h.db.transaction((tx) => spendEmailCode(tx, key, userId, 'withdrawal', code))) === 'spent' || null,
  ],
  [
    'a link to a new password',
    async (key) => {
      const token = randomBytes(32).toString('hex');
      await h.db.transaction((tx) => newResetToken(tx, key, userId, token));
      return token;
    },
    async (key, token) => (await h.db.transaction((tx) => spendResetToken(tx, key, userId, token))) || null,
  ],
  [
    'an invitation',
    async (key) => {
      const token = randomBytes(32).toString('hex');
      const email = `${token.slice(0, 12)}@shop.example`;
      const invitation = { merchantId, email, displayName: null, permissions: [], invitedBy: userId, token };
      await h.db.transaction((tx) => createInvitation(tx, key, invitation));
      return token;
    },
    (key, token) => h.db.transaction((tx) => findInvitation(tx, key, token)),
  ],
  [
    'an invitation code',
    async (key) => {
      const wanted = { label: 'x', skipsApproval: false, feeBps: null, mostUses: 9, validDays: 1 };
      return (await h.db.transaction((tx) => createInviteCode(tx, key, userId, wanted))).code;
    },
    (key, code) => h.db.transaction((tx) => spendInviteCode(tx, key, code)),
  ],
  [
    'the challenge of a passkey',
    (key) => keepChallenge(h.db, key, { challenge: 'c', userId, action: 'login' }),
    (key, token) => takeChallenge(h.db, key, { key: token, userId, action: 'login' }),
  ],
  [
    'a known browser',
    (key) => h.db.transaction((tx) => rememberDevice(tx, key, userId, undefined)),
    (key, token) => knownDevice(h.db, key, ann.email, token),
  ],
  [
    "a payer's browser",
    async (key) => {
      const token = randomBytes(20).toString('hex');
      const [browser] = browsersOf(key, paymentId, token);
      await h.db.transaction((tx) => storePayerBrowser(tx, { paymentId, browser: browser! }, null));
      return token;
    },
    (key, token) => findPayerBrowser(h.db, paymentId, browsersOf(key, paymentId, token)),
  ],
  [
    'a claim link',
    (key) => Promise.resolve(linkToken(key, 'claim', paymentId)),
    (key, token) => Promise.resolve(idInLink(key, 'claim', token)),
  ],
];

describe.each(kept)('%s', (_, make, find) => {
  it.each([
    ['before', onlyOld, oldFirst],
    ['in the first step', oldFirst, onlyOld],
    ['between the first two steps', oldFirst, nextFirst],
    ['in the second step, by a process of the first', nextFirst, oldFirst],
    ['in the second step', nextFirst, onlyNext],
    ['after', onlyNext, nextFirst],
  ])('made %s is known to the processes beside it', async (_when, maker, finder) => {
    expect(await find(finder, await make(maker))).not.toBeNull();
  });

  it('made by a key that is gone is unknown', async () => {
    expect(await find(onlyNext, await make(onlyOld))).toBeNull();
  });
});

it('nobody notices: sessions, authenticators, API keys and the secrets of webhooks go through each step', async () => {
  const made = await ann.post('/api/v1/api-keys', {
    name: 'Shop',
    scopes: ['payments:read'],
    totpCode: await ann.code(),
  });
  const key: string = made.body.data.apiKey;
  const endpoint = { url: 'https://shop.example/hook', enabledEvents: ['*'], description: null };
  const { row, secret } = await createEndpoint(h.db, old, merchantId, endpoint);
  await rotateEndpointSecret(h.db, old, merchantId, row.id);
  const secrets = async (by: string): Promise<string[]> => {
    const [{ one, two, ipn }] = await h.db.query(
      `SELECT e.secret_sealed AS one, e.previous_secret_sealed AS two, m.ipn_secret_sealed AS ipn
         FROM webhook_endpoint e JOIN merchant m ON m.id = e.merchant_id WHERE e.id = $1`,
      [row.id],
    );
    return [one, two, ipn].map((sealed: string) => openSealed(by, sealed));
  };
  const before = await secrets(onlyOld);
  expect(before[1]).toBe(secret);

  let person = ann;
  let place = h;
  for (const ring of [oldFirst, nextFirst, onlyNext]) {
    const beside = await another(ring);
    // A session of each process serves at the other, an authenticator and a key at both.
    for (const [from, to] of [
      [place, beside],
      [beside, place],
    ] as const) {
      const here = await at(from, person);
      expect([ring, (await here.signIn()).status]).toEqual([ring, 200]);
      const there = await at(to, here);
      expect([ring, (await there.get('/api/v1/auth/me')).status]).toEqual([ring, 200]);
      const answer = await to.call('GET', '/api/v1/payments', { key });
      expect([ring, answer.status]).toEqual([ring, 200]);
      person = there;
    }
    if (ring === nextFirst) {
      // The process that knows the first key alone was replaced; its like may still have sealed something meanwhile.
      await sealAnew(h.db, ring);
      beside.api.deps.keys.forget();
      expect((await beside.call('GET', '/api/v1/payments', { key })).status).toBe(200);
      expect(await keysOfOthers(h.db, ring)).toBe(1); // that of the shop, which nobody has used since
    }
    place = beside;
  }
  expect(await secrets(onlyNext)).toEqual(before);
  const wrong = await h.db.query('SELECT FROM wrong_factor WHERE user_id = $1', [userId]);
  expect(wrong).toHaveLength(0);
}, 120_000);

it('seals anew what an earlier key has sealed, and nothing twice', async () => {
  const { row } = await createEndpoint(h.db, old, merchantId, {
    url: 'https://shop.example/other',
    enabledEvents: ['*'],
    description: null,
  });
  const sealed = async (): Promise<string> =>
    (await h.db.query('SELECT secret_sealed FROM webhook_endpoint WHERE id = $1', [row.id]))[0].secret_sealed;
  const was = await sealed();
  expect(await sealAnew(h.db, nextFirst)).toBeGreaterThan(0);
  expect(openSealed(onlyNext, await sealed())).toBe(openSealed(onlyOld, was));
  expect(await sealAnew(h.db, nextFirst)).toBe(0);
  await expect(sealAnew(h.db, `${newId()},${'ef'.repeat(32)}`)).rejects.toThrow();
});
