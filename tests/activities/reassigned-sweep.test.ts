import type { DataSource } from 'typeorm';
import { sendIntent } from '../../txmanager/send/send';
import { rollBack } from '../../txmanager/reorganise';
import { createCodecs } from '../../chains/codecs';
import { signingActivities } from '../../activities/txmanager/signing';
import { audit } from '../../db/audit/audit';
import { finalizeAttempts, type OpenAttempt } from '../../db/chains/attempts';
import { assetOf, baseUnits, type NetworkId } from '../../domain/chains/assets';
import type { ChainAdapter } from '../../domain/chains/chain';
import { add, compare, fit } from '../../domain/money';
import { startHarness, type Harness, type Shop } from '../api/harness';
import { bookEnd } from '../book-end';
import { noLog } from '../shared/no-log';
import { paymentsAt } from './run-payment';
import { estimating, sweepsAt } from './nodes';

/** A deposit that is gone after its sweep was signed, and money that comes to the same address again: the signed sweep
 *  holds the address's nonce, and goes on with what came. Invariants: 3, row 16; 5, step 5. */

let h: Harness;
let db: DataSource;
let shop: Shop;
const seed = Buffer.alloc(64, 7);
/** What the node has been sent, oldest first. */
let sent: string[] = [];
const adapter = (network: NetworkId) =>
  ({
    network,
    broadcast: (raw: string) => {
      sent.push(raw);
      return Promise.resolve({ outcome: 'accepted' as const });
    },
    lookUp: () => Promise.resolve({ state: 'unknown' as const }),
  }) as unknown as ChainAdapter;
const deps = () => ({ db, config: h.api.deps.config, codecs: createCodecs(h.api.deps.config.chain) });
const sweeps = () => sweepsAt(deps());
const signer = () => estimating(deps().db, signingActivities({ ...deps(), seed }));
const advance = async (id: string): Promise<string> => (await paymentsAt(deps()).runPayment(id)).status;

beforeAll(async () => {
  h = await startHarness({ SWEEP_BATCH_SECONDS: '0' });
  db = h.db;
  shop = await h.shop();
  const { codecs } = deps();
  for (const codec of [codecs.bitcoin, codecs.ethereum])
    for (const role of ['treasury', 'gas'] as const)
      await db.query(
        `INSERT INTO address (network, address, role, key_index) VALUES ($1, $2, $3, 0) ON CONFLICT DO NOTHING`,
        [codec.network, codec.derive(codec.extendedKey(seed, role), 0), role],
      );
});
afterAll(() => h?.stop());
/** Where our transactions are mined. */
let height = 95;
let top = 96;
beforeEach(() => {
  height = 95;
  sent = [];
});
afterEach(async () => {
  await db.query('DELETE FROM temporal_request');
  expect(await audit(db, { settleMs: 0 })).toEqual([]);
});

type Paid = { id: string; address: string; currency: string; amount: string };
async function invoice(currency: string, custody: 'platform' | 'external' = 'platform'): Promise<Paid> {
  const { body } = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 400, currency } });
  const away = deps().codecs.ethereum.derive(deps().codecs.ethereum.extendedKey(Buffer.alloc(64, 9), 'deposit'), 0);
  if (custody === 'external')
    await db.query(`UPDATE payment SET custody = 'external', settlement_address = $2 WHERE id = $1`, [
      body.paymentId,
      away,
    ]);
  return { id: body.paymentId, address: body.depositAddress, currency, amount: String(body.amount) };
}

