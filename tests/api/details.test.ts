import { randomBytes } from 'node:crypto';
import { setLimits } from '../../db/limits/outbound';
import { post } from '../../db/ledger/ledger';
import { adjustment } from '../../domain/ledger/entry';
import { newId } from '../../domain/ids';
import { atOnce, caught, startHarness, type Answer, type Harness } from './harness';
import { mailTo, newEmail, Person } from './person';
import { settledPayment } from './refundable';

/** What a page needs of the API so that a person is never punished or left without an answer. */

let h: Harness;
let ann: Person;
let merchantId: string;
let key: string;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
  ann = await Person.admin(h);
  await ann.post('/api/v1/merchant-wallets', { currency: 'ETH', totpCode: await ann.code() });
  merchantId = (await ann.get('/api/v1/auth/me')).body.merchantId;
  const till = { name: 'Till', scopes: ['payments:create'], totpCode: await ann.code() };
  key = (await ann.post('/api/v1/api-keys', till)).body.data.apiKey;
  await h.db.transaction((tx) =>
    post(tx, {
      key: 'test',
      entry: adjustment,
      postings: [{ debit: 'A:treasury', credit: `L:available:${merchantId}`, asset: 'ETH', amount: '100' }],
    }),
  );
});
afterAll(() => h?.stop());
beforeEach(async () => {
  for (const table of ['rate_limit', 'wrong_factor', 'email_code']) await h.db.query(`DELETE FROM ${table}`);
});

const anAddress = (): string => h.api.deps.codecs.ethereum.normalise(`0x${randomBytes(20).toString('hex')}`)!;
const listed = async (): Promise<string> => {
  const address = anAddress();
  await ann.post('/api/v1/whitelist/wallet', { currency: 'ETH', address, totpCode: await ann.code() });
  return address;
};
const guesses = async (): Promise<number> => {
  const [row] = await h.db.query<Array<{ n: number }>>('SELECT count(*)::int AS n FROM wrong_factor');
  return row!.n;
};
const answered = ({ status, body }: Answer) => [status, body.error?.code ?? body.error];

/** Acts that have an idempotency key, each with one code for all of its requests. */
const acts = {
  async withdrawal() {
    const body = {
      ...{ currency: 'ETH', amount: '1', feeMode: 'deduct', address: await listed() },
      ...{ idempotencyKey: `key-${newId()}`, totpCode: await ann.code() },
    };
    return () => ann.call('POST', '/api/v1/withdrawals', body, {}, false);
  },
  async 'mass payout'() {
    const rows = [{ currency: 'ETH', address: await listed(), amount: '1' }];
    const body = { rows, confirm: true, idempotencyKey: `key-${newId()}`, totpCode: await ann.code() };
    return () => ann.call('POST', '/api/v1/mass-payouts', body, {}, false);
  },
  async refund() {
    const { id } = await settledPayment(h, { id: merchantId, key }, { paid: '5', credit: '5' });
    const body = { type: 'partial', amount: '0.5', address: anAddress(), totpCode: await ann.code() };
    const headers = { 'Idempotency-Key': newId() };
    return () => ann.call('POST', `/api/v1/payments/${id}/refunds`, body, headers, false);
  },
} as const;

describe.each(Object.keys(acts) as Array<keyof typeof acts>)('details: a %s', (kind) => {
  it('sent twice by a double click succeeds once and replays once, by one code', async () => {
    const send = await acts[kind]();
    const answers = await atOnce(2, send);
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body.data._id)).size).toBe(1);
    expect(await guesses()).toBe(0);
  });

  it('that is tried again with its used code counts no wrong factor', async () => {
    const send = await acts[kind]();
    expect((await send()).status).toBe(201);
    const again = await atOnce(4, send);
    expect(again.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(await guesses()).toBe(0);
  });
});

it('details: a code that belongs to no earlier request still counts as a wrong factor', async () => {
  const send = await acts.withdrawal();
  expect((await send()).status).toBe(201);
  const body = { currency: 'ETH', amount: '1', feeMode: 'deduct', address: await listed() };
  const wrong = { ...body, idempotencyKey: `key-${newId()}`, totpCode: '000000' };
  expect(answered(await ann.post('/api/v1/withdrawals', wrong))).toEqual([401, 'VERIFICATION_FAILED']);
  expect(await guesses()).toBe(1);
});

