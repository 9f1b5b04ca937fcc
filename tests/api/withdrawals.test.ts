import { randomBytes } from 'node:crypto';
import { DomainError } from '../../domain/errors';
import { add, subtract } from '../../domain/money';
import { audit } from '../../db/audit/audit';
import { post } from '../../db/ledger/ledger';
import { freeze, setLimits, unfreeze } from '../../db/limits/outbound';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { newId } from '../../domain/ids';
import { atOnce, startHarness, type Answer, type Harness } from './harness';
import { mailTo, Person } from './person';
import { adjustment } from '../../domain/ledger/entry';

/** Who may withdraw what, whereto, in which order it is refused, and what is held. Nothing is sent here: there is no
 *  Temporal. */

let h: Harness;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
});
afterAll(() => h?.stop());
/** What this process can check without chains. */
afterEach(async () =>
  expect(
    (await audit(h.db, { settleMs: 1 })).filter(({ invariant }) => ['I1', 'I2', 'I3', 'I7', 'I9'].includes(invariant)),
  ).toEqual([]),
);

const address = (): string => `0x${randomBytes(20).toString('hex')}`;
const codeOf = (answer: Answer): [number, string] => [answer.status, answer.body.error?.code ?? answer.body.error];

type Rich = Person & { merchantId: string; key: string };
async function rich(balances: Record<string, string> = { ETH: '1' }): Promise<Rich> {
  const person = (await Person.admin(h)) as Rich;
  person.merchantId = (await person.get('/api/v1/auth/me')).body.merchantId;
  for (const [currency, amount] of Object.entries(balances)) await credit(person.merchantId, currency, amount);
  return person;
}
const credit = (merchantId: string, asset: string, amount: string) =>
  h.db.transaction((tx) =>
    post(tx, {
      key: `test/${newId()}`,
      entry: adjustment,
      postings: [{ debit: 'A:treasury', credit: `L:available:${merchantId}`, asset, amount }],
    }),
  );
const balanceOf = async (person: Person, currency = 'ETH'): Promise<{ balance: string; reserved: string }> =>
  (await person.get('/api/v1/ledger/balances')).body.balances.find(
    (one: { currency: string }) => one.currency === currency,
  );
async function listed(person: Person, currency = 'ETH', to = address()): Promise<{ id: string; address: string }> {
  const added = await person.post('/api/v1/whitelist/wallet', {
    currency,
    address: to,
    totpCode: await person.code(),
  });
  expect(added.status).toBe(201);
  return added.body.data;
}
let keys = 0;
const askFor = (over: Record<string, unknown> = {}) => ({
  currency: 'ETH',
  amount: '0.1',
  feeMode: 'deduct',
  idempotencyKey: `key-${(keys += 1)}-${process.pid}`,
  ...over,
});
const withdraw = async (person: Person, over: Record<string, unknown> = {}): Promise<Answer> =>
  person.post('/api/v1/withdrawals', {
    ...askFor(over),
    ...('factor' in over ? {} : { totpCode: await person.code() }),
  });
const fee = '0.000042'; // 21,000 gas at 2 gwei

