import { randomBytes } from 'node:crypto';
import { armFailPoints } from '../../db/fail-point';
import { freeze, setLimits, unfreeze } from '../../db/limits/outbound';
import { post } from '../../db/ledger/ledger';
import { newId } from '../../domain/ids';
import { startHarness, type Answer, type Harness } from './harness';
import { mailTo, Person } from './person';
import { adjustment } from '../../domain/ledger/entry';

/** What every act that releases money, or says whereto, has in common: its factor, its refusals, and an API that dies
 *  on the way. */

let h: Harness;
let ann: Person;
let bob: Person;
let merchantId: string;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
  armFailPoints(h.db);
  ann = await Person.admin(h);
  merchantId = (await ann.get('/api/v1/auth/me')).body.merchantId;
  bob = await Person.member(ann, ['withdrawals:manage', 'mass-payouts:manage', 'whitelist:manage']);
  await h.db.transaction((tx) =>
    post(tx, {
      key: 'test',
      entry: adjustment,
      postings: [{ debit: 'A:treasury', credit: `L:available:${merchantId}`, asset: 'ETH', amount: '100' }],
    }),
  );
});
afterAll(async () => {
  await h.stop();
});
beforeEach(() => forget());
/** Limits and locks are per minute and per user; here each test starts with none of them used up. */
const forget = async (): Promise<void> => {
  for (const table of ['rate_limit', 'wrong_factor']) await h.db.query(`DELETE FROM ${table}`);
};

const codeOf = (answer: Answer): [number, string] => [answer.status, answer.body.error?.code ?? answer.body.error];
const anAddress = (): string => h.api.deps.codecs.ethereum.normalise(`0x${randomBytes(20).toString('hex')}`)!;
async function listed(): Promise<{ id: string; address: string }> {
  const body = { currency: 'ETH', address: anAddress(), totpCode: await ann.code() };
  return (await ann.post('/api/v1/whitelist/wallet', body)).body.data;
}
const ask = (address: string) => ({
  ...{ currency: 'ETH', amount: '0.1', feeMode: 'deduct', address },
  idempotencyKey: `key-${newId()}`,
});
const rows = (address: string) => ({ rows: [{ currency: 'ETH', address, amount: '0.1' }] });
const limits = (approvalUsd: string | null) =>
  setLimits(h.db, merchantId, { dailyUsd: null, hourlyCount: null, approvalUsd }, 'test', 0);
/** One of each that waits for a second person. */
async function waiting(kind: 'withdrawals' | 'mass-payouts'): Promise<string> {
  const { address } = await listed();
  await limits('1');
  const body = kind === 'withdrawals' ? ask(address) : rows(address);
  const made = await ann.post(`/api/v1/${kind}`, { ...body, totpCode: await ann.code() });
  await limits(null);
  expect(made.body.data.status).toBe('awaiting_approval');
  return made.body.data._id;
}
const reserved = async (): Promise<string> =>
  (await ann.get('/api/v1/ledger/balances')).body.balances.find((one: { currency: string }) => one.currency === 'ETH')
    .reserved;