let count = 0;
/** `amount` more arrives, deep enough at once. */
async function pays(paid: Paid, amount = paid.amount): Promise<string> {
  count += 1;
  const [row] = await db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
       is_dust, status, block_hash, height,
       first_seen_at, confirmed_at) VALUES ($1, $2, 0, $3, 'deposit', $4, $5, $6, $6, false, 'confirmed', '0xb', 90,
         clock_timestamp(), now()) RETURNING id`,
    [assetOf(paid.currency).network, String(count).padStart(64, '0'), paid.address, paid.id, paid.currency, amount],
  );
  return row.id;
}
const turn = (depositId: string, status: 'orphaned' | 'confirmed'): Promise<unknown> =>
  db.query('UPDATE deposit SET status = $2 WHERE id = $1', [depositId, status]);

/** Confirmed, and its sweep planned. */
async function queued(id: string): Promise<void> {
  expect(await advance(id)).toBe('CONFIRMED');
  expect(await sweeps().queueSweep(id)).toEqual({ queued: true });
  expect(await advance(id)).toBe('SWEEP_QUEUED');
}
/** Its money is gone, and the payment where it was before. */
async function lost(paid: Paid, depositId: string): Promise<void> {
  await turn(depositId, 'orphaned');
  expect(await advance(paid.id)).toBe('WAITING');
}

type Attempt = {
  id: string;
  n: number;
  raw: string;
  nonce: number | null;
  moved_units: string;
  max_fee_units: string;
  from_address: string;
};
const attemptsOf = (intentId: string): Promise<Attempt[]> =>
  db.query('SELECT * FROM attempt WHERE intent_id = $1 ORDER BY n', [intentId]);

async function mine(intentId: string, n: number): Promise<void> {
  const [[row]] = await db.query(
    `UPDATE attempt SET status = 'mined', block_hash = '0xc', height = $3 WHERE intent_id = $1 AND n = $2 RETURNING *`,
    [intentId, n, height],
  );
  const attempt = row as OpenAttempt & Attempt;
  await db.transaction((tx) =>
    finalizeAttempts(tx, [{ attempt, success: true, feeUnits: BigInt(attempt.max_fee_units) }]),
  );
  if ((await kindOf(intentId)) !== 'gas') return;
  // The top-up arrives where the tokens are.
  await db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
       is_dust, status, first_seen_at, allocation)
     SELECT 'ethereum', a.tx_id, -1, a.outputs->0->>'address', 'deposit', i.payment_id, 'ETH', a.moved_units / 1e18,
       a.moved_units / 1e18, false,
            'confirmed', now(), 'own' FROM attempt a JOIN intent i ON i.id = a.intent_id WHERE a.id = $1
              ON CONFLICT DO NOTHING`,
    [attempt.id],
  );
}
const kindOf = async (intentId: string): Promise<string> =>
  (await db.query('SELECT kind FROM intent WHERE id = $1', [intentId]))[0].kind;

/** What the workflow of a sweep does with one intent: signs it, sends it, signs again what is to move something
 *  else. */
async function runIntent(intentId: string, network: NetworkId = 'ethereum'): Promise<string> {
  expect((await signer().signOnce(intentId)).state).toBe('stored');
  for (let n = 0; n < 3; n += 1) {
    const { state, attempts } = await sendIntent({ db, log: noLog, adapter: adapter(network) }, intentId);
    if (state !== 'stuck') return state;
    expect(await signer().signBump(intentId, attempts)).toEqual({ state: 'stored' });
  }
  return 'stuck';
}
/** Runs everything of a payment to its end, and the payment with it. */
async function settle(paid: Paid): Promise<void> {
  const network = assetOf(paid.currency).network;
  for (let n = 0; n < 8; n += 1) {
    const next = await sweeps().nextIntent(paid.id);
    if (!next) break;
    const state = await runIntent(next.id, network);
    if (state === 'dropped') continue;
    if (state === 'waiting') await mine(next.id, (await attemptsOf(next.id)).length);
    await bookEnd(db, next.id);
    await advance(paid.id);
  }
  expect(await advance(paid.id)).toBe('SETTLED');
}
/** Base units that final transactions took from an address, fees included where they are of the same asset. */
async function gone(paid: Paid): Promise<bigint> {
  const [row] = await db.query(
    `SELECT coalesce(sum(a.moved_units + CASE WHEN i.currency = 'ETH' THEN a.fee_units ELSE 0 END), 0)::text AS units
       FROM attempt a JOIN intent i ON i.id = a.intent_id WHERE a.from_address = $1 AND a.status = 'final'
         AND i.currency = $2`,
    [paid.address, paid.currency],
  );
  return BigInt(row.units);
}
const unitsOf = (paid: Paid, ...amounts: string[]): bigint => baseUnits(paid.currency, add('0', ...amounts));
const noncesOf = async (paid: Paid): Promise<number[]> =>
  (await db.query('SELECT DISTINCT nonce FROM attempt WHERE from_address = $1 ORDER BY 1', [paid.address])).map(
    (row: { nonce: number }) => row.nonce,
  );

/** A payment whose sweep is signed and sent, and whose deposit is gone. */
async function orphaned(currency: string, custody: 'platform' | 'external' = 'platform') {
  const paid = await invoice(currency, custody);
  const first = await pays(paid);
  await queued(paid.id);
  let next = await sweeps().nextIntent(paid.id);
  if (next?.kind === 'gas') {
    await runIntent(next.id);
    await mine(next.id, 1);
    await bookEnd(db, next.id);
    next = await sweeps().nextIntent(paid.id);
  }
  const intentId = next!.id;
  const { network } = assetOf(currency);
  expect(await runIntent(intentId, network)).toBe('waiting');
  await lost(paid, first);
  expect(await runIntent(intentId, network)).toBe('waiting');
  return { paid, first, intentId };
}