it('holds what it takes, shows it, tells of it, and gives it back', async () => {
  const ann = await rich();
  const to = await listed(ann);
  const made = await withdraw(ann, { whitelistId: to.id, note: 'rent' });
  expect(made.status).toBe(201);
  expect(made.body.data).toMatchObject({
    status: 'pending',
    currency: 'ETH',
    amount: '0.1',
    networkFee: fee,
    netToDestination: subtract('0.1', fee),
    address: to.address,
    destinationTag: null,
    note: 'rent',
    txId: null,
    confirmations: 0,
    requestedBy: ann.email,
    approvedBy: null,
  });
  const { _id } = made.body.data;
  expect(await balanceOf(ann)).toMatchObject({ balance: '0.9', reserved: '0.1' });
  expect(await h.db.query(`SELECT workflow_id FROM temporal_request WHERE workflow = 'withdrawal'`)).toContainEqual({
    workflow_id: `withdrawal/${_id}`,
  });
  expect((await ann.get(`/api/v1/withdrawals/${_id}`)).body.data).toEqual(made.body.data);
  expect((await ann.get('/api/v1/withdrawals?status=pending&currency=eth')).body.data).toEqual({
    items: [made.body.data],
    total: 1,
  });
  expect((await ann.get('/api/v1/withdrawals?dateTo=2020-01-01')).body.data.total).toBe(0);

  // By address, fee on top.
  const second = await withdraw(ann, { address: to.address.toLowerCase(), feeMode: 'add' });
  expect(second.body.data).toMatchObject({ amount: '0.1', netToDestination: '0.1', address: to.address });
  expect((await balanceOf(ann)).reserved).toBe(add('0.2', fee));

  const back = await ann.post(`/api/v1/withdrawals/${_id}/cancel`);
  expect(back.body.data).toMatchObject({ status: 'cancelled', stateVersion: 2 });
  expect((await ann.post(`/api/v1/withdrawals/${_id}/cancel`)).body.data.status).toBe('cancelled');
  expect((await balanceOf(ann)).reserved).toBe(add('0.1', fee));
  const events = await h.db.query('SELECT type, data FROM event WHERE entity_id = $1 ORDER BY seq', [_id]);
  expect(events).toEqual([
    { type: 'withdrawal.created', data: made.body.data },
    { type: 'withdrawal.cancelled', data: back.body.data },
  ]);
  const entries = (await ann.get(`/api/v1/ledger/history?sourceId=${_id}`)).body.items;
  expect(
    entries.map((one: { type: string; sourceType: string; amount: string }) => [one.type, one.sourceType, one.amount]),
  ).toEqual([
    ['release', 'withdrawal', '0.1'],
    ['reserve', 'withdrawal', '-0.1'],
  ]);
  const acts = (await ann.get('/api/v1/audit-log')).body.data.items.map((one: { action: string }) => one.action);
  expect(acts).toEqual(expect.arrayContaining(['withdrawal.requested', 'withdrawal.cancelled']));
});

it('estimates without a factor', async () => {
  const ann = await rich({ ETH: '1', USDT_ERC20: '5' });
  const ask = (body: object) => ann.post('/api/v1/withdrawals/estimate', body);
  expect((await ask({ currency: 'eth', amount: '0.5', feeMode: 'deduct' })).body.data).toEqual({
    currency: 'ETH',
    feeMode: 'deduct',
    amount: '0.5',
    networkFee: fee,
    netToDestination: subtract('0.5', fee),
    available: '1',
    maxAmount: '1',
    covered: true,
  });
  expect((await ask({ currency: 'ETH', amount: '1', feeMode: 'add' })).body.data).toMatchObject({
    maxAmount: subtract('1', fee),
    covered: false,
  });
  expect((await ask({ currency: 'USDT_ERC20', amount: '2', feeMode: 'add' })).body.data).toMatchObject({
    covered: true,
  });
  expect(codeOf(await ask({ currency: 'ETH', amount: '0.00004', feeMode: 'deduct' }))).toEqual([400, 'BELOW_MINIMUM']);
  const fine = await ask({ currency: 'USDT_ERC20', amount: '2.0000001', feeMode: 'add' });
  expect([fine.status, fine.body.error]).toEqual([
    400,
    { code: 'VALIDATION_ERROR', message: 'amount must have at most 6 decimals in USDT_ERC20' },
  ]);
  const zeros = await ask({ currency: 'USDT_ERC20', amount: '2.00000000', feeMode: 'add' });
  expect([zeros.status, zeros.body.data.amount]).toEqual([200, '2']);
  expect(codeOf(await ask({ currency: 'DOGE', amount: '1', feeMode: 'add' }))).toEqual([400, 'CURRENCY_NOT_AVAILABLE']);
});

