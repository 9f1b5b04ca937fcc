import { operate } from '../../api/operator';
import { operatorActs } from '../../commands/operators';
import { cancelRequest, confirmRequest, fileRequest } from '../../commands/operators/requests';
import { newId } from '../../domain/ids';
import { freeze, isFrozen, limitsOf, setLimits } from '../../db/limits/outbound';
import type { OutboundLimits } from '../../domain/limits/limits';
import { openIncident } from '../../db/incidents';
import { post } from '../../db/ledger/ledger';
import { adjustment } from '../../domain/ledger/entry';
import { anOperator, byTwoOperators } from '../operators';
import { startHarness, type Harness } from './harness';
import { Person } from './person';

let h: Harness;
let [ann, bob]: Person[] = [];
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
  ann = await Person.superAdmin(h);
  bob = await Person.superAdmin(h);
  await h.db.query(`UPDATE dashboard_user SET created_at = now() - interval '25 hours' WHERE role = 'super_admin'`);
  h.api.deps.sessions.forget();
});
afterAll(() => h?.stop());
beforeEach(async () => {
  await h.db.query('DELETE FROM egress_freeze');
  await h.db.query('DELETE FROM rate_limit');
});

const path = '/api/v1/platform/operator-requests';
const shell = (...args: string[]) => operate(h.db, h.api.deps.config, args);
const freezeEth = () => h.db.transaction((tx) => freeze(tx, 'ETH', 'drill'));
const isStopped = () => isFrozen(h.db, 'ETH');
const file = async (by: Person, kind: string, payload: object, reason = 'looked into') =>
  by.post(path, { kind, payload, reason, totpCode: await by.code() });
const confirm = async (by: Person, id: string) => by.post(`${path}/${id}/confirm`, { totpCode: await by.code() });
const acts = async (action: string) =>
  h.db.query<Array<{ actor_name: string; after: object; target: string }>>(
    'SELECT actor_name, after, target FROM audit_log WHERE action = $1 ORDER BY id',
    [action],
  );