type Act = (factor: object) => Promise<Answer>;
type Prepared = readonly [name: string, area: string, prepare: () => Promise<readonly [Person, Act]>];
/** What a second person says to one of them. */
const decision = (what: string, kind: 'withdrawals' | 'mass-payouts', verdict: 'approve' | 'reject'): Prepared => [
  `the ${verdict === 'approve' ? 'approval' : 'rejection'} of ${what}`,
  kind,
  async () => {
    const id = await waiting(kind);
    return [bob, (factor) => bob.post(`/api/v1/${kind}/${id}/${verdict}`, factor)];
  },
];
const acts: readonly Prepared[] = [
  [
    'a withdrawal',
    'withdrawals',
    async () => {
      const body = ask((await listed()).address);
      return [ann, (factor) => ann.post('/api/v1/withdrawals', { ...body, ...factor })];
    },
  ],
  decision('a withdrawal', 'withdrawals', 'approve'),
  decision('a withdrawal', 'withdrawals', 'reject'),
  [
    'a mass payout',
    'mass-payouts',
    async () => {
      const body = rows((await listed()).address);
      return [ann, (factor) => ann.post('/api/v1/mass-payouts', { ...body, ...factor })];
    },
  ],
  decision('a mass payout', 'mass-payouts', 'approve'),
  [
    'an address for the whitelist',
    'whitelist',
    async () => {
      const body = { currency: 'ETH', address: anAddress() };
      return [ann, (factor) => ann.post('/api/v1/whitelist/wallet', { ...body, ...factor })];
    },
  ],
  [
    'a place for the whitelist',
    'whitelist',
    async () => [
      ann,
      async (factor) => {
        const added = await ann.post('/api/v1/whitelist/ip', { ip: '198.51.100.0/24', ...factor });
        await h.db.query(`UPDATE whitelist_entry SET active_at = 'infinity' WHERE type = 'ip'`);
        return added;
      },
    ],
  ],
  [
    'an entry off the whitelist',
    'whitelist',
    async () => {
      const { id } = await listed();
      return [ann, (factor) => ann.post(`/api/v1/whitelist/${id}/delete`, factor)];
    },
  ],
];

describe.each(acts)('%s', (_name, area, prepare) => {
  it('wants exactly one fresh factor of its own, and is not done without', async () => {
    const [who, send] = await prepare();
    const act: Act = async (factor) => {
      await h.db.query('DELETE FROM rate_limit');
      return send(factor);
    };
    await forget();
    const held = await reserved();
    const mailed = async (path: string): Promise<string> => {
      expect((await who.post(path)).status).toBe(200);
      return /\b\d{6}\b/.exec(await mailTo(h, who.email))![0];
    };
    const other = await mailed(`/api/v1/${area === 'withdrawals' ? 'mass-payouts' : 'withdrawals'}/send-email-code`);
    const own = await mailed(`/api/v1/${area}/send-email-code`);
    const missing = [400, 'VERIFICATION_FAILED'];
    expect(codeOf(await act({}))).toEqual(missing);
    expect(codeOf(await act({ emailCode: own, totpCode: await who.code() }))).toEqual(missing);
    expect(codeOf(await act({ passkeyResponse: {} }))).toEqual(missing);
    expect(codeOf(await act({ challengeKey: 'x' }))).toEqual(missing);
    const wrong = [401, 'VERIFICATION_FAILED'];
    expect(codeOf(await act({ totpCode: '000000' }))).toEqual(wrong);
    expect(codeOf(await act({ emailCode: other }))).toEqual(wrong);
    expect(codeOf(await act({ passkeyResponse: { id: 'x' }, challengeKey: 'x' }))).toEqual(wrong);
    // Backup codes are for logins.
    await forget();
    expect(codeOf(await act({ totpCode: 'a'.repeat(16) }))).toEqual([400, 'VALIDATION_ERROR']);
    expect(codeOf(await act({ emailCode: 'a'.repeat(16) }))).toEqual(wrong);
    const bare = 'UPDATE dashboard_user SET totp_enabled_at = $2 WHERE email = $1';
    await h.db.query(bare, [who.email, null]);
    expect(codeOf(await act({ totpCode: await who.code() }))).toEqual([403, 'VERIFICATION_FAILED']);
    await h.db.query(bare, [who.email, new Date()]);
    expect(await reserved()).toBe(held);

    // The fifth wrong guess voids the mailed code: the two above were the first.
    await forget();
    const guess = own === '111111' ? '222222' : '111111';
    const told: number[] = [];
    for (let n = 0; n < 3; n += 1) told.push((await act({ emailCode: guess })).status);
    expect(told).toEqual([401, 401, 429]);
    expect(codeOf(await act({ emailCode: own }))).toEqual([429, 'VERIFICATION_FAILED']);
    expect(await reserved()).toBe(held);
    await forget();
    const again = await mailed(`/api/v1/${area}/send-email-code`);
    expect((await act({ emailCode: again })).status).toBeLessThan(300);
    await h.db.query('DELETE FROM wrong_factor');
  });
});

