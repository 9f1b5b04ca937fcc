import { randomBytes } from 'node:crypto';
import { setLimits } from '../../db/limits/outbound';
import { post } from '../../db/ledger/ledger';
import { adjustment } from '../../domain/ledger/entry';
import { newId } from '../../domain/ids';
import { atOnce, startHarness, type Answer, type Harness } from './harness';
import { mailTo, Person } from './person';
import { settledPayment } from './refundable';

/** Above the sum that takes two people: who may be the second. */

let h: Harness;
let ann: Person;
let bob: Person;
let merchantId: string;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1', APPROVAL_COOLING_OFF_HOURS: '24' });
  ann = await Person.admin(h);
  await ann.post('/api/v1/merchant-wallets', { currency: 'ETH', totpCode: await ann.code() });
  merchantId = (await ann.get('/api/v1/auth/me')).body.merchantId;
  bob = await Person.member(ann, ['payments:manage', 'withdrawals:manage', 'mass-payouts:manage']);
  await setLimits(h.db, merchantId, { dailyUsd: null, hourlyCount: null, approvalUsd: '100' }, 'test', 0);
  await h.db.transaction((tx) =>
    post(tx, {
      key: 'test',
      entry: adjustment,
      postings: [{ debit: 'A:treasury', credit: `L:available:${merchantId}`, asset: 'ETH', amount: '100' }],
    }),
  );
});
afterAll(() => h.stop());
beforeEach(async () => {
  for (const table of ['rate_limit', 'wrong_factor']) await h.db.query(`DELETE FROM ${table}`);
});

const idOf = async (person: Person): Promise<string> => (await person.get('/api/v1/auth/me')).body.id;
/** As if everything that a person may do had been given so many hours before. */
const holdsSince = async (person: Person, hours: number): Promise<void> => {
  await h.db.query(
    `UPDATE user_right SET since = clock_timestamp() - make_interval(hours => $2)
      WHERE user_id = (SELECT id FROM dashboard_user WHERE email = $1)`,
    [person.email, hours],
  );
};
const outcome = (answer: Answer): string =>
  answer.body.data?.status ?? `${answer.status} ${answer.body.error?.code ?? answer.body.error}`;
const anAddress = (): string => h.api.deps.codecs.ethereum.normalise(`0x${randomBytes(20).toString('hex')}`)!;
const listed = async (): Promise<string> => {
  const address = anAddress();
  await ann.post('/api/v1/whitelist/wallet', { currency: 'ETH', address, totpCode: await ann.code() });
  return address;
};
const tooNew = '403 APPROVER_TOO_NEW';
const samePerson = '403 SECOND_PERSON_REQUIRED';

const kinds = {
  refunds: {
    permission: 'payments:manage',
    released: 'pending',
    async ask(person: Person, amount: string) {
      const shop = { id: merchantId, key: await keyOf(person) };
      const payment = await settledPayment(h, shop, { paid: '5', credit: '5' });
      const body = { type: 'partial', amount, address: anAddress(), totpCode: await person.code() };
      return person.post(`/api/v1/payments/${payment.id}/refunds`, body);
    },
  },
  withdrawals: {
    permission: 'withdrawals:manage',
    released: 'pending',
    ask: async (person: Person, amount: string) =>
      person.post('/api/v1/withdrawals', {
        ...{ currency: 'ETH', amount, feeMode: 'deduct', address: await listed() },
        ...{ idempotencyKey: `key-${newId()}`, totpCode: await person.code() },
      }),
  },
  'mass-payouts': {
    permission: 'mass-payouts:manage',
    released: 'queued',
    ask: async (person: Person, amount: string) =>
      person.post('/api/v1/mass-payouts', {
        rows: [{ currency: 'ETH', address: await listed(), amount }],
        totpCode: await person.code(),
      }),
  },
} as const;

let key: string | undefined;
const keyOf = async (person: Person): Promise<string> =>
  (key ??= (
    await person.post('/api/v1/api-keys', {
      ...{ name: 'shop', scopes: ['payments:create', 'refunds:create'], totpCode: await person.code() },
    })
  ).body.data.apiKey as string);

