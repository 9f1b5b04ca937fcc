import { randomBytes } from 'node:crypto';
import { generate } from 'otplib';
import type { DataSource } from 'typeorm';
import { refundActivities } from '../../activities/refunds/refunds';
import { signingActivities } from '../../activities/txmanager/signing';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { signToken } from '../../api/access/tokens';
import { createCodecs } from '../../chains/codecs';
import { post } from '../../db/ledger/ledger';
import { openSealed } from '../../db/sealing';
import { adjustment } from '../../domain/ledger/entry';
import { newId } from '../../domain/ids';
import { add, compare, fromUnits } from '../../domain/money';
import { nodes } from '../activities/nodes';
import { connectionsTo, urlFor } from '../setup/postgres';
import { secretsKey, startHarness, type Answer, type Harness } from './harness';
import { Person } from './person';

/** Somebody has taken over the API: its database role, its environment with SECRETS_KEY, and what it may ask Temporal
 *  for. The other processes are as they were, each with its own role. */

const cap = '1';
const seed = Buffer.alloc(64, 7);
let h: Harness;
let thief: DataSource;
let payments: DataSource;
let signerDb: DataSource;
let signer: ReturnType<typeof signingActivities>;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
  const codecs = createCodecs(h.api.deps.config.chain);
  const connect = (role: 'api' | 'payments' | 'signer') => connectionsTo(urlFor(h.databaseUrl, role)).initialize();
  [thief, payments, signerDb] = await Promise.all([connect('api'), connect('payments'), connect('signer')]);
  signer = signingActivities({
    db: signerDb,
    codecs,
    seed,
    newDestinations: { coolingOffHours: 24, dailyCaps: { ETH: cap } },
  });
  const hot = codecs.ethereum.derive(codecs.ethereum.extendedKey(seed, 'treasury'), 0);
  await h.db.query(`INSERT INTO address (network, address, role, key_index) VALUES ('ethereum', $1, 'treasury', 0)`, [
    hot,
  ]);
  await h.db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
       first_seen_at, allocation)
     VALUES ('ethereum', '0x01', -1, $1, 'treasury', 'ETH', 1000, 1000, false, 'confirmed', now(), 'own')`,
    [hot],
  );
});
afterAll(async () => {
  for (const one of [thief, payments, signerDb]) await one?.destroy();
  await h?.stop();
});

const own = (): string => `0x${randomBytes(20).toString('hex')}`;

/** An admin of a merchant with a hundred ether, and what a thief makes of their rows: a session and a factor. */
async function victim(coolingOffHours: number) {
  const admin = await Person.admin(h);
  const { merchantId } = (await admin.get('/api/v1/auth/me')).body as { merchantId: string };
  await h.db.query('UPDATE merchant SET whitelist_delay_hours = $2 WHERE id = $1', [merchantId, coolingOffHours]);
  await h.db.transaction((tx) =>
    post(tx, {
      key: `test/${merchantId}`,
      entry: adjustment,
      postings: [{ debit: 'A:treasury', credit: `L:available:${merchantId}`, asset: 'ETH', amount: '100' }],
    }),
  );
  return { merchantId, ...(await impersonate(admin.email)) };
}

/** Signs in as anybody, with rows and the key alone. */
async function impersonate(email: string) {
  const [user] = await thief.query<Array<{ id: string; session_version: number; totp_secret_sealed: string }>>(
    'SELECT id, session_version, totp_secret_sealed FROM dashboard_user WHERE email = $1',
    [email],
  );
  const sid = newId();
  await thief.query(
    `INSERT INTO user_session (id, user_id, session_version, ip, user_agent, expires_at)
     VALUES ($1, $2, $3, '10.66.6.6', 'forged', now() + interval '1 day')`,
    [sid, user!.id, user!.session_version],
  );
  const token = await signToken(secretsKey, 'access', user!.id, { sid, ver: user!.session_version });
  const secret = openSealed(secretsKey, user!.totp_secret_sealed);
  const call = (method: string, path: string, body?: object): Promise<Answer> =>
    h.call(method, path, { key: token, ...(body ? { body } : {}) });
  const withFactor = async (path: string, body: object, method = 'POST'): Promise<Answer> => {
    // A thief sets the last used time step back; the database lets the API do so.
    await thief.query('UPDATE dashboard_user SET totp_last_step = 0 WHERE id = $1', [user!.id]);
    return call(method, path, { ...body, totpCode: await generate({ secret }) });
  };
  return { userId: user!.id, call, withFactor };
}

/** What the honest processes do next with all that the thief has left for them. Returns what has been signed in all. */
async function proceed(): Promise<string> {
  const ids = (table: string): Promise<Array<{ id: string }>> =>
    h.db.query(`SELECT id FROM ${table} WHERE status = 'pending' ORDER BY id`);
  const quietly = (work: Promise<unknown>): Promise<unknown> => work.catch((error: Error) => error);
  const plan = withdrawalActivities({ db: payments, nodes });
  for (const { id } of await ids('withdrawal')) await quietly(plan.nextWithdrawalIntent(id));
  const refunds = refundActivities({ db: payments, nodes });
  for (const { id } of await ids('refund')) await quietly(refunds.nextRefundIntent(id));
  for (const { id } of await h.db.query<Array<{ id: string }>>('SELECT id FROM intent ORDER BY id')) {
    await quietly(signer.signOnce(id));
    await quietly(signer.signBump(id, 1));
  }
  const [row] = await h.db.query<Array<{ units: string }>>(
    `SELECT coalesce(sum(moved_units), 0)::text AS units FROM (
       SELECT max(moved_units) AS moved_units FROM attempt GROUP BY intent_id) AS one`,
  );
  return fromUnits(BigInt(row!.units), 18);
}

describe('A10: a thief with the role of the API, its environment and its key', () => {
  it('signs in as anybody', async () => {
    const ann = await victim(24);
    expect((await ann.call('GET', '/api/v1/auth/me')).body).toMatchObject({ merchantId: ann.merchantId });
  });

  it('moves nothing where a cooling-off is set, neither by the routes nor by rows', async () => {
    const before = await proceed();
    const ann = await victim(24);
    const address = own();
    const listed = await ann.withFactor('/api/v1/whitelist/wallet', { currency: 'ETH', address });
    expect(listed.status).toBe(201);
    const asked = { currency: 'ETH', amount: '5', feeMode: 'deduct', idempotencyKey: newId() };
    const refused = await ann.withFactor('/api/v1/withdrawals', { ...asked, address });
    expect(refused.body.error.code).toBe('ADDRESS_NOT_WHITELISTED');
    // By hand: the row, its use of the limits, its hold and its workflow, as the route would write them.
    await forgeWithdrawal(ann, address, '5');
    expect(await proceed()).toBe(before);
    await expect(
      thief.query('UPDATE merchant SET whitelist_delay_hours = 0 WHERE id = $1', [ann.merchantId]),
    ).rejects.toMatchObject({ code: 'CP014' });
    await expect(
      thief.query('UPDATE whitelist_entry SET active_at = now() WHERE merchant_id = $1', [ann.merchantId]),
    ).rejects.toMatchObject({ code: '42501' });
    expect(await proceed()).toBe(before);
  });

  it('moves no more than the cap of the signer where none is set', async () => {
    const before = await proceed();
    const bob = await victim(0);
    for (const amount of ['20', '0.7', '0.6', '0.3', '0.2']) {
      const address = own();
      expect((await bob.withFactor('/api/v1/whitelist/wallet', { currency: 'ETH', address })).status).toBe(201);
      const asked = { currency: 'ETH', amount, feeMode: 'add', idempotencyKey: newId(), address };
      expect((await bob.withFactor('/api/v1/withdrawals', asked)).status).toBe(201);
    }
    const after = await proceed();
    expect(compare(after, before)).toBe(1);
    expect(compare(after, add(before, cap))).toBeLessThanOrEqual(0);
    // More of the same, by rows, and the approval of a second person that there is not.
    for (let n = 0; n < 3; n += 1) {
      const address = own();
      await bob.withFactor('/api/v1/whitelist/wallet', { currency: 'ETH', address });
      await forgeWithdrawal(bob, address, '3');
    }
    expect(await proceed()).toBe(after);
    expect(await h.db.query(`SELECT subject_id FROM incident WHERE kind = 'new-destinations'`)).toEqual([
      { subject_id: 'ETH' },
    ]);
  });

  it('has no use of the tasks of the signer: it signs by rows, and answers with no transaction', async () => {
    const before = await proceed();
    for (const id of ['0', '999999', newId()])
      await expect(signer.signOnce(id)).rejects.toMatchObject({ name: expect.stringMatching(/Error/) });
    expect(await signer.signPayouts(newId())).toEqual({ stored: 0 });
    const [signed] = await h.db.query<Array<{ intent_id: string }>>('SELECT intent_id FROM attempt LIMIT 1');
    expect(await signer.signOnce(signed!.intent_id)).toEqual({ state: 'stored' });
    expect(await proceed()).toBe(before);
  });
});

/** A withdrawal that nobody has asked for, approved by somebody who has not. */
async function forgeWithdrawal(
  { merchantId, userId }: Readonly<{ merchantId: string; userId: string }>,
  address: string,
  amount: string,
): Promise<void> {
  const id = newId();
  await thief.transaction(async (tx) => {
    await tx.query(
      `INSERT INTO withdrawal (id, merchant_id, idempotency_key, body_hash, status, currency, network, fee_mode, amount,
         network_fee, gross_amount, net_amount, address, requested_by, requested_by_name, needs_approval, approved_by,
         approved_at)
       VALUES ($1, $2, $7, '', 'pending', 'ETH', 'ethereum', 'add', $3, 0, $3, $3, $4, $5, 'ann', true, $6, now())`,
      [id, merchantId, amount, address, userId, newId(), newId()],
    );
    await tx.query(`INSERT INTO egress_admission (kind, ref, merchant_id, usd) VALUES ('withdrawal', $1, $2, 0)`, [
      id,
      merchantId,
    ]);
    await post(tx, {
      key: `hold/withdrawal/${id}`,
      entry: { type: 'reserve', sourceType: 'withdrawal', sourceId: id },
      postings: [{ debit: `L:available:${merchantId}`, credit: `L:reserved:${merchantId}`, asset: 'ETH', amount }],
    } as Parameters<typeof post>[1]);
  });
}
