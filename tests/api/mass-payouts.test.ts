import { randomBytes } from 'node:crypto';
import { audit } from '../../db/audit/audit';
import { setLimits } from '../../db/limits/outbound';
import { post } from '../../db/ledger/ledger';
import { addToWhitelist, removeFromWhitelist } from '../../db/wallets/whitelist';
import { newId } from '../../domain/ids';
import { add, subtract } from '../../domain/money';
import { atOnce, startHarness, type Answer, type Harness } from './harness';
import { mailTo, Person } from './person';
import { adjustment } from '../../domain/ledger/entry';

/** What may be queued, what is held for it, and every refusal. Nothing is sent here: there is no Temporal. */

const path = '/api/v1/mass-payouts';
let h: Harness;
let ann: Person;
let merchantId: string;
let userId: string;
let known: string;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
  ann = await Person.admin(h);
  const [row] = await h.db.query('SELECT id, merchant_id FROM dashboard_user WHERE email = $1', [ann.email]);
  merchantId = row.merchant_id;
  userId = row.id;
  known = await listed();
  for (const [asset, amount] of [
    ['ETH', '10'],
    ['USDT_ERC20', '5000'],
    ['BTC', '1'],
  ] as const)
    await h.db.transaction((tx) =>
      post(tx, {
        key: `test/${asset}`,
        entry: adjustment,
        postings: [{ debit: 'A:treasury', credit: `L:available:${merchantId}`, asset, amount }],
      }),
    );
});
afterAll(() => h?.stop());
beforeEach(() => h.db.query('DELETE FROM rate_limit'));
afterEach(async () =>
  expect(
    (await audit(h.db, { settleMs: 1 })).filter(({ invariant }) =>
      ['I1', 'I2', 'I3', 'I7', 'I9', 'I11'].includes(invariant),
    ),
  ).toEqual([]),
);

const address = (): string => `0x${randomBytes(20).toString('hex')}`;
/** On the whitelist, in its one spelling. */
async function listed(currencies: readonly string[] = ['ETH', 'USDT_ERC20'], to = address()): Promise<string> {
  const spelt = h.api.deps.codecs.ethereum.normalise(to)!;
  for (const currency of currencies)
    await addToWhitelist(
      h.db.manager,
      merchantId,
      { id: userId, email: ann.email },
      {
        type: 'wallet',
        currency,
        address: spelt,
        destinationTag: null,
      },
    );
  return spelt;
}
const eth = (amount = '0.5', to = known) => ({ currency: 'ETH', address: to, amount });
const usdt = (amount = '20', to = known) => ({ currency: 'USDT_ERC20', address: to, amount });
const codeOf = (answer: Answer): [number, string] => [answer.status, answer.body.error?.code];
const validate = (rows: unknown) => ann.post(`${path}/validate`, { rows });
const queue = async (rows: unknown, more: object = {}) => ann.post(path, { rows, totpCode: await ann.code(), ...more });
const balanceOf = async (currency: string) =>
  (await ann.get('/api/v1/ledger/balances')).body.balances.find(
    (one: { currency: string }) => one.currency === currency,
  ) as { balance: string; reserved: string };