it.each(['BTC', 'ETH'])(
  'whose end is booked before %s is queued again leaves it nothing to wait for',
  async (currency) => {
    const { paid, first, intentId } = await orphaned(currency);
    await turn(first, 'confirmed');
    await mine(intentId, 1);
    await bookEnd(db, intentId);
    await db.query('DELETE FROM temporal_request');
    expect(await advance(paid.id)).toBe('CONFIRMED');
    expect(await sweeps().queueSweep(paid.id)).toEqual({ queued: true });
    expect(await db.query(`SELECT FROM temporal_request WHERE workflow_id = 'payment/' || $1`, [paid.id])).toHaveLength(
      1,
    );
    expect(await advance(paid.id)).toBe('SETTLED');
  },
);

it.each(['ETH', 'USDT_ERC20'])('sends the same bytes for the same amount of %s', async (currency) => {
  const { paid, intentId } = await orphaned(currency);
  await pays(paid);
  await queued(paid.id);
  expect((await sweeps().nextIntent(paid.id))?.id).toBe(intentId);
  await settle(paid);
  const attempts = await attemptsOf(intentId);
  expect(attempts).toHaveLength(1);
  expect(sent.filter((raw) => raw === attempts[0]!.raw)).toHaveLength(2);
  expect(await noncesOf(paid)).toEqual([0]);
  expect(await gone(paid)).toBe(unitsOf(paid, paid.amount));
});

it.each([
  ['ETH', 'platform', '2'],
  ['ETH', 'platform', '0.995'],
  ['ETH', 'external', '1.5'],
  ['USDT_ERC20', 'platform', '1.5'],
  ['USDT_ERC20', 'platform', '0.995'],
  ['USDT_ERC20', 'external', '2'],
] as const)(
  'signs another on the same nonce for another amount: %s, %s, times %s',
  async (currency, custody, factor) => {
    const { paid, intentId } = await orphaned(currency, custody);
    const amount = fit(String(parseFloat(paid.amount) * parseFloat(factor)), 6, 'down');
    await pays(paid, amount);
    await queued(paid.id);
    expect((await sweeps().nextIntent(paid.id))?.id).toBe(intentId);
    await settle(paid);
    const attempts = await attemptsOf(intentId);
    expect(attempts.map((attempt) => attempt.nonce)).toEqual([0, 0]);
    expect(sent.at(-1)).toBeDefined();
    expect(await noncesOf(paid)).toEqual(custody === 'external' ? [0, 1] : [0]);
    expect(await gone(paid)).toBeLessThanOrEqual(unitsOf(paid, amount));
    if (custody === 'platform') expect(await gone(paid)).toBe(unitsOf(paid, amount));
  },
);

it('takes several deposits, of which one had been in the old sweep', async () => {
  const paid = await invoice('ETH');
  const half = fit(String(parseFloat(paid.amount) / 2), 6, 'up');
  const [one, two] = [await pays(paid, half), await pays(paid, half)];
  await queued(paid.id);
  const { id: intentId } = (await sweeps().nextIntent(paid.id))!;
  await runIntent(intentId);
  await turn(two, 'orphaned');
  expect(await advance(paid.id)).toBe('PARTIALLY_PAID');
  const [three, four] = [await pays(paid, half), await pays(paid, '0.01')];
  await queued(paid.id);
  const [{ deposit_ids }] = await db.query('SELECT deposit_ids FROM intent WHERE id = $1', [intentId]);
  expect(deposit_ids).toEqual([one, three, four]);
  await settle(paid);
  expect(await noncesOf(paid)).toEqual([0]);
  expect(await gone(paid)).toBe(unitsOf(paid, half, half, '0.01'));
});

it('gives the first deposit a sweep of its own where it comes back after all', async () => {
  const { paid, first } = await orphaned('ETH');
  const amount = fit(String(parseFloat(paid.amount) * 2), 6, 'down');
  await pays(paid, amount);
  await queued(paid.id);
  await settle(paid);
  await turn(first, 'confirmed');
  await advance(paid.id);
  const [child] = await db.query('SELECT id FROM payment WHERE parent_payment_id = $1', [paid.id]);
  await queued(child.id);
  await settle({ ...paid, id: child.id });
  expect(await noncesOf(paid)).toEqual([0, 1]);
  expect(await gone(paid)).toBe(unitsOf(paid, amount, paid.amount));
});

