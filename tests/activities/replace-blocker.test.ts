import type { DataSource } from 'typeorm';
import { operate } from '../../api/operator';
import { bookIntent } from '../../txmanager/book';
import { rollBack } from '../../txmanager/reorganise';
import { sendIntent } from '../../txmanager/send/send';
import { signingActivities } from '../../activities/txmanager/signing';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { audit } from '../../db/audit/audit';
import { finalizeAttempts, maturingAttempts } from '../../db/chains/attempts';
import { spendableAt } from '../../db/txmanager/intents';
import { addToWhitelist } from '../../db/wallets/whitelist';
import type { ChainAdapter } from '../../domain/chains/chain';
import { newId } from '../../domain/ids';
import { compare, subtract } from '../../domain/money';
import { byTwoOperators } from '../operators';
import { noLog } from '../shared/no-log';
import { nodes } from './nodes';
import { codecs, config, richShop, seed, strangers, type RichShop } from './rich-shop';

/** A transaction that no block takes holds up its wallet: operators see it, raise its cap, or have a transfer of the
 *  wallet to itself take its nonce. The node is played, and takes everything; its blocks have none of ours. */

const gwei = 10n ** 9n;
const by = { id: newId(), email: 'ann@shop.example' };
let shop: RichShop;
let db: DataSource;
let signer: ReturnType<typeof signingActivities>;
let sent: string[];
let count = 0;

beforeEach(async () => {
  shop = await richShop('1000');
  ({ db } = shop);
  sent = [];
  signer = signingActivities({ db, codecs, seed });
  await db.query(
    `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
     VALUES ('ethereum', 100, 'b100', 100, 'infinity')`,
  );
  await db.query(
    `INSERT INTO chain_block (network, height, hash, block_time)
     SELECT 'ethereum', n, 'b' || n, now() + make_interval(mins => n) FROM generate_series(80, 100) n`,
  );
});
afterEach(async () => {
  const found = (await audit(db, { settleMs: 1 })).filter(({ invariant }) =>
    ['I1', 'I2', 'I3', 'I7', 'I8', 'I9'].includes(invariant),
  );
  await shop.stop();
  expect(found).toEqual([]);
});

const adapter = {
  network: 'ethereum',
  broadcast: (raw: string) => {
    sent.push(raw);
    return Promise.resolve({ outcome: 'accepted' });
  },
  lookUp: () => Promise.resolve({ state: 'unknown' }),
  nextNonce: () => Promise.resolve(0),
} as Partial<ChainAdapter> as ChainAdapter;
const look = async (intentId: string): Promise<string> =>
  (await sendIntent({ db, adapter, log: noLog }, intentId)).state;
const later = (): Promise<unknown> => db.query(`UPDATE attempt SET sent_at = sent_at - interval '6 hours'`);
/** A look as its workflow takes it: another attempt where it is stuck. */
async function runIntent(intentId: string): Promise<string> {
  const state = await look(intentId);
  await later();
  if (state === 'stuck') await signer.signBump(intentId, (await attempts(intentId)).length);
  return state;
}

/** A withdrawal that is signed and sent. */
async function withdrawal(amount: string): Promise<{ id: string; intentId: string }> {
  const address = codecs.ethereum.derive(strangers, (count += 1));
  const entry = { type: 'wallet', currency: 'ETH', address, destinationTag: null } as const;
  await addToWhitelist(db, shop.merchantId, by, entry);
  const ask = { currency: 'ETH', amount, feeMode: 'add', address } as const;
  const { row } = await db.transaction((tx) =>
    openWithdrawal(tx, { codecs, rateMaxAgeSeconds: 3600 }, shop.merchantId, ask, by, newId()),
  );
  const next = await withdrawalActivities({ db, nodes }).nextWithdrawalIntent(row.id);
  const intentId = (next as { id: string }).id;
  expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
  await look(intentId);
  await later();
  return { id: row.id, intentId };
}
type Attempt = {
  id: string;
  nonce: number;
  unit_price: string;
  outputs: Array<{ address: string; units: string }>;
  is_replacement: boolean;
  status: string;
  tx_id: string;
  raw: string;
};
const attempts = (intentId: string): Promise<Attempt[]> =>
  db.query(
    `SELECT id, nonce, trim_scale(unit_price)::text AS unit_price, outputs, is_replacement, status, tx_id, raw
       FROM attempt WHERE intent_id = $1 ORDER BY n`,
    [intentId],
  );
const statusOf = async (id: string): Promise<string> =>
  (await db.query('SELECT status FROM withdrawal WHERE id = $1', [id]))[0].status;
const balance = async (kind: string): Promise<string> =>
  (
    await db.query(`SELECT trim_scale(amount)::text AS amount FROM balance WHERE account = $1 AND asset = 'ETH'`, [
      `L:${kind}:${shop.merchantId}`,
    ])
  )[0].amount;