describe('A12: acts of operators on money', () => {
  it('are asked for from a shell, which executes none of them', async () => {
    await freezeEth();
    const said = await shell('request', 'unfreeze', 'eth', 'the', 'fork', 'is', 'over');
    expect(said).toMatch(/Lift the freeze of ETH: drill[\s\S]*Request [0-9a-f]{24} is filed/);
    expect(await isStopped()).toBe(true);
    expect(await shell('requests')).toContain('0 of 2 confirmations');
    for (const gone of ['unfreeze', 'conversion-fail'])
      await expect(shell(gone, 'ETH', 'over')).rejects.toThrow('Usage');
    await expect(shell('request', 'unfreeze', 'ETH')).rejects.toThrow('Usage');
    await expect(shell('request', 'print-money', 'ETH', 'x')).rejects.toThrow('Usage');
    await expect(shell('request', 'unfreeze', 'BTC', 'x')).rejects.toThrow('There is no freeze of BTC');
    await expect(shell('request', 'unfreeze', 'ETH', 'again')).rejects.toThrow('asks for the same');
    expect(await isStopped()).toBe(true);
  });

  it('are executed once, by the confirmations of two operators', async () => {
    await h.db.query('UPDATE operator_request SET state = $1, ended_at = now()', ['cancelled']);
    await freezeEth();
    const filed = await file(ann!, 'unfreeze', { currency: 'ETH' });
    expect(filed.status).toBe(201);
    const { id } = filed.body.data;
    expect(filed.body.data).toMatchObject({
      kind: 'unfreeze',
      payload: { currency: 'ETH' },
      summary: 'Lift the freeze of ETH: drill',
      state: 'open',
      askedBy: ann!.email,
      confirmations: [],
      confirmationsNeeded: 2,
    });
    const first = await confirm(ann!, id);
    expect(first.body.data).toMatchObject({ state: 'open', confirmations: [{ by: ann!.email }] });
    expect(await isStopped()).toBe(true);
    const twice = await confirm(ann!, id);
    expect([twice.status, twice.body.error.code]).toEqual([403, 'CONFIRMATION_REFUSED']);
    expect((await ann!.signIn()).status).toBe(200);
    expect((await confirm(ann!, id)).status).toBe(403);
    expect(await isStopped()).toBe(true);
    const second = await confirm(bob!, id);
    expect(second.body.data).toMatchObject({ state: 'executed', outcome: 'ETH may leave', endedBy: bob!.email });
    expect(await isStopped()).toBe(false);
    await freezeEth();
    const late = await confirm(bob!, id);
    expect([late.status, late.body.error.code]).toEqual([409, 'OPERATOR_REQUEST_ENDED']);
    expect(await isStopped()).toBe(true);
    expect((await ann!.get(`${path}/${id}`)).body.data.confirmations).toHaveLength(2);
    const page = (await bob!.get(`${path}?state=executed`)).body.data;
    expect(page.items.map((one: { id: string }) => one.id)).toContain(id);
    expect(await acts('operator_request.filed')).toContainEqual(expect.objectContaining({ target: id }));
    expect((await acts('operator_request.confirmed')).filter(({ target }) => target === id)).toHaveLength(2);
    expect(await acts('egress.unfrozen')).toEqual([
      { actor_name: bob!.email, target: 'ETH', after: { reason: 'looked into', requestId: id } },
    ]);
  });

  it('need a factor at each step, and an operator of long standing to confirm', async () => {
    await freezeEth();
    const bare = await ann!.post(path, { kind: 'unfreeze', payload: { currency: 'ETH' }, reason: 'x' });
    expect([bare.status, bare.body.error.code]).toEqual([400, 'VERIFICATION_FAILED']);
    const { id } = (await file(ann!, 'unfreeze', { currency: 'ETH' })).body.data;
    expect((await ann!.post(`${path}/${id}/confirm`, {})).status).toBe(400);
    const newcomer = await Person.superAdmin(h);
    const refused = await confirm(newcomer, id);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'CONFIRMATION_REFUSED']);
    expect((await ann!.get(`${path}/${id}`)).body.data.confirmations).toEqual([]);
    const gone = await ann!.post(`${path}/${id}/cancel`, { reason: 'mistaken', totpCode: await ann!.code() });
    expect(gone.body.data).toMatchObject({ state: 'cancelled', outcome: 'mistaken' });
    expect((await confirm(bob!, id)).status).toBe(409);
    expect((await confirm(bob!, 'f'.repeat(24))).status).toBe(404);
    expect(await isStopped()).toBe(true);
  });

  it('are refused before they are filed, where they are not possible', async () => {
    const answers = [
      await file(ann!, 'unfreeze', { currency: 'DOGE' }),
      await file(ann!, 'unfreeze', { currency: 'BTC' }),
      await file(ann!, 'unfreeze', {}),
      await file(ann!, 'raise-cap', { intentId: '1', maxUnitPrice: '1e9', feeBudget: '1' }),
      await file(ann!, 'raise-cap', { intentId: '999999', maxUnitPrice: '5', feeBudget: '1' }),
      await file(ann!, 'end-conversion', { conversionId: 'f'.repeat(24) }),
      await file(ann!, 'book-difference', { currency: 'ETH', amount: '1' }),
      await file(ann!, 'unfreeze-wallet', { network: 'ethereum', address: '0x0' }),
      await file(ann!, 'unfreeze', { currency: 'ETH' }, '   '),
    ];
    expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual([
      [400, 'VALIDATION_ERROR'],
      [409, 'ACT_REFUSED'],
      [400, 'VALIDATION_ERROR'],
      [400, 'VALIDATION_ERROR'],
      [409, 'ACT_REFUSED'],
      [400, 'VALIDATION_ERROR'],
      [409, 'ACT_REFUSED'],
      [409, 'ACT_REFUSED'],
      [400, 'VALIDATION_ERROR'],
    ]);
  });

  it('happen once, however many confirm at once', async () => {
    await freezeEth();
    const { id } = (await file(ann!, 'unfreeze', { currency: 'ETH' })).body.data;
    const crowd = await Promise.all(Array.from({ length: 5 }, () => anOperator(h.db)));
    const ends = await Promise.allSettled(crowd.map((one) => h.db.transaction((tx) => confirmRequest(tx, one, id))));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect((await acts('egress.unfrozen')).filter(({ after }) => JSON.stringify(after).includes(id))).toHaveLength(1);
  });

  it('leave no confirmation where the act is not possible any more', async () => {
    await freezeEth();
    const { id } = (await file(ann!, 'unfreeze', { currency: 'ETH' })).body.data;
    await confirm(ann!, id);
    await h.db.query('DELETE FROM egress_freeze');
    const refused = await confirm(bob!, id);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'ACT_REFUSED']);
    expect((await ann!.get(`${path}/${id}`)).body.data).toMatchObject({
      state: 'open',
      confirmations: [{ by: ann!.email }],
    });
  });

  it('end with their time, and the database lets nobody past the rules', async () => {
    await freezeEth();
    const operators = [await anOperator(h.db), await anOperator(h.db)] as const;
    const asked = { kind: 'unfreeze', payload: { currency: 'ETH' }, reason: 'x' };
    await h.db.query(`UPDATE operator_request SET state = 'cancelled', ended_at = now() WHERE state = 'open'`);
    const { id } = await h.db.transaction((tx) => fileRequest(tx, operators[0].actor, asked));
    const sql = (text: string) => h.db.query(text, [id]);
    const executed = `UPDATE operator_request SET state = 'executed', ended_at = now() WHERE id = $1`;
    await expect(sql(executed)).rejects.toThrow('two operators have not confirmed it');
    await expect(sql(`UPDATE operator_request SET payload = '{"currency": "*"}' WHERE id = $1`)).rejects.toThrow();
    await expect(sql('DELETE FROM operator_request WHERE id = $1')).rejects.toThrow('never deleted');
    const merchantAdmin = await Person.admin(h);
    const insert = `INSERT INTO operator_confirmation (request_id, user_id, session_id, user_name)
      SELECT $1, u.id, s.id, u.email FROM dashboard_user u JOIN user_session s ON s.user_id = u.id WHERE u.email = $2`;
    await expect(h.db.query(insert, [id, merchantAdmin.email])).rejects.toThrow('not confirmed by this session');
    await h.db.query(insert, [id, operators[0].actor.name]);
    await expect(sql(executed)).rejects.toThrow('two operators have not confirmed it');
    await expect(sql('DELETE FROM operator_confirmation WHERE request_id = $1')).rejects.toThrow('append-only');
    await h.db.query(
      `INSERT INTO operator_request (id, kind, payload, summary, reason, asked_by_name, expires_at)
       VALUES ($1, 'unfreeze', '{"currency": "ETH"}', 'x', 'x', 'x', now() - interval '1 second')`,
      [newId()],
    );
    const late = (await ann!.get(`${path}?state=expired`)).body.data.items[0];
    await expect(h.db.transaction((tx) => confirmRequest(tx, operators[1], late.id))).rejects.toThrow('has expired');
    await expect(h.db.transaction((tx) => cancelRequest(tx, operators[1].actor, late.id, 'old'))).rejects.toThrow(
      'has expired',
    );
    expect(await isStopped()).toBe(true);
  });

  it('are all in the reference, with their fields', async () => {
    const { paths } = (await ann!.get('/api/v1/openapi-operators.json')).body;
    const text: string = paths[path].post.description;
    for (const act of operatorActs)
      for (const name of [act.kind, ...Object.keys(act.fields)]) expect(text).toContain(`\`${name}\``);
  });
});