describe('validate', () => {
  it('says of each row what would arrive, and of each currency what it takes', async () => {
    const answer = await validate([eth('0.50000000000000000099'), usdt('20.0000019'), usdt('30', known.toLowerCase())]);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({
      rows: [
        { rowIndex: 0, ...eth(), amount: 0.5, networkFee: 0.000042, netToDestination: 0.499958, valid: true },
        { rowIndex: 1, ...usdt(), amount: 20.000001, networkFee: 0.4832, netToDestination: 19.516801, valid: true },
        expect.objectContaining({ address: known.toLowerCase(), amount: 30, netToDestination: 29.5168, valid: true }),
      ],
      totalsByCurrency: { ETH: '0.5', USDT_ERC20: '50.000001' },
      feeByCurrency: { ETH: '0.000042', USDT_ERC20: '0.9664' },
      balanceByCurrency: { ETH: '10', USDT_ERC20: '5000' },
      canSubmit: true,
      reasons: [],
      overBalanceCurrencies: [],
    });
  });

  it.each<[string, object, number, string]>([
    ['currency', { currency: 'DOGE' }, 0.5, 'Unsupported currency'],
    ['address', { address: 'bc1qqqqq' }, 0.5, 'Not an address'],
    ['checksum', { address: '0xFB6916095ca1df60bB79Ce92cE3Ea74c37c5d359' }, 0.5, 'Not an address'],
    ['listing', { address: address() }, 0.5, 'not on the withdrawal whitelist for ETH'],
    ['listing for another currency', { currency: 'USDC_ERC20' }, 0.5, 'not on the withdrawal whitelist for USDC_ERC20'],
    ['amount', { amount: '12abc' }, 12, 'not a decimal number'],
    ['amount that is none', { amount: 'abc' }, 0, 'not a decimal number'],
    ['amount without a whole part', { amount: '.5' }, 0.5, 'not a decimal number'],
    ['amount beyond all', { amount: '1e400' }, 0, 'not a decimal number'],
    ['amount below the fee', { amount: '0.00001' }, 0.00001, 'After the network fee'],
    ['tag', { destinationTag: '7' }, 0.5, 'no destination tags'],
  ])('tells what is wrong with the %s', async (_what, change, amount, reason) => {
    const row = { ...eth(), ...change };
    const { data } = (await validate([eth('0.25'), row])).body;
    expect(data.rows[1]).toMatchObject({
      rowIndex: 1,
      currency: row.currency,
      address: row.address,
      amount,
      networkFee: null,
      netToDestination: null,
      valid: false,
    });
    expect(data.rows[1].error).toContain(reason);
    expect([data.canSubmit, data.totalsByCurrency]).toEqual([false, { ETH: '0.25' }]);
  });

  it('names the currencies that the balance does not cover', async () => {
    const { data } = (await validate([eth('10.000000000000000001'), usdt()])).body;
    expect([data.canSubmit, data.overBalanceCurrencies]).toEqual([false, ['ETH']]);
    expect((await validate([])).body.data.canSubmit).toBe(false);
  });

  it('says no where queueing would be refused: frozen, over a limit, from a network that is not listed', async () => {
    const submits = async (): Promise<boolean> => (await validate([eth('0.1')])).body.data.canSubmit;
    expect(await submits()).toBe(true);
    await h.db.query(`INSERT INTO egress_freeze (currency, reason) VALUES ('ETH', 'test')`);
    expect(await submits()).toBe(false);
    await h.db.query('DELETE FROM egress_freeze');
    await h.db.query(
      `INSERT INTO egress_limit (scope, daily_usd, set_by, active_at) VALUES ('platform', 1, 'test', now())`,
    );
    expect(await submits()).toBe(false);
    await h.db.query('DELETE FROM egress_limit');
    expect(await submits()).toBe(true);
  });

  it('does not pay an address of the service itself', async () => {
    const [own] = await h.db.query(
      `INSERT INTO address (network, address, role, key_index) VALUES ('ethereum', $1, 'treasury', 900)
         RETURNING address`,
      [await listed(['ETH'])],
    );
    expect((await validate([eth('1', own.address)])).body.data.rows[0].error).toContain('Not an address');
  });

  it('knows nothing of an entry that does not count yet, or no more', async () => {
    const [later, gone] = [await listed(['ETH']), await listed(['ETH'])];
    await h.db.query(`UPDATE whitelist_entry SET active_at = now() + interval '1 hour' WHERE address = $1`, [later]);
    const [entry] = await h.db.query('SELECT id FROM whitelist_entry WHERE address = $1', [gone]);
    await removeFromWhitelist(h.db.manager, merchantId, entry.id, userId);
    const { data } = (await validate([eth('1', later), eth('1', gone)])).body;
    expect(data.rows.map((row: { valid: boolean }) => row.valid)).toEqual([false, false]);
  });

  it('takes 500 rows, and bodies of 256 KB, and no more', async () => {
    const many = (n: number, pad = '') => Array.from({ length: n }, () => ({ ...eth('0.001'), pad }));
    expect((await validate(many(500, 'x'.repeat(350)))).body.data).toMatchObject({
      canSubmit: true,
      reasons: [],
      totalsByCurrency: { ETH: '0.5' },
      feeByCurrency: { ETH: '0.021' },
    });
    expect(codeOf(await validate(many(501)))).toEqual([400, 'VALIDATION_ERROR']);
    expect((await validate(many(500, 'x'.repeat(500)))).status).toBe(413);
    expect(codeOf(await validate([{ ...eth(), amount: 5 }]))).toEqual([400, 'VALIDATION_ERROR']);
  });
});