it.each<[string, Record<string, unknown>, [number, string]]>([
  ['an address that is not listed', { address: address() }, [400, 'ADDRESS_NOT_WHITELISTED']],
  ['an entry that is not there', { whitelistId: 'a'.repeat(24) }, [400, 'ADDRESS_NOT_WHITELISTED']],
  ['no address', { address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' }, [400, 'INVALID_ADDRESS']],
  ['neither', {}, [400, 'VALIDATION_ERROR']],
  ['more than there is', { amount: '1.000000000000000001' }, [400, 'INSUFFICIENT_BALANCE']],
  ['less than its fee', { amount: '0.00004' }, [400, 'BELOW_MINIMUM']],
  ['nothing', { amount: '0' }, [400, 'BELOW_MINIMUM']],
  ['a digit too many', { amount: '0.1000000000000000001' }, [400, 'VALIDATION_ERROR']],
  ['another currency', { currency: 'DOGE' }, [400, 'CURRENCY_NOT_AVAILABLE']],
  ['no number', { amount: '1e3' }, [400, 'VALIDATION_ERROR']],
  ['a short key', { idempotencyKey: 'short' }, [400, 'VALIDATION_ERROR']],
  ['another fee mode', { feeMode: 'none' }, [400, 'VALIDATION_ERROR']],
  ['a tag where there are none', { destinationTag: '7' }, [400, 'VALIDATION_ERROR']],
])('refuses %s before it looks at the factor', async (what, over, expected) => {
  const ann = await sharedAnn();
  const to = await sharedEntry();
  const aim = ['an address', 'an entry', 'no address', 'neither'].some((start) => what.startsWith(start))
    ? {}
    : { address: to.address };
  const refused = await withdraw(ann, { ...aim, ...over, factor: 'wrong', totpCode: '000000' });
  expect(codeOf(refused)).toEqual(expected);
});
let shared: Promise<Rich> | undefined;
let entry: Promise<{ id: string; address: string }> | undefined;
const sharedAnn = () => (shared ??= rich());
const sharedEntry = async () => (entry ??= listed(await sharedAnn()));

it('an entry counts once its time has come, for its currency alone', async () => {
  const ann = await rich({ ETH: '1', USDT_ERC20: '10' });
  await ann.call('PATCH', '/api/v1/settings', { whitelistDelayHours: 1 });
  const to = await listed(ann);
  expect(codeOf(await withdraw(ann, { whitelistId: to.id }))).toEqual([400, 'ADDRESS_NOT_WHITELISTED']);
  expect(codeOf(await withdraw(ann, { address: to.address }))).toEqual([400, 'ADDRESS_NOT_WHITELISTED']);
  await h.db.query('UPDATE whitelist_entry SET active_at = now() WHERE id = $1', [to.id]);
  expect(codeOf(await withdraw(ann, { currency: 'USDT_ERC20', amount: '5', address: to.address }))).toEqual([
    400,
    'ADDRESS_NOT_WHITELISTED',
  ]);
  expect((await withdraw(ann, { whitelistId: to.id })).status).toBe(201);
});

it('from a listed place only, asked first of all, and the factor serves again', async () => {
  const ann = await rich();
  const to = await listed(ann);
  await ann.post('/api/v1/whitelist/ip', { ip: '10.88.0.1', totpCode: await ann.code() });
  const totpCode = await ann.code();
  const body = { ...askFor({ address: address() }), totpCode };
  expect(codeOf(await ann.post('/api/v1/withdrawals', body))).toEqual([403, 'IP_NOT_WHITELISTED']);
  const listedPlace = { 'X-Forwarded-For': '10.88.0.1' };
  expect(codeOf(await ann.post('/api/v1/withdrawals', body, listedPlace))).toEqual([400, 'ADDRESS_NOT_WHITELISTED']);
  expect((await ann.post('/api/v1/withdrawals', { ...body, address: to.address }, listedPlace)).status).toBe(201);
});

it('takes a mailed code of its own, an authenticator code once, and none that is missing or wrong', async () => {
  const ann = await rich();
  const to = await listed(ann);
  expect(codeOf(await withdraw(ann, { address: to.address, factor: 'none' }))).toEqual([400, 'VERIFICATION_FAILED']);
  expect(codeOf(await withdraw(ann, { address: to.address, factor: 'wrong', totpCode: '000000' }))).toEqual([
    401,
    'VERIFICATION_FAILED',
  ]);
  await ann.post('/api/v1/withdrawals/send-email-code');
  const emailCode = /\d{6}/.exec(await mailTo(h, ann.email))![0];
  expect((await withdraw(ann, { address: to.address, factor: 'mail', emailCode })).status).toBe(201);
  expect(codeOf(await withdraw(ann, { address: to.address, factor: 'mail', emailCode }))[0]).toBe(401);
  // A code for something else is none for this.
  await ann.post('/api/v1/whitelist/send-email-code');
  const other = /\d{6}/.exec(await mailTo(h, ann.email))![0];
  expect(codeOf(await withdraw(ann, { address: to.address, factor: 'mail', emailCode: other }))[0]).toBe(401);
  const totpCode = await ann.code();
  expect((await withdraw(ann, { address: to.address, factor: 'totp', totpCode })).status).toBe(201);
  expect(codeOf(await withdraw(ann, { address: to.address, factor: 'totp', totpCode }))[0]).toBe(401);
  expect((await balanceOf(ann)).reserved).toBe('0.2');
});

it('E: the same key: the first withdrawal with the same body, whatever the factor; refused with another', async () => {
  const ann = await rich();
  const to = await listed(ann);
  const body = { ...askFor({ address: to.address }), totpCode: await ann.code() };
  const answers = await atOnce(10, () => ann.post('/api/v1/withdrawals', body));
  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 201));
  expect(new Set(answers.map((answer) => answer.body.data._id)).size).toBe(1);
  expect(answers.filter((answer) => answer.headers.get('idempotency-replayed') === 'true')).toHaveLength(9);
  expect((await balanceOf(ann)).reserved).toBe('0.1');
  const { totpCode: _used, ...bare } = body;
  expect(codeOf(await ann.post('/api/v1/withdrawals', bare))).toEqual([400, 'VERIFICATION_FAILED']);
  const totpCode = await ann.code();
  for (const factor of [{ totpCode }, { totpCode: '000000' }, { passkeyResponse: { id: 'x' }, challengeKey: 'x' }]) {
    const again = await ann.post('/api/v1/withdrawals', { ...bare, ...factor });
    expect([again.status, again.body]).toEqual([201, answers[0]!.body]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  }
  expect(
    await h.db.query('SELECT FROM wrong_factor w JOIN dashboard_user u ON u.id = w.user_id WHERE u.email = $1', [
      ann.email,
    ]),
  ).toEqual([]);
  expect((await withdraw(ann, { address: to.address, factor: 'not used yet', totpCode })).status).toBe(201);
  for (const over of [{ amount: '0.2' }, { feeMode: 'add' }, { note: 'other' }])
    expect(codeOf(await ann.post('/api/v1/withdrawals', { ...body, ...over }))).toEqual([
      409,
      'IDEMPOTENCY_KEY_REUSED',
    ]);
});

it('a hundred at once out of a balance that covers fifty: fifty', async () => {
  const ann = await rich({ ETH: '5' });
  const to = await listed(ann);
  const { codecs } = h.api.deps;
  /** Until the answer is a definite one: a pool with no connection left has refused nothing. */
  const attempt = async (idempotencyKey: string): Promise<string> => {
    for (;;)
      try {
        const { row } = await h.db.transaction((tx) =>
          openWithdrawal(
            tx,
            { codecs, rateMaxAgeSeconds: 3600 },
            ann.merchantId,
            { currency: 'ETH', amount: '0.1', feeMode: 'deduct', address: to.address },
            { id: newId(), email: 'many' },
            idempotencyKey,
          ),
        );
        return row.id;
      } catch (error) {
        if (error instanceof DomainError) return error.code;
        if (!/connect|lock timeout/.test((error as Error).message)) throw error;
      }
  };
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => attempt(`many-${index}-${ann.merchantId}`)),
  );
  const refused = answers.filter((answer) => answer === 'INSUFFICIENT_BALANCE');
  expect(refused).toHaveLength(50);
  expect(new Set(answers.filter((answer) => answer !== 'INSUFFICIENT_BALANCE')).size).toBe(50);
  expect(await balanceOf(ann)).toMatchObject({ balance: '0', reserved: '5' });
});