describe('A12: a difference', () => {
  const storeDifference = (currency: string, unexplained: string, height = 100) =>
    h.db.query(
      `INSERT INTO reconciliation (currency, height, ledger, arriving, leaving, open, chain, unexplained, details)
       VALUES ($1, $3, 5, 0, 0, 0, 5 + $2::numeric, $2, '[]') ON CONFLICT (currency)
       DO UPDATE SET height = $3, ledger = 5, chain = 5 + $2::numeric, unexplained = $2`,
      [currency, unexplained, height],
    );
  const booked = async (currency: string) =>
    (
      await h.db.query<Array<{ debit: string; credit: string; amount: string }>>(
        `SELECT debit, credit, trim_scale(amount)::text AS amount FROM posting p JOIN journal j ON j.id = p.journal_id
          WHERE p.asset = $1 AND 'Q:unexplained' IN (p.debit, p.credit) ORDER BY p.id`,
        [currency],
      )
    ).map(({ debit, credit, amount }) => [debit, credit, amount]);

  it('is booked once, exactly as it was found, and its incident ends', async () => {
    await storeDifference('ETH', '0.000000000000000001');
    await openIncident(h.db, {
      kind: 'unreconciled',
      subject: { kind: 'asset', id: 'ETH' },
      distinction: '0.000000000000000001',
      details: {},
    });
    const amount = '0.000000000000000001';
    await expect(byTwoOperators(h.db, 'book-difference', { currency: 'ETH', amount: '1' })).rejects.toThrow('not 1');
    const one = await byTwoOperators(h.db, 'book-difference', { currency: 'eth', amount });
    expect(one.state).toBe('executed');
    expect(await booked('ETH')).toEqual([['A:treasury', 'Q:unexplained', amount]]);
    const [incident] = await h.db.query(`SELECT resolved_at FROM incident WHERE kind = 'unreconciled'`);
    expect(incident.resolved_at).not.toBeNull();
    await expect(byTwoOperators(h.db, 'book-difference', { currency: 'ETH', amount })).rejects.toThrow('agree');
    // A comparison that was under way when it was booked shows it once more.
    await storeDifference('ETH', amount, 100);
    await expect(byTwoOperators(h.db, 'book-difference', { currency: 'ETH', amount })).rejects.toThrow('older than');
    await storeDifference('ETH', amount, 101);
    await byTwoOperators(h.db, 'book-difference', { currency: 'ETH', amount });
    expect(await booked('ETH')).toHaveLength(2);
  });

  it('that the chain lacks is a loss', async () => {
    await storeDifference('BTC', '-0.25');
    await byTwoOperators(h.db, 'book-difference', { currency: 'BTC', amount: '-0.25' });
    expect(await booked('BTC')).toEqual([['Q:unexplained', 'A:treasury', '0.25']]);
  });

  it('changes no balance of a merchant', async () => {
    const shop = await h.shop();
    await h.db.transaction((tx) =>
      post(tx, {
        key: `test/${shop.id}`,
        entry: adjustment,
        postings: [{ debit: 'A:treasury', credit: `L:available:${shop.id}`, asset: 'USDT_ERC20', amount: '7' }],
      }),
    );
    await storeDifference('USDT_ERC20', '3');
    await byTwoOperators(h.db, 'book-difference', { currency: 'USDT_ERC20', amount: '3' });
    const [row] = await h.db.query('SELECT trim_scale(amount)::text AS amount FROM balance WHERE account = $1', [
      `L:available:${shop.id}`,
    ]);
    expect(row.amount).toBe('7');
  });
});