it.each(['withdrawals', 'mass-payouts', 'whitelist'])(
  'mails three codes for %s in a quarter of an hour',
  async (area) => {
    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await ann.post(`/api/v1/${area}/send-email-code`)).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
  },
);

it.each([
  ['/api/v1/mass-payouts/validate', 30],
  [`/api/v1/mass-payouts/${newId()}/cancel`, 10],
])('takes %s %i times a minute', async (path, times) => {
  const statuses = [];
  for (let n = 0; n <= times; n += 1) statuses.push((await bob.post(path, { rows: [] })).status);
  expect(statuses.slice(0, -1)).not.toContain(429);
  expect(statuses.at(-1)).toBe(429);
});

describe.each(['withdrawals', 'mass-payouts'] as const)('of %s', (kind) => {
  const path = `/api/v1/${kind}`;
  const body = async () => {
    const { address } = await listed();
    return kind === 'withdrawals' ? ask(address) : { ...rows(address), idempotencyKey: `key-${newId()}` };
  };
  const missing = kind === 'withdrawals' ? 'WITHDRAWAL_NOT_FOUND' : 'BATCH_NOT_FOUND';

  it('one that waits is approved by somebody else, from a listed place, once', async () => {
    const id = await waiting(kind);
    const factor = async (who: Person) => ({ totpCode: await who.code() });
    expect(codeOf(await ann.post(`${path}/${id}/approve`, await factor(ann)))).toEqual([403, 'SECOND_PERSON_REQUIRED']);
    for (const unknown of [newId()])
      expect(codeOf(await bob.post(`${path}/${unknown}/approve`, await factor(bob)))).toEqual([404, missing]);
    const eve = await Person.admin(h);
    expect(codeOf(await eve.post(`${path}/${id}/approve`, await factor(eve)))).toEqual([404, missing]);
    await h.db.query(`UPDATE whitelist_entry SET active_at = now() WHERE type = 'ip' AND merchant_id = $1`, [
      merchantId,
    ]);
    const totpCode = await bob.code();
    expect(codeOf(await bob.post(`${path}/${id}/approve`, { totpCode }))).toEqual([403, 'IP_NOT_WHITELISTED']);
    const inside = { 'X-Forwarded-For': '198.51.100.9' };
    expect((await bob.post(`${path}/${id}/approve`, { totpCode }, inside)).status).toBe(200); // not spent above
    await h.db.query(`UPDATE whitelist_entry SET active_at = 'infinity' WHERE type = 'ip'`);
    await ann.post(`${path}/${id}/cancel`);
    expect(codeOf(await bob.post(`${path}/${id}/approve`, await factor(bob)))).toEqual([409, 'INVALID_STATE']);
  });

  it('none is taken that is stopped, above a limit, or without a price that a limit needs', async () => {
    const asked = await body();
    const totpCode = await ann.code();
    const attempt = async () => codeOf(await ann.post(path, { ...asked, totpCode }));
    for (const currency of ['ETH', '*']) {
      await freeze(h.db, currency, 'drill');
      expect(await attempt()).toEqual([403, 'EGRESS_FROZEN']);
      await unfreeze(h.db, currency);
    }
    await setLimits(h.db, merchantId, { dailyUsd: '1', hourlyCount: null, approvalUsd: null }, 'test', 0);
    expect(await attempt()).toEqual([403, 'EGRESS_LIMIT_EXCEEDED']);
    await setLimits(h.db, merchantId, { dailyUsd: '1000000', hourlyCount: null, approvalUsd: null }, 'test', 0);
    await h.setRates(100_000);
    expect(await attempt()).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
    await h.setRates();
    await limits(null);
    expect((await ann.post(path, { ...asked, totpCode })).status).toBe(201);
  });

  it('what is signed, or has ended, is no longer cancelled', async () => {
    const made = (await ann.post(path, { ...(await body()), totpCode: await ann.code() })).body.data;
    if (kind === 'withdrawals')
      await h.db.query(`UPDATE withdrawal SET status = 'processing', state_version = state_version + 1 WHERE id = $1`, [
        made._id,
      ]);
    else
      await h.db.query(
        `UPDATE payout_leg SET status = 'failed', state_version = state_version + 1 WHERE batch_id = $1`,
        [made._id],
      );
    const code = kind === 'withdrawals' ? 'INVALID_STATE' : 'BATCH_NOT_CANCELLABLE';
    expect(codeOf(await ann.post(`${path}/${made._id}/cancel`))).toEqual([409, code]);
  });

  it('is nothing for keys, strangers, and other sites', async () => {
    const { key } = await h.shop();
    const answer = await h.call('POST', path, { key, body: await body() });
    expect([answer.status, answer.body]).toEqual([401, { error: 'Invalid or expired token' }]);
    const nobody = await h.call('POST', path, { body: await body() });
    expect([nobody.status, nobody.body]).toEqual([401, { error: 'Invalid or expired token' }]);
    const elsewhere = await ann.post(path, await body(), { Origin: 'https://evil.example' });
    expect(codeOf(elsewhere)).toEqual([403, 'CSRF_ORIGIN_MISMATCH']);
    const operator = await Person.superAdmin(h);
    expect((await operator.post(path, await body())).status).toBe(400); // no merchant
  });

  const [beforeCommit, afterCommit] =
    kind === 'withdrawals'
      ? ['withdrawal.beforeCommit', 'withdrawal.afterCommit']
      : ['payout.beforeCommit', 'payout.afterCommit'];
  const arm = (point = '') =>
    h.db.query(
      `INSERT INTO fail_point (name, action, remaining) VALUES ($1, 'throw', 1)
         ON CONFLICT (name) DO UPDATE SET remaining = 1`,
      [point],
    );

  it('C1: what fails before its commit has held nothing, and the factor serves again', async () => {
    const asked = { ...(await body()), totpCode: await ann.code() };
    const before = await reserved();
    await arm(beforeCommit);
    expect((await ann.post(path, asked)).status).toBe(500);
    expect(await reserved()).toBe(before);
    const made = await ann.post(path, asked);
    expect(made.status).toBe(201);
    expect(await reserved()).not.toBe(before);
  });

  it('C2: what fails after its commit is there, held and asked for; a retry finds it', async () => {
    const asked = { ...(await body()), totpCode: await ann.code() };
    const { total } = (await ann.get(path)).body.data;
    await arm(afterCommit);
    expect((await ann.post(path, asked)).status).toBe(500);
    const list = (await ann.get(path)).body.data;
    expect(list.total).toBe(total + 1);
    const held = await reserved();
    const again = await ann.post(path, asked);
    expect([again.status < 300, again.body.data]).toEqual([true, list.items[0]]);
    expect(await reserved()).toBe(held);
    const workflow = `${kind === 'withdrawals' ? 'withdrawal' : 'payout-batch'}/${again.body.data._id}`;
    expect(await h.db.query('SELECT FROM temporal_request WHERE workflow_id = $1', [workflow])).toHaveLength(1);
  });
});

it('a withdrawal is approved to an address that is still listed', async () => {
  const id = await waiting('withdrawals');
  await h.db.query(
    `UPDATE whitelist_entry SET removed_at = now() WHERE address = (SELECT address FROM withdrawal WHERE id = $1)`,
    [id],
  );
  const factor = { totpCode: await bob.code() };
  expect(codeOf(await bob.post(`/api/v1/withdrawals/${id}/approve`, factor))).toEqual([400, 'ADDRESS_NOT_WHITELISTED']);
  for (const unknown of [newId()])
    expect(codeOf(await bob.post(`/api/v1/withdrawals/${unknown}/reject`, { totpCode: await bob.code() }))).toEqual([
      404,
      'WITHDRAWAL_NOT_FOUND',
    ]);
});