it('goes on for a payment of its own where the first one is over', async () => {
  const { paid, intentId } = await orphaned('ETH');
  await db.query(`UPDATE payment SET expires_at = now() - interval '1 second' WHERE id = $1`, [paid.id]);
  await h.setRates();
  expect(await advance(paid.id)).toBe('EXPIRED');
  await pays(paid);
  await advance(paid.id);
  const [child] = await db.query('SELECT id FROM payment WHERE parent_payment_id = $1', [paid.id]);
  await queued(child.id);
  expect((await sweeps().nextIntent(child.id))?.id).toBe(intentId);
  expect(await sweeps().nextIntent(paid.id)).toBeNull();
  await settle({ ...paid, id: child.id });
  expect(await noncesOf(paid)).toEqual([0]);
});

it.each(['ETH', 'USDT_ERC20'])(
  'sweeps what the old transaction leaves where that was mined instead: %s',
  async (currency) => {
    const { paid, intentId } = await orphaned(currency);
    const amount = fit(String(parseFloat(paid.amount) * 2), 6, 'down');
    await pays(paid, amount);
    await queued(paid.id);
    expect(await runIntent(intentId)).toBe('waiting');
    await mine(intentId, 1);
    await bookEnd(db, intentId);
    expect(await advance(paid.id)).toBe('SWEEP_QUEUED');
    await settle(paid);
    expect(await noncesOf(paid)).toEqual([0, 1]);
    expect(await gone(paid)).toBe(unitsOf(paid, amount));
  },
);

it('settles with the old transaction where that took the new money before anybody planned', async () => {
  const { paid, intentId } = await orphaned('ETH');
  const amount = fit(String(parseFloat(paid.amount) * 2), 6, 'down');
  await pays(paid, amount);
  await mine(intentId, 1);
  await bookEnd(db, intentId);
  await queued(paid.id);
  await settle(paid);
  expect(await gone(paid)).toBe(unitsOf(paid, amount));
});

it('buys more gas where what it bought does not pay for another attempt', async () => {
  const { paid, intentId } = await orphaned('USDT_ERC20');
  await db.query(
    'UPDATE intent SET max_unit_price = (SELECT unit_price FROM attempt WHERE intent_id = $1) WHERE id = $1',
    [intentId],
  );
  await pays(paid, fit(String(parseFloat(paid.amount) * 2), 6, 'down'));
  await queued(paid.id);
  expect((await sweeps().nextIntent(paid.id))?.kind).toBe('gas');
  await settle(paid);
  expect(await noncesOf(paid)).toEqual([0]);
});

it('brings its gas again first where that is gone too', async () => {
  const { paid, intentId } = await orphaned('USDT_ERC20');
  const [gas] = await db
    .query(
      `UPDATE attempt SET status = 'sent', success = NULL, fee_units = NULL, block_hash = NULL, height = NULL
      WHERE intent_id = (SELECT id FROM intent WHERE payment_id = $1 AND kind = 'gas') RETURNING intent_id, tx_id, raw`,
      [paid.id],
    )
    .then(([rows]: [Array<{ intent_id: string; tx_id: string; raw: string }>]) => rows);
  await db.query(`UPDATE intent SET status = 'sent', booked = false WHERE id = $1`, [gas!.intent_id]);
  await db.query('DELETE FROM deposit WHERE tx_id = $1', [gas!.tx_id]);
  await pays(paid);
  await queued(paid.id);
  sent = [];
  expect(await runIntent(intentId)).toBe('dropped');
  expect(sent).toEqual([]);
  expect((await sweeps().nextIntent(paid.id))?.id).toBe(gas!.intent_id);
  await settle(paid);
  expect(sent[0]).toBe(gas!.raw);
});

it.each(['ETH', 'USDT_ERC20', 'BTC'])(
  'takes fees back while what was settled is not in the chain, however often: %s',
  async (currency) => {
    height = ++top; // above what other tests have mined
    const paid = await invoice(currency);
    await pays(paid);
    await queued(paid.id);
    await settle(paid);
    const spent = async (): Promise<string> =>
      (
        await db.query(
          `SELECT trim_scale(coalesce(sum(CASE WHEN debit = 'E:network' THEN amount ELSE -amount END), 0))::text AS sum
             FROM posting WHERE 'E:network' IN (debit, credit)`,
        )
      )[0].sum;
    const all = await spent();
    const { network } = assetOf(currency);
    const intents: Array<{ id: string }> = await db.query('SELECT id FROM intent WHERE payment_id = $1 ORDER BY id', [
      paid.id,
    ]);
    for (let n = 0; n < 2; n += 1) {
      const [from] = await db.query('SELECT height::int AS height, hash FROM chain_cursor WHERE network = $1', [
        network,
      ]);
      await db.transaction((tx) => rollBack(tx, network, from, { height: top - 1, hash: 'x' }));
      expect(compare(await spent(), all)).toBe(-1);
      expect(await audit(db, { settleMs: 0 })).toEqual([]);
      for (const { id } of intents) {
        await mine(id, 1);
        for (let m = 0; m < 2; m += 1) await bookEnd(db, id);
      }
      expect(await spent()).toBe(all);
      expect(await audit(db, { settleMs: 0 })).toEqual([]);
    }
    expect(await advance(paid.id)).toBe('SETTLED');
  },
);