describe('A12: a frozen wallet', () => {
  it('signs again when two operators say so, and its incident ends', async () => {
    const shop = await h.shop();
    const [{ address }] = await h.db.query(
      `SELECT address FROM address WHERE merchant_id = $1 AND network = 'ethereum'`,
      [shop.id],
    );
    await h.db.query(
      `INSERT INTO wallet_sequence (network, address, frozen_reason, frozen_at) VALUES ('ethereum', $1, 'lost', now())`,
      [address],
    );
    const subject = { kind: 'wallet', id: `ethereum/${address}` } as const;
    await openIncident(h.db, { kind: 'wallet-frozen', subject, distinction: '1', details: {} });
    const done = await byTwoOperators(h.db, 'unfreeze-wallet', { network: 'ethereum', address });
    expect(done.summary).toContain('lost');
    const [row] = await h.db.query('SELECT frozen_reason FROM wallet_sequence WHERE address = $1', [address]);
    expect(row.frozen_reason).toBeNull();
    const [incident] = await h.db.query(`SELECT resolved_at FROM incident WHERE subject_id = $1`, [subject.id]);
    expect(incident.resolved_at).not.toBeNull();
  });
});

describe('A12: the limits of an intent', () => {
  it('are raised to ten times at the most, and never lowered', async () => {
    const [{ id }] = await h.db.query(
      `INSERT INTO intent (kind, ref, network, currency, from_address, outputs, max_unit_price, fee_budget, owner_kind,
         owner_id) VALUES ('withdrawal', 'w', 'ethereum', 'ETH', '0xa', '[]', 100, 2000, 'withdrawal', 'w')
       RETURNING id::text`,
    );
    const raise = (maxUnitPrice: string, feeBudget: string) =>
      byTwoOperators(h.db, 'raise-cap', { intentId: id, maxUnitPrice, feeBudget });
    await expect(raise('99', '2000')).rejects.toThrow('maxUnitPrice is 100 already');
    await expect(raise('100', '2000')).rejects.toThrow('as they were');
    await expect(raise('1001', '2000')).rejects.toThrow('ten times');
    expect((await raise('1000', '20000')).summary).toBe(
      `Raise the limits of intent ${id} (withdrawal w, ETH): unit price from 100 to 1000, budget from 2000 to 20000`,
    );
    const [row] = await h.db.query(
      'SELECT max_unit_price::int AS price, fee_budget::int AS budget FROM intent WHERE id = $1',
      [id],
    );
    expect(row).toEqual({ price: 1000, budget: 20000 });
    await h.db.query(`UPDATE intent SET status = 'final' WHERE id = $1`, [id]);
    await expect(raise('2000', '30000')).rejects.toThrow('no open intent');
  });
});