describe('queue', () => {
  it('holds every payment at once, and says so in the account statement, an event and the audit log', async () => {
    const before = [await balanceOf('ETH'), await balanceOf('USDT_ERC20')] as const;
    const made = await queue([eth('0.5'), usdt('20'), eth('0.25')], { label: 'May' });
    expect(made.status).toBe(201);
    const batch = made.body.data;
    expect(batch).toMatchObject({
      status: 'queued',
      label: 'May',
      rowCount: 3,
      totalsByCurrency: { ETH: '0.75', USDT_ERC20: '20' },
      feeByCurrency: { ETH: '0.000084', USDT_ERC20: '0.5504' },
      counts: { pending: 3, processing: 0, broadcast: 0, completed: 0, failed: 0, refunded: 0 },
      createdBy: ann.email,
    });
    expect(await balanceOf('ETH')).toMatchObject({
      balance: subtract(before[0].balance, '0.75'),
      reserved: add(before[0].reserved, '0.75'),
    });
    expect((await balanceOf('USDT_ERC20')).reserved).toBe(add(before[1].reserved, '20'));

    const one = (await ann.get(`${path}/${batch._id}`)).body.data;
    const { legs: lines, ...rest } = one;
    expect(rest).toEqual(batch);
    expect(
      lines.map((line: Record<string, unknown>) => [
        line.rowIndex,
        line.currency,
        line.amount,
        line.networkFee,
        line.netToDestination,
      ]),
    ).toEqual([
      [0, 'ETH', '0.5', '0.000042', '0.499958'],
      [1, 'USDT_ERC20', '20', '0.5504', '19.4496'],
      [2, 'ETH', '0.25', '0.000042', '0.249958'],
    ]);
    expect(lines[0]).toMatchObject({ status: 'pending', txId: null, merchantMessage: null, address: known });
    const page = (await ann.get(`${path}/${batch._id}/legs?limit=2&page=2&status=pending`)).body.data;
    expect(page).toEqual({ items: [lines[2]], total: 3 });
    expect((await ann.get(`${path}/${batch._id}/legs?status=failed`)).body.data).toEqual({ items: [], total: 0 });
    expect((await ann.get(`${path}?status=queued&limit=1`)).body.data.items).toEqual([batch]);
    expect((await ann.get(`${path}?dateTo=2020-01-01`)).body.data).toEqual({ items: [], total: 0 });

    const entries = (await ann.get(`/api/v1/ledger/history?sourceId=${batch._id}`)).body.items;
    expect(
      entries.map((entry: Record<string, unknown>) => [entry.type, entry.sourceType, entry.currency, entry.amount]),
    ).toEqual([
      ['reserve', 'massPayout', 'USDT_ERC20', '-20'],
      ['reserve', 'massPayout', 'ETH', '-0.25'],
      ['reserve', 'massPayout', 'ETH', '-0.5'],
    ]);
    const events = await h.db.query('SELECT type, data FROM event WHERE entity_id = $1', [batch._id]);
    expect(events).toEqual([{ type: 'mass_payout.created', data: batch }]);
    const [act] = await h.db.query('SELECT action, after FROM audit_log WHERE target = $1', [batch._id]);
    expect(act).toEqual({
      action: 'mass_payout.queued',
      after: { rowCount: 3, totals: batch.totalsByCurrency, label: 'May' },
    });
    const asked = await h.db.query('SELECT workflow FROM temporal_request WHERE workflow_id = $1', [
      `payout-batch/${batch._id}`,
    ]);
    expect(asked).toEqual([{ workflow: 'payoutBatch' }]);
  });

  it('refuses the whole for one row, and holds nothing', async () => {
    const before = await balanceOf('ETH');
    const rows = [eth('0.5'), eth('0.5', address()), { ...eth(), amount: 'x' }];
    const refused = await queue(rows);
    expect(codeOf(refused)).toEqual([400, 'BATCH_INVALID']);
    expect(refused.body.error.rows).toEqual((await validate(rows)).body.data.rows);
    expect(await balanceOf('ETH')).toEqual(before);
    expect(codeOf(await queue([eth('100')]))).toEqual([400, 'INSUFFICIENT_BALANCE']);
    expect(codeOf(await queue([]))).toEqual([400, 'VALIDATION_ERROR']);
    expect(codeOf(await queue([eth()], { label: 'x'.repeat(101) }))).toEqual([400, 'VALIDATION_ERROR']);
    expect(codeOf(await queue([eth()], { idempotencyKey: '1234567' }))).toEqual([400, 'VALIDATION_ERROR']);
    expect(await balanceOf('ETH')).toEqual(before);
  });

  it('needs one fresh factor of its own, which a refusal does not use up', async () => {
    expect(codeOf(await ann.post(path, { rows: [eth()] }))).toEqual([400, 'VERIFICATION_FAILED']);
    expect(codeOf(await ann.post(path, { rows: [eth()], totpCode: '000000' }))).toEqual([401, 'VERIFICATION_FAILED']);
    await ann.post('/api/v1/whitelist/send-email-code');
    const other = /\b\d{6}\b/.exec(await mailTo(h, ann.email))![0];
    expect(codeOf(await ann.post(path, { rows: [eth()], emailCode: other }))).toEqual([401, 'VERIFICATION_FAILED']);
    expect((await ann.post(`${path}/send-email-code`)).body.data.sent).toBe(true);
    const mail = await mailTo(h, ann.email);
    expect(mail).toContain('send a mass payout');
    const emailCode = /\b\d{6}\b/.exec(mail)![0];
    expect(codeOf(await ann.post(path, { rows: [eth('100')], emailCode }))).toEqual([400, 'INSUFFICIENT_BALANCE']);
    expect((await ann.post(path, { rows: [eth('0.1')], emailCode })).status).toBe(201);
    await h.db.query('DELETE FROM rate_limit');
    expect(codeOf(await ann.post(path, { rows: [eth('0.1')], emailCode }))).toEqual([401, 'VERIFICATION_FAILED']);
  });

  it('E: is queued once for a key; a repeat wants a factor, and does not use it', async () => {
    const idempotencyKey = `key-${newId()}`;
    const body = { rows: [eth('0.1'), usdt()], idempotencyKey };
    const first = await queue(body.rows, { idempotencyKey });
    expect(first.status).toBe(201);
    expect(codeOf(await ann.post(path, body))).toEqual([400, 'VERIFICATION_FAILED']);
    await h.db.query('DELETE FROM wrong_factor');
    const totpCode = await ann.code();
    for (const factor of [{ totpCode }, { totpCode: '000000' }, { passkeyResponse: { id: 'x' }, challengeKey: 'x' }]) {
      const again = await ann.post(path, { ...body, ...factor });
      expect([again.status, again.body.data]).toEqual([201, first.body.data]);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      await h.db.query('DELETE FROM rate_limit');
    }
    expect(codeOf(await ann.post(path, { ...body, rows: [eth('0.2'), usdt()], totpCode }))).toEqual([
      409,
      'IDEMPOTENCY_KEY_REUSED',
    ]);
    expect(await h.db.query('SELECT FROM wrong_factor')).toEqual([]);
    expect((await ann.post(path, { rows: [eth('0.01')], totpCode })).status).toBe(201);
    await h.db.query('DELETE FROM rate_limit');
    const at = { rows: [eth('0.01')], idempotencyKey: `at-${newId()}` };
    const codes = await ann.twoCodes();
    const both = await atOnce(2, (n) => ann.post(path, { ...at, totpCode: codes[n] }));
    expect(both.map((one) => one.status)).toEqual([201, 201]);
    expect(both.filter((one) => one.headers.get('idempotency-replayed') === 'true')).toHaveLength(1);
    const [made] = await h.db.query('SELECT count(*)::int AS n FROM payout_batch WHERE idempotency_key = $1', [
      at.idempotencyKey,
    ]);
    expect(made.n).toBe(1);
  });

  it('twice at once with one code: one batch, and both are told of it', async () => {
    const body = { rows: [eth('0.01')], idempotencyKey: `same-${newId()}`, totpCode: await ann.code() };
    const both = await atOnce(2, () => ann.post(path, body));
    expect(both.map((one) => one.status)).toEqual([201, 201]);
    expect(both[0]!.body).toEqual(both[1]!.body);
  });

  it('waits for a second person where its sum is above the limit, and says who it was once', async () => {
    const approve = async (who: Person, id: string) =>
      who.post(`${path}/${id}/approve`, { totpCode: await who.code() });
    const bob = await Person.member(ann, ['mass-payouts:manage']);
    const free = (await queue([eth('0.01')])).body.data._id as string;
    expect(codeOf(await approve(bob, free))).toEqual([409, 'INVALID_STATE']);
    await setLimits(h.db.manager, merchantId, { dailyUsd: null, hourlyCount: null, approvalUsd: '20' }, 'test', 0);
    const held = (await queue([eth('0.01')])).body.data._id as string;
    expect(codeOf(await approve(ann, held))).toEqual([403, 'SECOND_PERSON_REQUIRED']);
    const first = await approve(bob, held);
    expect(first.body.data).toMatchObject({ status: 'queued', approvedBy: bob.email });
    expect((await approve(bob, held)).body.data).toEqual(first.body.data);
    await h.db.query('DELETE FROM egress_limit');
    const acts = await h.db.query('SELECT target, action FROM audit_log WHERE target = ANY($1) ORDER BY id', [
      [free, held],
    ]);
    expect(acts.map((act: { target: string; action: string }) => [act.target, act.action])).toEqual([
      [free, 'mass_payout.queued'],
      [held, 'mass_payout.queued'],
      [held, 'mass_payout.approved'],
    ]);
  });

  it('comes from a listed address only, whatever the factor', async () => {
    const entry = await addToWhitelist(
      h.db.manager,
      merchantId,
      { id: userId, email: ann.email },
      { type: 'ip', ip: '198.51.100.7' },
    );
    const totpCode = await ann.code();
    for (const factor of [{ totpCode }, { totpCode: '000000' }, {}])
      expect(codeOf(await ann.post(path, { rows: [eth('0.1')], ...factor }))).toEqual([403, 'IP_NOT_WHITELISTED']);
    expect((await ann.post(`${path}/validate`, { rows: [eth('0.1')] })).body.data.canSubmit).toBe(false);
    const inside = await ann.post(path, { rows: [eth('0.1')], totpCode }, { 'X-Forwarded-For': '198.51.100.7' });
    expect(inside.status).toBe(201); // the code was not spent
    await removeFromWhitelist(h.db.manager, merchantId, entry.id, userId);
  });

  it('is for people: keys are tokens that are none, and members need the permission', async () => {
    const made = await ann.post('/api/v1/api-keys', {
      name: 'k',
      scopes: ['payouts:read'],
      totpCode: await ann.code(),
    });
    const key = made.body.data.apiKey as string;
    for (const [where, body] of [
      ['', { rows: [eth()] }],
      ['/validate', { rows: [] }],
      [`/${newId()}/cancel`, {}],
    ] as const) {
      const answer = await h.call('POST', path + where, { key, body });
      expect([answer.status, answer.body]).toEqual([401, { error: 'Invalid or expired token' }]);
    }
    expect((await h.call('GET', path, { key })).status).toBe(200);
    const bob = await Person.member(ann, ['mass-payouts:view']);
    expect((await bob.get(path)).status).toBe(200);
    const refused = await bob.post(`${path}/validate`, { rows: [] });
    expect([refused.status, refused.body.requiredPermission]).toEqual([403, 'mass-payouts:manage']);
  });

  it('answers of what is not there, or another’s, the same', async () => {
    const { _id } = (await queue([eth('0.1')])).body.data;
    const eve = await Person.admin(h);
    for (const what of ['', '/legs', '/export.csv']) {
      const [foreign, unknown] = [await eve.get(`${path}/${_id}${what}`), await eve.get(`${path}/${newId()}${what}`)];
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
      expect(foreign.body.error.code).toBe('BATCH_NOT_FOUND');
    }
    expect(codeOf(await eve.post(`${path}/${_id}/cancel`))).toEqual([404, 'BATCH_NOT_FOUND']);
    expect(codeOf(await ann.post(`${path}/nonsense/cancel`))).toEqual([400, 'INVALID_ID']);
  });

  it('holds its limits', async () => {
    const asked: number[] = [];
    const eve = await Person.admin(h);
    for (let n = 0; n < 7; n += 1) asked.push((await eve.post(path, { rows: [eth()] })).status);
    expect(asked).toEqual([...Array(6).fill(400), 429]);
  });

  it('queues 500 rows in one transaction', async () => {
    const before = await balanceOf('ETH');
    const made = await queue(Array.from({ length: 500 }, () => eth('0.001')));
    expect([made.status, made.body.data.totalsByCurrency]).toEqual([201, { ETH: '0.5' }]);
    expect((await balanceOf('ETH')).reserved).toBe(add(before.reserved, '0.5'));
    expect((await ann.get(`${path}/${made.body.data._id}`)).body.data.legs).toHaveLength(500);
  });
});