it('belongs to its merchant, by right and by kind of credential', async () => {
  const ann = await rich();
  const bob = await rich();
  const to = await listed(ann);
  const made = (await withdraw(ann, { address: to.address })).body.data;
  const strange = await bob.get(`/api/v1/withdrawals/${made._id}`);
  expect(codeOf(strange)).toEqual([404, 'WITHDRAWAL_NOT_FOUND']);
  expect(codeOf(await bob.get('/api/v1/withdrawals/nonsense'))).toEqual([400, 'INVALID_ID']);
  expect(codeOf(await bob.post(`/api/v1/withdrawals/${made._id}/cancel`))).toEqual([404, 'WITHDRAWAL_NOT_FOUND']);
  expect(codeOf(await withdraw(bob, { whitelistId: to.id }))).toEqual([400, 'ADDRESS_NOT_WHITELISTED']);
  const viewer = await Person.member(ann, ['withdrawals:view']);
  expect((await viewer.get(`/api/v1/withdrawals/${made._id}`)).status).toBe(200);
  expect((await withdraw(viewer, { address: to.address })).status).toBe(403);
  const key = (
    await ann.post('/api/v1/api-keys', { name: 'k', scopes: ['withdrawals:read'], totpCode: await ann.code() })
  ).body.data.apiKey;
  expect((await h.call('GET', '/api/v1/withdrawals', { key })).body.data.total).toBe(1);
  const byKey = await h.call('POST', '/api/v1/withdrawals', { key, body: askFor({ address: to.address }) });
  expect([byKey.status, byKey.body]).toEqual([401, { error: 'Invalid or expired token' }]);
});