describe.each(Object.entries(kinds))('A7: %s above the limit', (kind, { permission, released, ask }) => {
  const large = '0.1'; // 320 USD
  const waiting = async (): Promise<string> => {
    const made = await ask(ann, large);
    expect(outcome(made)).toBe('awaiting_approval');
    return made.body.data._id;
  };
  const approve = async (by: Person, id: string): Promise<string> =>
    outcome(await by.post(`/api/v1/${kind}/${id}/approve`, { totpCode: await by.code() }));
  const grant = async (permissions: readonly string[], isActive = true): Promise<void> => {
    const path = `/api/v1/team-members/${await idOfRow(bob)}`;
    const changed = await ann.call('PATCH', path, { permissions, isActive, totpCode: await ann.code() });
    expect(changed.status).toBe(200);
    if (isActive) await bob.signIn();
  };
  const all = Object.values(kinds).map((one) => one.permission);

  it('wait for a second person whose right to approve is older than the cooling-off', async () => {
    await holdsSince(bob, 23);
    const id = await waiting();
    expect(await approve(ann, id)).toBe(samePerson);
    expect(await approve(bob, id)).toBe(tooNew);
    await holdsSince(bob, 25);
    expect(await approve(bob, id)).toBe(released);
    expect(await approve(bob, id)).toBe(released); // done already
  });

  const guesses = () => h.db.query<unknown[]>('SELECT user_id, kind FROM wrong_factor');
  const actsOn = (id: string) => h.db.query<unknown[]>('SELECT action FROM audit_log WHERE target = $1', [id]);
  const decide = (by: Person, id: string, verdict: string, body: object) => () =>
    by.call('POST', `/api/v1/${kind}/${id}/${verdict}`, body, {}, false);

  it('approved twice by a double click, and tried again, go once by one code', async () => {
    await holdsSince(bob, 25);
    const id = await waiting();
    const before = (await actsOn(id)).length;
    const send = decide(bob, id, 'approve', { totpCode: await bob.code() });
    const answers = [...(await atOnce(2, send)), await send()];
    expect(answers.map(outcome)).toEqual([released, released, released]);
    expect(await guesses()).toEqual([]);
    expect(await actsOn(id)).toHaveLength(before + 1);
    // Whoever has not approved it is no repeat.
    expect(outcome(await decide(ann, id, 'approve', { totpCode: '000000' })())).toBe('401 VERIFICATION_FAILED');
    expect(await guesses()).toHaveLength(1);
  });

  it('what is below it waits for nobody', async () => {
    expect(outcome(await ask(ann, '0.01'))).toBe(released);
  });

  it('a right that was taken away and given again is new, and so is one of a member who was inactive', async () => {
    await holdsSince(bob, 25);
    await grant(all.filter((one) => one !== permission));
    await grant(all);
    const id = await waiting();
    expect(await approve(bob, id)).toBe(tooNew);
    await holdsSince(bob, 25);
    await grant(all, false);
    await grant(all);
    expect(await approve(bob, id)).toBe(tooNew);
  });

  it('other rights that come or go leave it as old as it is', async () => {
    await holdsSince(bob, 25);
    await grant([...all, 'team:view']);
    await grant(all);
    expect(await approve(bob, await waiting())).toBe(released);
  });

  it('all admins hear by mail of who was given the right', async () => {
    await grant([]);
    await grant([permission]);
    const mail = await mailTo(h, ann.email);
    expect(mail).toContain(bob.email);
    expect(mail).toContain('approve');
    await grant(all);
  });
});

describe.each([
  ['refunds', kinds.refunds],
  ['withdrawals', kinds.withdrawals],
] as const)('A7: %s that are refused', (kind, { ask }) => {
  it('twice by a double click are refused once, by one code', async () => {
    const { _id } = (await ask(ann, '0.1')).body.data;
    const body = { totpCode: await bob.code() };
    const send = () => bob.call('POST', `/api/v1/${kind}/${_id}/reject`, body, {}, false);
    const answers = [...(await atOnce(2, send)), await send()];
    expect(answers.map(outcome)).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect(await h.db.query('SELECT FROM wrong_factor')).toEqual([]);
  });
});

const idOfRow = async (person: Person): Promise<string> =>
  (await h.db.query<Array<{ id: string }>>('SELECT id FROM dashboard_user WHERE email = $1', [person.email]))[0]!.id;

describe('A7: a newcomer', () => {
  it('is notified to all admins when he joins with a right to approve, and to nobody when without', async () => {
    const approvals = () =>
      h.db.query(`SELECT recipient FROM mail WHERE template = 'approver'`).then((rows: unknown[]) => rows.length);
    const before = await approvals();
    await Person.member(ann, ['payments:view']);
    expect(await approvals()).toBe(before);
    const carl = await Person.member(ann, ['withdrawals:manage']);
    expect(await approvals()).toBe(before + 1);
    expect(await mailTo(h, ann.email)).toContain(carl.email);
  });

  it('does not release a batch by a row that says one person did both', async () => {
    await holdsSince(bob, 25);
    const { body } = await kinds['mass-payouts'].ask(ann, '0.1');
    const approveAs = (by: string | null) =>
      h.db.query(
        `UPDATE payout_batch SET status = 'queued', approved_at = now(), approved_by_id = $2,
                state_version = state_version + 1 WHERE id = $1`,
        [body.data._id, by],
      );
    await expect(approveAs(await idOf(ann))).rejects.toThrow('payout_batch_second_person');
    await expect(approveAs(null)).rejects.toThrow('payout_batch_second_person');
  });
});