describe('cancel', () => {
  it('brings back what is not signed, once', async () => {
    const before = [await balanceOf('ETH'), await balanceOf('USDT_ERC20')];
    const { _id } = (await queue([eth('0.1'), eth('0.2'), usdt('20')])).body.data;
    const back = await ann.post(`${path}/${_id}/cancel`);
    const figures = { refundedLegs: 3, refundedByCurrency: { ETH: '0.3', USDT_ERC20: '20' }, sentLegs: 0 };
    expect([back.status, back.body.data]).toEqual([200, { _id, status: 'cancelled', ...figures }]);
    expect([await balanceOf('ETH'), await balanceOf('USDT_ERC20')]).toEqual(before);
    expect((await ann.post(`${path}/${_id}/cancel`)).body).toEqual(back.body);
    const one = (await ann.get(`${path}/${_id}`)).body.data;
    expect([one.status, one.counts.refunded, one.completedAt]).toEqual(['cancelled', 3, expect.any(String)]);
    const types = await h.db.query('SELECT type FROM event WHERE entity_id = $1 ORDER BY seq', [_id]);
    expect(types.map((row: { type: string }) => row.type)).toEqual(['mass_payout.created', 'mass_payout.cancelled']);
    const acts = await h.db.query('SELECT action FROM audit_log WHERE target = $1 ORDER BY id', [_id]);
    expect(acts.map((row: { action: string }) => row.action)).toEqual(['mass_payout.queued', 'mass_payout.cancelled']);
    const entries = (await ann.get(`/api/v1/ledger/history?sourceId=${_id}&type=release`)).body.items;
    expect(entries).toHaveLength(3);
  });
});