describe('what may leave', () => {
  it('a second person above a sum, never the first', async () => {
    const ann = await rich();
    const to = await listed(ann);
    const set = await ann.call('PATCH', '/api/v1/settings/egress-limits', {
      approvalUsd: '300',
      totpCode: await ann.code(),
    });
    expect(set.body).toMatchObject({ ok: true });
    expect(set.body.data).toMatchObject({
      limits: { approvalUsd: '300', dailyUsd: null },
      effective: { approvalUsd: '300' },
    });
    expect((await withdraw(ann, { address: to.address, amount: '0.05' })).body.data.status).toBe('pending');
    const made = (await withdraw(ann, { address: to.address })).body.data; // 320 dollars
    expect(made.status).toBe('awaiting_approval');
    const path = `/api/v1/withdrawals/${made._id}`;
    expect(codeOf(await ann.post(`${path}/approve`, { totpCode: await ann.code() }))).toEqual([
      403,
      'SECOND_PERSON_REQUIRED',
    ]);
    const bob = await Person.member(ann, ['withdrawals:manage']);
    const approved = await bob.post(`${path}/approve`, { totpCode: await bob.code() });
    expect(approved.body.data).toMatchObject({ status: 'pending', approvedBy: bob.email, requestedBy: ann.email });
    expect((await bob.post(`${path}/approve`, { totpCode: await bob.code() })).body.data.status).toBe('pending');
    const other = (await withdraw(ann, { address: to.address })).body.data;
    const rejected = await bob.post(`/api/v1/withdrawals/${other._id}/reject`, { totpCode: await bob.code() });
    expect(rejected.body.data.status).toBe('cancelled');
    expect(codeOf(await bob.post(`${path}/reject`, { totpCode: await bob.code() }))).toEqual([409, 'INVALID_STATE']);
    // What was not done again is not said again.
    const again = await bob.post(`/api/v1/withdrawals/${other._id}/reject`, { totpCode: await bob.code() });
    expect(again.body.data.status).toBe('cancelled');
    for (let n = 0; n < 2; n += 1) expect((await ann.post(`${path}/cancel`)).body.data.status).toBe('cancelled');
    const acts = async (id: string): Promise<string[]> =>
      (await h.db.query('SELECT action FROM audit_log WHERE target = $1 ORDER BY id', [id])).map(
        (act: { action: string }) => act.action.replace('withdrawal.', ''),
      );
    expect([await acts(made._id), await acts(other._id)]).toEqual([
      ['requested', 'approved', 'cancelled'],
      ['requested', 'rejected'],
    ]);
    // Looser counts a day later, tighter at once.
    const loose = await ann.call('PATCH', '/api/v1/settings/egress-limits', {
      approvalUsd: null,
      dailyUsd: '1000',
      totpCode: await ann.code(),
    });
    expect(loose.body.data).toMatchObject({
      limits: { approvalUsd: null, dailyUsd: '1000' },
      effective: { approvalUsd: '300', dailyUsd: '1000' },
    });
    const hoursUntil = (at: string): number => (Date.parse(at) - Date.now()) / 3_600_000;
    expect(hoursUntil(set.body.data.activeAt)).toBeLessThanOrEqual(0);
    expect(hoursUntil(loose.body.data.activeAt)).toBeGreaterThan(23);
    // What is set as it is was not changed: no entry, no mail, and no other hour.
    const mails = async (): Promise<number> =>
      (await h.db.query('SELECT FROM mail WHERE recipient = $1', [ann.email])).length;
    const [entries, told] = [await limitEntries(ann), await mails()];
    const same = await ann.call('PATCH', '/api/v1/settings/egress-limits', {
      dailyUsd: '1000.00',
      totpCode: await ann.code(),
    });
    expect(same.body.data).toEqual(loose.body.data);
    expect([await limitEntries(ann), await mails()]).toEqual([entries, told]);
    const tight = await ann.call('PATCH', '/api/v1/settings/egress-limits', {
      approvalUsd: '250',
      dailyUsd: '900',
      totpCode: await ann.code(),
    });
    expect(tight.body.data).toMatchObject({ effective: { approvalUsd: '250', dailyUsd: '900' } });
    expect(hoursUntil(tight.body.data.activeAt)).toBeLessThanOrEqual(0);
    const back = await ann.call('PATCH', '/api/v1/settings/egress-limits', {
      dailyUsd: '1000',
      totpCode: await ann.code(),
    });
    expect(back.body.data.effective).toMatchObject({ approvalUsd: '250', dailyUsd: '900' });
    expect(hoursUntil(back.body.data.activeAt)).toBeGreaterThan(23);
  });
  const limitEntries = async (person: Rich): Promise<number> =>
    (
      await h.db.query(`SELECT FROM audit_log WHERE merchant_id = $1 AND action = 'egress_limits.changed'`, [
        person.merchantId,
      ])
    ).length;

  it('so many dollars a day and so many an hour; what came back counts no more', async () => {
    const ann = await rich();
    const to = await listed(ann);
    await setLimits(h.db, ann.merchantId, { dailyUsd: '700', hourlyCount: 4, approvalUsd: null }, 'test', 0);
    const one = await withdraw(ann, { address: to.address });
    expect(one.status).toBe(201);
    expect((await withdraw(ann, { address: to.address })).status).toBe(201);
    expect(codeOf(await withdraw(ann, { address: to.address }))).toEqual([403, 'EGRESS_LIMIT_EXCEEDED']);
    await ann.post(`/api/v1/withdrawals/${one.body.data._id}/cancel`);
    expect((await withdraw(ann, { address: to.address })).status).toBe(201);
    expect((await withdraw(ann, { address: to.address, amount: '0.001' })).status).toBe(201);
    expect(codeOf(await withdraw(ann, { address: to.address, amount: '0.001' }))).toEqual([
      403,
      'EGRESS_LIMIT_EXCEEDED',
    ]);
  });

  it('nothing of a currency that is stopped, nor anything when all is', async () => {
    const ann = await rich({ ETH: '1' });
    const to = await listed(ann);
    for (const currency of ['ETH', '*']) {
      await freeze(h.db, currency, 'drill');
      expect(codeOf(await withdraw(ann, { address: to.address }))).toEqual([403, 'EGRESS_FROZEN']);
      await unfreeze(h.db, currency);
    }
    expect((await withdraw(ann, { address: to.address })).status).toBe(201);
  });

  it('not without a rate where a limit counts in dollars', async () => {
    const ann = await rich();
    const to = await listed(ann);
    await h.setRates(100_000);
    expect((await withdraw(ann, { address: to.address })).status).toBe(503);
    await h.setRates();
  });
});