it('drops what nobody has signed, and plans anew', async () => {
  const paid = await invoice('USDT_ERC20');
  const first = await pays(paid);
  await queued(paid.id);
  await lost(paid, first);
  await pays(paid);
  await queued(paid.id);
  await settle(paid);
  const [{ n }] = await db.query(`SELECT count(*)::int AS n FROM intent WHERE payment_id = $1`, [paid.id]);
  expect(n).toBe(2);
});

it('sends a top-up whose deposit is gone: the next ones of the gas wallet wait for its nonce', async () => {
  const paid = await invoice('USDT_ERC20');
  const first = await pays(paid);
  await queued(paid.id);
  const gas = (await sweeps().nextIntent(paid.id))!;
  await signer().signOnce(gas.id);
  await lost(paid, first);
  expect(await runIntent(gas.id)).toBe('waiting');
  expect(sent).toEqual([(await attemptsOf(gas.id))[0]!.raw]);
  await pays(paid);
  await queued(paid.id);
  await settle(paid);
  const kinds = await db.query('SELECT kind FROM intent WHERE payment_id = $1 ORDER BY kind', [paid.id]);
  expect(kinds).toEqual([{ kind: 'gas' }, { kind: 'sweep' }]);
});

it('sets a sweep of other coins aside, and finds it again when they come back', async () => {
  const paid = await invoice('BTC');
  const first = await pays(paid);
  await queued(paid.id);
  const old = (await sweeps().nextIntent(paid.id))!.id;
  expect(await runIntent(old, 'bitcoin')).toBe('waiting');
  await lost(paid, first);
  await pays(paid);
  await queued(paid.id);
  expect(await runIntent(old, 'bitcoin')).toBe('dropped');
  await settle(paid);
  await turn(first, 'confirmed');
  await advance(paid.id);
  const [child] = await db.query('SELECT id FROM payment WHERE parent_payment_id = $1', [paid.id]);
  await queued(child.id);
  expect((await sweeps().nextIntent(child.id))?.id).toBe(old);
  await settle({ ...paid, id: child.id });
  expect(await attemptsOf(old)).toHaveLength(1);
});

it('spends a coin that an old sweep would spend in another attempt of it', async () => {
  const paid = await invoice('BTC');
  const half = fit(String(parseFloat(paid.amount) / 2), 6, 'up');
  const [, two] = [await pays(paid, half), await pays(paid, half)];
  await queued(paid.id);
  const old = (await sweeps().nextIntent(paid.id))!.id;
  await runIntent(old, 'bitcoin');
  await turn(two, 'orphaned');
  expect(await advance(paid.id)).toBe('PARTIALLY_PAID');
  await pays(paid, half);
  await queued(paid.id);
  await settle(paid);
  expect(await attemptsOf(old)).toHaveLength(2);
});

it('A1: pays its fee from what its own payment brought, whatever else is on the address', async () => {
  const paid = await invoice('ETH', 'external');
  // What is beside the net pays for one transfer at today's price.
  await db.query('UPDATE payment SET fee_bps = 0 WHERE id = $1', [paid.id]);
  await pays(paid);
  await queued(paid.id);
  const { id: intentId } = (await sweeps().nextIntent(paid.id))!;
  expect(await signer().signOnce(intentId)).toEqual({ state: 'stored' });
  // It belongs to a payment of its own.
  await pays(paid, '5');
  await advance(paid.id);
  await db.query(`UPDATE network_fee SET unit_price = unit_price * 10 WHERE network = 'ethereum'`);
  try {
    expect(await signer().signBump(intentId, 1)).toEqual({
      state: 'waiting',
      reason: expect.stringMatching(/holds \d+ of the \d+ that it takes/),
    });
    expect(await attemptsOf(intentId)).toHaveLength(1);
  } finally {
    await db.query(`UPDATE network_fee SET unit_price = unit_price / 10 WHERE network = 'ethereum'`);
  }
  await settle(paid);
});
