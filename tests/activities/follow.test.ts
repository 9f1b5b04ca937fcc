import { ApplicationFailure } from '@temporalio/activity';
import { broadcastActivities } from '../../activities/txmanager/broadcast';
import { signingActivities } from '../../activities/txmanager/signing';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { resolveRefusals } from '../../db/incidents';
import type { ChainAdapter } from '../../domain/chains/chain';
import { newId } from '../../domain/ids';
import { codecs, richShop, seed, strangers, type RichShop } from './rich-shop';
import { nodes } from './nodes';

/** A transaction from its first sending to the books, in one activity whose tries are its looks. */

let shop: RichShop;
let answer: Awaited<ReturnType<ChainAdapter['broadcast']>>;
let sent: string[];
let lines: object[];
beforeAll(async () => {
  shop = await richShop('1000');
});
afterAll(() => shop?.stop());
beforeEach(() => {
  answer = { outcome: 'accepted' };
  sent = [];
  lines = [];
});

const adapter = {
  network: 'ethereum',
  broadcast: (raw: string) => {
    sent.push(raw);
    return Promise.resolve(answer);
  },
  nextNonce: () => Promise.resolve(0),
  lookUp: () => Promise.resolve({ state: 'unknown' }),
} as unknown as ChainAdapter;
type Look = { state: string; reason?: string; pauseMs?: number | null };
async function look(intentId: string): Promise<Look> {
  const log = { info: (fields: object, text: string) => void lines.push({ text, ...fields }) };
  const { followIntent } = broadcastActivities({ db: shop.db, adapter, log });
  try {
    const { state, reason } = await followIntent(intentId);
    return { state, ...(reason ? { reason } : {}) };
  } catch (error) {
    if (!(error instanceof ApplicationFailure) || error.type !== 'INTENT_OPEN') throw error;
    expect(error.nonRetryable).toBeFalsy();
    return { state: 'open', reason: error.message, pauseMs: error.nextRetryDelay as number };
  }
}

let count = 0;
/** A withdrawal that is signed and not sent. */
async function signed(): Promise<{ id: string; intentId: string }> {
  const { db, merchantId } = shop;
  const by = { id: newId(), email: 'ann@shop.example' };
  const address = codecs.ethereum.derive(strangers, (count += 1));
  await addToWhitelist(db, merchantId, by, { type: 'wallet', currency: 'ETH', address, destinationTag: null });
  const ask = { currency: 'ETH', amount: '0.01', feeMode: 'add' as const, address };
  const { row } = await db.transaction((tx) =>
    openWithdrawal(tx, { codecs, rateMaxAgeSeconds: 3600 }, merchantId, ask, by, newId()),
  );
  const next = await withdrawalActivities({ db, nodes }).nextWithdrawalIntent(row.id);
  if (!next || !('id' in next)) throw new Error(`Nothing planned: ${JSON.stringify(next)}`);
  expect(await signingActivities({ db, codecs, seed }).signOnce(next.id)).toEqual({ state: 'stored' });
  return { id: row.id, intentId: next.id };
}
const followed = (): Promise<unknown> =>
  shop.db.query(
    `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
       VALUES ('ethereum', 1, 'x', 1, clock_timestamp())
     ON CONFLICT (network) DO UPDATE SET scanned_through = clock_timestamp()`,
  );
const statusOf = async (id: string): Promise<string> =>
  (await shop.db.query('SELECT status FROM withdrawal WHERE id = $1', [id]))[0].status;
async function mined(intentId: string, success = true): Promise<void> {
  await shop.db.query(
    `UPDATE attempt SET status = 'final', success = $2, fee_units = 21000000000000, final_at = now(), height = 2,
       block_hash = 'b2' WHERE intent_id = $1`,
    [intentId, success],
  );
  await shop.db.query('UPDATE intent SET status = $2 WHERE id = $1', [intentId, success ? 'final' : 'failed']);
}

it('looks until the end is booked, and says what it waits for', async () => {
  const began = Date.now();
  const { id, intentId } = await signed();
  const before = await look(intentId);
  expect(before).toMatchObject({ state: 'open', reason: 'waiting, ethereum is not followed up to now' });
  expect(before.pauseMs).toBeGreaterThanOrEqual(1000);
  expect(before.pauseMs).toBeLessThanOrEqual(Math.max(1000, (Date.now() - began) / 4));
  expect(sent).toEqual([]);
  await followed();
  expect(await look(intentId)).toMatchObject({ reason: 'waiting, it is in no block yet' });
  expect(await look(intentId)).toMatchObject({ reason: 'waiting, it is in no block yet' });
  expect(new Set(sent).size).toBe(1);
  expect(await statusOf(id)).toBe('broadcast');
  await shop.db.query(`UPDATE attempt SET status = 'mined', height = 2, block_hash = 'b2' WHERE intent_id = $1`, [
    intentId,
  ]);
  expect(await look(intentId)).toMatchObject({ reason: 'waiting, it is in a block, not deep yet' });
  await mined(intentId);
  for (let n = 0; n < 2; n += 1) expect(await look(intentId)).toEqual({ state: 'final' });
  expect(await statusOf(id)).toBe('completed');
  expect(await shop.db.query('SELECT booked FROM intent WHERE id = $1', [intentId])).toEqual([{ booked: true }]);
});