describe('files', () => {
  const send = (text: string, type = 'text/csv') =>
    ann.h.call('POST', `${path}/import`, {
      text,
      headers: {
        'Content-Type': type,
        Origin: 'http://localhost:3002',
        Cookie: [...ann.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
    });

  it('come back as rows, whatever the order of their columns', async () => {
    const template = (await ann.get(`${path}/template.csv`)).text;
    expect(template).toBe('currency,address,amount,destinationTag\n');
    const rows = [eth('0.5'), { ...usdt('20'), destinationTag: '7' }];
    const filled = `${template}ETH,${known},0.5,\nUSDT_ERC20,${known},20,7\n`;
    expect((await send(filled)).body.data).toEqual({ rows });
    const other = `\uFEFFnote;x,"Amount",ADDRESS,currency\r\n"a,b",0.5,"${known}",ETH\r\n\r\n`;
    expect((await send(other)).body.data).toEqual({ rows: [eth('0.5')] });
  });

  it.each<[string, string, string]>([
    ['a column is missing', 'currency,address\nETH,0x1\n', 'currency, address and amount'],
    ['a column is there twice', 'currency,address,amount,Amount\nETH,0x1,1,2\n', 'there twice'],
    ['a quote stays open', 'currency,address,amount\n"ETH,0x1,5\n', 'Not a CSV file'],
    ['there are too many', `currency,address,amount\n${'ETH,0x1,5\n'.repeat(501)}`, 'More than 500'],
    ['a cell holds control characters', 'currency,address,amount\nETH,0x1,"5\n6"\n', 'control characters'],
  ])('are refused where %s', async (_what, text, reason) => {
    const answer = await send(text);
    expect(codeOf(answer)).toEqual([400, 'CSV_INVALID']);
    expect(answer.body.error.message).toContain(reason);
  });

  it('name a row with a cell too many or too few with others, and take no part of an amount', async () => {
    const text = `currency,address,amount,note\nETH,${known},1,5,x\nETH,${known},0.5,y\nETH,${known}\nETH,foo,0.1,z\n`;
    const { rows } = (await send(text)).body.data;
    expect(rows).toEqual([eth('1,5,x'), eth('0.5'), eth(''), { currency: 'ETH', address: 'foo', amount: '0.1' }]);
    const { data } = (await ann.post(`${path}/validate`, { rows })).body;
    const wrong = data.rows.map((one: { error?: string }) => one.error !== undefined);
    expect([data.canSubmit, wrong]).toEqual([false, [true, false, true, true]]);
  });

  it('of another kind or size are refused', async () => {
    expect((await send('{}', 'application/json')).status).toBe(415);
    expect((await send('x'.repeat(257 * 1024))).status).toBe(413);
  });

  it('of a batch are safe to open', async () => {
    const { _id } = (await queue([eth('0.1'), usdt('20')])).body.data;
    await h.db.query(`UPDATE payout_leg SET merchant_message = '=1+1' WHERE batch_id = $1 AND row_index = 1`, [_id]);
    const file = await ann.get(`${path}/${_id}/export.csv`);
    expect(file.headers.get('content-type')).toContain('text/csv');
    const lines = file.text.trim().split('\n');
    expect(lines[0]).toContain(
      'rowIndex,currency,address,destinationTag,amount,networkFee,netToDestination,status,txId',
    );
    expect(lines).toHaveLength(3);
    expect(lines[2]).toContain(`,1,USDT_ERC20,${known},,20,0.5504,19.4496,pending,,'=1+1,`);
  });
});