describe('A12: looser limits', () => {
  const same = { dailyUsd: 'same', hourlyCount: 'same', approvalUsd: 'same' };
  const loosen = (merchantId: string, limits: Partial<typeof same>) =>
    byTwoOperators(h.db, 'loosen-limits', { merchantId, ...same, ...limits });

  it.each(['platform', 'a merchant'])('of %s count once two operators have confirmed them', async (whose) => {
    const merchantId = whose === 'platform' ? whose : (await h.shop({ name: 'Cups' })).id;
    const scope = whose === 'platform' ? whose : `platform/${merchantId}`;
    await setLimits(h.db, scope, { dailyUsd: '100', hourlyCount: 5, approvalUsd: null }, 'test', 0);
    await expect(loosen(merchantId, {})).rejects.toThrow('None of these limits is looser');
    await expect(loosen(merchantId, { dailyUsd: '99', approvalUsd: '7' })).rejects.toThrow('None of these limits');
    await expect(loosen(merchantId, { dailyUsd: '1e9' })).rejects.toThrow('dailyUsd must be a number');
    await expect(loosen(merchantId, { hourlyCount: '1.5' })).rejects.toThrow('hourlyCount must be a number');
    const done = await loosen(merchantId, { dailyUsd: 'none', hourlyCount: '6', approvalUsd: '20' });
    expect(done.summary).toBe(
      `Loosen what may leave of ${whose === 'platform' ? 'all merchants together' : 'Cups'}: dollars in 24 hours ` +
        'from 100 to none, number in an hour from 5 to 6, dollars without a second person from none to 20',
    );
    expect(await limitsOf(h.db, scope)).toEqual({ dailyUsd: null, hourlyCount: 6, approvalUsd: '20' });
    const [{ before, after }] = await h.db.query(
      `SELECT before, after FROM audit_log WHERE action = 'egress_limits.changed' AND target = $1
        ORDER BY id DESC LIMIT 1`,
      [scope],
    );
    expect(before).toEqual({ dailyUsd: '100', hourlyCount: 5, approvalUsd: null });
    expect(after).toMatchObject({ dailyUsd: null, hourlyCount: 6, approvalUsd: '20', requestId: done.id });
  });

  it('of nobody are refused', async () => {
    await expect(loosen('f'.repeat(24), { dailyUsd: 'none' })).rejects.toThrow('No merchant');
  });

  it('are refused to the API by the database, whatever its process does', async () => {
    const before = { dailyUsd: '100', hourlyCount: null, approvalUsd: '50' };
    await setLimits(h.db, 'platform', before, 'test', 0);
    const set = (limits: OutboundLimits) => setLimits(h.api.deps.db, 'platform', limits, 'thief', 0);
    for (const looser of [
      { ...before, dailyUsd: '100.5' },
      { ...before, dailyUsd: null, hourlyCount: 1 },
      { ...before, dailyUsd: '1', approvalUsd: null },
    ])
      await expect(set(looser)).rejects.toThrow('two operators have not confirmed looser limits of platform');
    await set({ dailyUsd: '99', hourlyCount: 10, approvalUsd: '50' });
    expect(await limitsOf(h.db, 'platform')).toEqual({ dailyUsd: '99', hourlyCount: 10, approvalUsd: '50' });
  });
});