const price = (factor: bigint, of: Attempt): string => (BigInt(of.unit_price) * factor).toString();

/** One attempt is in a block, and deep enough. */
async function mined(attempt: Attempt, height: number): Promise<void> {
  await db.query(`UPDATE attempt SET status = 'mined', block_hash = $2, height = $3 WHERE id = $1`, [
    attempt.id,
    `b${height}`,
    height,
  ]);
  const [{ intent_id }] = await db.query('SELECT intent_id FROM attempt WHERE id = $1', [attempt.id]);
  await db.query(`UPDATE intent SET status = 'mined' WHERE id = $1`, [intent_id]);
  await db.transaction(async (tx) => {
    const row = (await maturingAttempts(tx, 'ethereum', height)).find(({ id }) => id === attempt.id)!;
    await finalizeAttempts(tx, [{ attempt: row, success: true, feeUnits: 21000n * gwei }]);
  });
  await db.transaction((tx) => bookIntent(tx, intent_id));
}

/** A withdrawal that no block takes, at its cap, and another one behind it. */
async function blocked() {
  const first = await withdrawal('0.5');
  const second = await withdrawal('0.25');
  for (let n = 0; n < 30; n += 1) await runIntent(first.intentId);
  return { first, second, last: (await attempts(first.intentId)).at(-1)! };
}