describe('B5: a node that stands still', () => {
  it('is given nothing new, however fresh the last look was', async () => {
    const { intentId } = await signed();
    await followed();
    await shop.db.query(`UPDATE chain_cursor SET stale_since = now(), stale_reason = 'The node has no peers'`);
    expect(await look(intentId)).toMatchObject({ reason: 'waiting, ethereum is not followed up to now' });
    expect(sent).toEqual([]);
    await shop.db.query('UPDATE chain_cursor SET stale_since = NULL');
    expect(await look(intentId)).toMatchObject({ reason: 'waiting, it is in no block yet' });
    expect(sent).toHaveLength(1);
  });
});

it('repeats what a node refuses for a reason of its own, however long, and freezes nothing', async () => {
  const { id, intentId } = await signed();
  await followed();
  answer = { outcome: 'refused', why: 'other', reason: 'txpool is full' };
  const incidents = (): Promise<unknown> =>
    shop.db.query(`SELECT details->>'reason' AS reason, resolved_at FROM incident WHERE kind = 'transaction-refused'`);
  for (let height = 1; height < 20; height += 5) {
    await shop.db.query('UPDATE chain_cursor SET height = $1, scanned_through = clock_timestamp()', [height]);
    expect(await look(intentId)).toMatchObject({ reason: 'waiting, txpool is full' });
  }
  expect(new Set(sent).size).toBe(1);
  expect(await incidents()).toEqual([{ reason: 'txpool is full', resolved_at: null }]);
  await shop.db.transaction(resolveRefusals);
  expect(await incidents()).toMatchObject([{ resolved_at: null }]);
  answer = { outcome: 'accepted' };
  expect(await look(intentId)).toMatchObject({ reason: 'waiting, it is in no block yet' });
  expect(await statusOf(id)).toBe('broadcast');
  await shop.db.transaction(resolveRefusals);
  expect(await incidents()).toMatchObject([{ resolved_at: expect.any(Date) as Date }]);
});

it('books what was reverted', async () => {
  const { id, intentId } = await signed();
  await followed();
  await look(intentId);
  await mined(intentId, false);
  expect(await look(intentId)).toEqual({ state: 'failed' });
  expect(await statusOf(id)).toBe('failed');
});

it('looks less and less often, but often enough', async () => {
  const { intentId } = await signed();
  await followed();
  for (const [age, least, most] of [
    ['0 seconds', 1000, 1000],
    ['20 seconds', 5000, 6000],
    ['1 hour', 15_000, 15_000],
  ] as const) {
    const began = Date.now();
    await shop.db.query(`UPDATE attempt SET created_at = now() - $2::interval WHERE intent_id = $1`, [intentId, age]);
    const { pauseMs } = await look(intentId);
    expect(pauseMs).toBeGreaterThanOrEqual(least);
    expect(pauseMs).toBeLessThanOrEqual(Math.min(15_000, most + (Date.now() - began) / 4));
  }
});

it('asks for another attempt where the price is too low, once it is the next of its wallet', async () => {
  const { intentId } = await signed();
  await followed();
  answer = { outcome: 'refused', why: 'fee', reason: 'underpriced' };
  expect(await look(intentId)).toMatchObject({ reason: 'waiting, nonce 1 of its wallet is in no block yet' });
  await shop.db.query(
    `UPDATE attempt SET status = 'mined', height = 2, block_hash = 'b2' WHERE status = 'sent' AND intent_id <> $1`,
    [intentId],
  );
  expect(await look(intentId)).toEqual({ state: 'stuck', reason: 'underpriced' });
});

it('tells the log once that a transaction is sent, and that it is final', async () => {
  const { id, intentId } = await signed();
  await followed();
  for (let n = 0; n < 2; n += 1) await look(intentId);
  const [attempt] = await shop.db.query('SELECT tx_id FROM attempt WHERE intent_id = $1', [intentId]);
  const known = { network: 'ethereum', intentId, txId: attempt.tx_id };
  const ofIt = { kind: 'withdrawal', attempt: 1, withdrawalId: id, workflowId: `withdrawal/${id}` };
  expect(lines).toEqual([{ text: 'transaction sent', ...known, ...ofIt }]);
  await mined(intentId);
  await look(intentId);
  expect(lines.slice(1)).toEqual([{ text: 'transaction final', ...known }]);
});