it('details: canSubmit false says why', async () => {
  const check = async (rows: unknown[]) => (await ann.post('/api/v1/mass-payouts/validate', { rows })).body.data;
  const row = { currency: 'ETH', address: await listed(), amount: '1' };
  expect(await check([row])).toMatchObject({ canSubmit: true, reasons: [] });
  expect(await check([])).toMatchObject({ canSubmit: false, reasons: [{ code: 'NO_ROWS' }] });
  expect(await check([row, { ...row, amount: '0' }])).toMatchObject({
    canSubmit: false,
    reasons: [{ code: 'INVALID_ROWS', message: expect.stringContaining('1') }],
  });
  expect(await check([{ ...row, amount: '5000' }])).toMatchObject({
    canSubmit: false,
    reasons: [{ code: 'INSUFFICIENT_BALANCE', message: expect.stringContaining('ETH') }],
  });
  await setLimits(h.db, merchantId, { dailyUsd: '1', hourlyCount: null, approvalUsd: null }, 'test', 0);
  expect(await check([row])).toMatchObject({ canSubmit: false, reasons: [{ code: 'EGRESS_LIMIT_EXCEEDED' }] });
  await setLimits(h.db, merchantId, { dailyUsd: null, hourlyCount: null, approvalUsd: null }, 'test', 0);
});

it('details: the 429 of a voided e-mail code says to ask for a new one', async () => {
  await ann.post('/api/v1/auth/mfa/send-email-code', { action: 'api_key' });
  const code = /\d{6}/.exec((await caught(h, ann.email))[0]!.text)![0];
  const wrong = code === '111111' ? '222222' : '111111';
  const body = { name: 'Till', scopes: ['payments:read'], emailCode: wrong };
  for (let guess = 1; guess < 5; guess += 1)
    expect(answered(await ann.post('/api/v1/api-keys', body))).toEqual([401, 'VERIFICATION_FAILED']);
  await h.db.query('DELETE FROM wrong_factor');
  for (const emailCode of [wrong, code]) {
    const answer = await ann.post('/api/v1/api-keys', { ...body, emailCode });
    expect(answered(answer)).toEqual([429, 'VERIFICATION_FAILED']);
    expect(answer.body.error.message).toContain('ask for a new code');
    expect(answer.body.error.reason).toBe('CODE_VOID');
    expect(answer.headers.get('retry-after')).toBeNull();
    await h.db.query('DELETE FROM wrong_factor');
  }
});

it('details: an invitation answers 201 whoever has the address, and its mail helps who has an account', async () => {
  const elsewhere = await Person.admin(h);
  const invite = async (email: string) =>
    ann.post('/api/v1/team-invitations', {
      ...{ email, role: 'merchant_member', permissions: [] },
      totpCode: await ann.code(),
    });
  const shapes = [];
  for (const email of [newEmail(), elsewhere.email]) {
    const { status, body } = await invite(email);
    shapes.push([status, Object.keys(body.data), body.data.status]);
    expect(await mailTo(h, email)).toMatch(/already have an account.*another address/s);
  }
  expect(shapes[0]).toEqual([201, expect.any(Array), 'pending']);
  expect(shapes[1]).toEqual(shapes[0]);
});