describe('A2: what blocks a wallet', () => {
  it('is listed for operators, with what waits behind it', async () => {
    const { first, last } = await blocked();
    const text = await operate(db, { ...config, SECRETS_KEY: 'ab'.repeat(32) }, ['lanes']);
    expect(text).toContain(`${shop.hot}  next nonce 2`);
    expect(text).toContain(`nonce 0 is in no block: intent ${first.intentId}, withdrawal ${first.id}`);
    expect(text).toContain(`${last.tx_id}, price ${last.unit_price} of `);
    expect(text).toContain('1 behind it');
  });

  it('gets another attempt when two operators raise its cap', async () => {
    const { first, last } = await blocked();
    await db.query('UPDATE intent SET max_unit_price = $2, fee_budget = $3 WHERE id = $1', [
      first.intentId,
      last.unit_price,
      price(21000n, last),
    ]);
    const before = await attempts(first.intentId);
    for (let n = 0; n < 4; n += 1) await runIntent(first.intentId);
    expect(await attempts(first.intentId)).toEqual(before);
    await byTwoOperators(db, 'raise-cap', {
      intentId: first.intentId,
      maxUnitPrice: price(4n, last),
      feeBudget: price(4n * 21000n, last),
    });
    await runIntent(first.intentId);
    const newest = (await attempts(first.intentId)).at(-1)!;
    expect(BigInt(newest.unit_price)).toBeGreaterThan(BigInt(last.unit_price));
    expect(newest.is_replacement).toBe(false);
  });

  it('is replaced by a transfer to itself: the payment fails, and is returned once that is final', async () => {
    const before = await balance('available');
    const { first, second, last } = await blocked();
    const held = await balance('reserved');
    const replace = { intentId: first.intentId, maxUnitPrice: price(3n, last) };
    const { summary } = await byTwoOperators(db, 'replace-blocker', replace);
    expect(summary).toContain(`nonce 0 of ${shop.hot}`);
    // Nothing has come back yet, and the bytes that are out may still be mined.
    expect([await statusOf(first.id), await balance('reserved')]).toEqual(['broadcast', held]);
    const { goneUnits } = await spendableAt(db.manager, {
      network: 'ethereum',
      address: shop.hot,
      currency: 'ETH',
      native: 'ETH',
    });
    expect(BigInt(goneUnits)).toBeGreaterThan(75n * 10n ** 16n);
    expect(await runIntent(first.intentId)).toBe('stuck');
    const own = (await attempts(first.intentId)).at(-1)!;
    expect(own).toMatchObject({ nonce: 0, is_replacement: true, outputs: [{ address: shop.hot, units: '0' }] });
    expect(BigInt(own.unit_price)).toBeGreaterThan(BigInt(last.unit_price));
    expect(BigInt(own.unit_price)).toBeLessThanOrEqual(BigInt(replace.maxUnitPrice));
    sent = [];
    await look(first.intentId);
    expect(sent).toEqual([own.raw]);
    const still = await spendableAt(db.manager, {
      network: 'ethereum',
      address: shop.hot,
      currency: 'ETH',
      native: 'ETH',
    });
    expect(BigInt(still.goneUnits)).toBeGreaterThan(75n * 10n ** 16n);
    expect([await statusOf(first.id), await balance('reserved')]).toEqual(['broadcast', held]);

    await mined(own, 101);
    expect(await statusOf(first.id)).toBe('failed');
    const [row] = await db.query('SELECT merchant_message FROM withdrawal WHERE id = $1', [first.id]);
    expect(row.merchant_message).toContain('the money is back');
    await mined((await attempts(second.intentId)).at(-1)!, 102);
    expect(await statusOf(second.id)).toBe('completed');
    expect(await balance('reserved')).toBe('0');
    expect(compare(subtract(before, await balance('available')), '0.26')).toBe(-1);
    expect(await db.query(`SELECT FROM incident WHERE kind = 'transaction-reverted'`)).toEqual([]);
    expect(
      (await attempts(first.intentId)).filter(({ is_replacement }) => !is_replacement).map((one) => one.status),
    ).not.toContain('final');
  });

  it('is paid where one of its own transactions was mined first', async () => {
    const { first, last } = await blocked();
    await byTwoOperators(db, 'replace-blocker', { intentId: first.intentId, maxUnitPrice: price(3n, last) });
    await runIntent(first.intentId);
    await mined(last, 101);
    expect(await statusOf(first.id)).toBe('completed');
  });

  it('is held again, and sent again as the transfer to itself, where a reorganisation takes that one', async () => {
    const { first, last } = await blocked();
    const held = await balance('reserved');
    await byTwoOperators(db, 'replace-blocker', { intentId: first.intentId, maxUnitPrice: price(3n, last) });
    await runIntent(first.intentId);
    const own = (await attempts(first.intentId)).at(-1)!;
    await mined(own, 101);
    const [from, ancestor] = [101, 100].map((height) => ({ height, hash: `b${height}` }));
    await db.query(`UPDATE chain_cursor SET height = 101, hash = 'b101' WHERE network = 'ethereum'`);
    await db.transaction((tx) => rollBack(tx, 'ethereum', from!, ancestor!));
    expect([await statusOf(first.id), await balance('reserved')]).toEqual(['broadcast', held]);
    sent = [];
    await look(first.intentId);
    expect(sent).toEqual([own.raw]);
    await mined(last, 101);
    expect(await statusOf(first.id)).toBe('completed');
  });

  it('is never signed again: not by the signer, and the database refuses it', async () => {
    const { first, last } = await blocked();
    const copy = (change: string) =>
      db.query(
        `INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, unit_price, max_fee_units,
           moved_units, outputs, is_replacement)
         SELECT a.intent_id, 99, a.network, 'x', a.raw, a.from_address, a.nonce, a.unit_price, a.max_fee_units,
                ${change} FROM attempt a WHERE a.id = $1`,
        [last.id],
      );
    const toItself = `0, jsonb_build_array(jsonb_build_object('address', a.from_address, 'units', '0')), true`;
    await expect(copy(toItself)).rejects.toThrow('was not replaced');
    await expect(
      db.query('UPDATE intent SET replaced_at = now(), replaced_by = $2 WHERE id = $1', [first.intentId, newId()]),
    ).rejects.toThrow();
    await byTwoOperators(db, 'replace-blocker', { intentId: first.intentId, maxUnitPrice: price(3n, last) });
    for (let n = 0; n < 20; n += 1) await runIntent(first.intentId);
    const later = (await attempts(first.intentId)).filter((one) => BigInt(one.unit_price) > BigInt(last.unit_price));
    expect(later.length).toBeGreaterThan(1);
    expect(later.every((one) => one.is_replacement)).toBe(true);
    await expect(copy('a.moved_units, a.outputs, false')).rejects.toThrow('was replaced');
    await expect(copy('a.moved_units, a.outputs, true')).rejects.toThrow('to itself');
    await expect(
      db.query('UPDATE intent SET replaced_at = NULL, replaced_by = NULL WHERE id = $1', [first.intentId]),
    ).rejects.toThrow('stays replaced');
    await expect(
      db.query('UPDATE attempt SET is_replacement = NOT is_replacement WHERE intent_id = $1', [first.intentId]),
    ).rejects.toThrow('stays');
  });

  it('is only what comes first in its wallet, once, at a price that nodes take and that is no slip', async () => {
    const { first, second, last } = await blocked();
    const replace = (intentId: string, maxUnitPrice: string) =>
      byTwoOperators(db, 'replace-blocker', { intentId, maxUnitPrice });
    await expect(replace(second.intentId, price(2n, last))).rejects.toThrow('nonce 0 of its wallet comes first');
    await expect(replace(first.intentId, last.unit_price)).rejects.toThrow('an eighth more');
    await expect(replace(first.intentId, price(50n, last))).rejects.toThrow('ten times');
    await expect(replace('999999', '5')).rejects.toThrow('no open intent');
    await replace(first.intentId, price(2n, last));
    await expect(replace(first.intentId, price(2n, last))).rejects.toThrow('replaced already');
  });
});