describe('details: the team', () => {
  const idOf = async (person: Person): Promise<string> => (await person.get('/api/v1/auth/me')).body.id;
  const change = async (by: Person, whom: string, body: object) =>
    by.call('PATCH', `/api/v1/team-members/${whom}`, { ...body, totpCode: await by.code() });

  it('refuses to edit the permissions of an admin, and signs nobody out', async () => {
    const second = await Person.member(ann, []);
    const id = await idOf(second);
    expect(await change(ann, id, { role: 'merchant_admin' })).toMatchObject({
      status: 200,
      body: { data: { role: 'merchant_admin' } },
    });
    await second.signIn();
    expect(answered(await change(ann, id, { permissions: ['payments:view'] }))).toEqual([409, 'ADMIN_PERMISSIONS']);
    expect((await second.get('/api/v1/auth/me')).status).toBe(200);
    const both = { role: 'merchant_admin', permissions: [] };
    expect(answered(await change(ann, id, both))).toEqual([409, 'ADMIN_PERMISSIONS']);
  });

  it('can have a second admin, whom an admin alone makes, and tells every admin of it', async () => {
    const admin = await Person.admin(h);
    const member = await Person.member(admin, ['team:manage']);
    const other = await Person.member(admin, []);
    expect(answered(await change(member, await idOf(other), { role: 'merchant_admin' }))).toEqual([
      403,
      'GRANT_REFUSED',
    ]);
    expect(answered(await change(member, await idOf(member), { role: 'merchant_admin' }))).toEqual([
      403,
      'GRANT_REFUSED',
    ]);
    expect((await change(admin, await idOf(other), { role: 'merchant_admin' })).status).toBe(200);
    expect(await mailTo(h, admin.email)).toContain(other.email);
    await other.signIn();
    // The right to approve is new: the cooling-off of a second person begins with it.
    const since = await h.db.query<Array<{ name: string }>>('SELECT name FROM user_right WHERE user_id = $1', [
      await idOf(other),
    ]);
    expect(since).toEqual([{ name: 'merchant_admin' }]);
    const demoted = await change(other, await idOf(admin), { role: 'merchant_member', permissions: ['team:view'] });
    expect(demoted.body.data).toMatchObject({ role: 'merchant_member', permissions: ['team:view'] });
    const last = { role: 'merchant_member' };
    expect(answered(await change(other, await idOf(other), last))).toEqual([409, 'LAST_ADMIN']);
  });

  it('lists the keys that a member has made when the member is deactivated or removed', async () => {
    const member = await Person.member(ann, ['api-keys:manage', 'payments:view', 'team:view']);
    const id = await idOf(member);
    const make = async (name: string) =>
      (await member.post('/api/v1/api-keys', { name, scopes: ['payments:read'], totpCode: await member.code() })).body
        .data;
    const [kept, revoked] = [await make('Till'), await make('Old')];
    await member.call('DELETE', `/api/v1/api-keys/${revoked.id}`);
    const answer = await change(ann, id, { isActive: false });
    expect(answer.body.data.activeKeys).toEqual([{ id: kept.id, name: 'Till', last4: kept.last4 }]);
    const list = (await ann.get('/api/v1/api-keys')).body.data.items;
    expect(list.find((key: { id: string }) => key.id === kept.id).createdBy).toBe(member.email);
    const removed = await ann.call('DELETE', `/api/v1/team-members/${id}`, { totpCode: await ann.code() });
    expect(removed.body.data.activeKeys).toEqual([{ id: kept.id, name: 'Till', last4: kept.last4 }]);
    const after = (await ann.get('/api/v1/api-keys')).body.data.items;
    expect(after.find((key: { id: string }) => key.id === kept.id).createdBy).not.toContain('@invalid');
  });
});

it('details: allowedIps may be narrowed inside a range, and never widened', async () => {
  const made = await ann.post('/api/v1/api-keys', {
    ...{ name: 'Till', scopes: ['payments:read'], allowedIps: ['10.0.0.0/8', '2001:db8::/32', '192.0.2.7'] },
    totpCode: await ann.code(),
  });
  const path = `/api/v1/api-keys/${made.body.data.id}`;
  const to = async (allowedIps: string[]) => ann.call('PATCH', path, { allowedIps });
  for (const wider of [['10.0.0.0/7'], ['11.0.0.1'], ['2001:db9::1'], ['192.0.2.6/31'], [], ['::ffff:11.0.0.1']])
    expect([wider, ...answered(await to(wider))]).toEqual([wider, 400, 'VALIDATION_ERROR']);
  const narrowed = await to(['10.1.0.0/16', '2001:db8:1::/48', '::ffff:10.2.3.4']);
  expect(narrowed.body.data.allowedIps).toEqual(['10.1.0.0/16', '2001:db8:1::/48', '10.2.3.4']);
  expect(answered(await to(['10.0.0.0/8']))).toEqual([400, 'VALIDATION_ERROR']);
});
