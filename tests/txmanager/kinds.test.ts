/** @jest-environment node */
// First: it registers the kind.
import { grantOwner, grantTable, grantWorkflow } from './made-up-kind';
import type { DataSource } from 'typeorm';
import { restartActivities } from '../../activities/temporal/restart';
import { sendIntent } from '../../txmanager/send/send';
import { signingActivities } from '../../activities/txmanager/signing';
import { audit } from '../../db/audit/audit';
import { treasurySources } from '../../db/treasury/treasury';
import type { ChainAdapter } from '../../domain/chains/chain';
import { newId } from '../../domain/ids';
import { kinds, type LeavingKind } from '../../domain/txmanager/kinds';
import { bookIntent } from '../../txmanager/book';
import { outgoingKinds } from '../../txmanager/kinds';
import { firstOpen } from '../../txmanager/next-intent';
import { planOutgoing } from '../../txmanager/plan-outgoing';
import { rollBack } from '../../txmanager/reorganise';
import { resolveShortfalls } from '../../txmanager/shortfalls';
import { codecs, richShop, seed, strangers, type RichShop } from '../activities/rich-shop';
import { parseConfig } from '../../domain/config';
import { estimating } from '../activities/nodes';
import { noLog } from '../shared/no-log';

/** A kind of outgoing money is one value and one row of facts: planning, signing, sending, booking,
 *  reorganisations, restarts, summaries and the audit work for one that no other file knows. */

const ether = 10n ** 18n;
let shop: RichShop;
let db: DataSource;
let signer: ReturnType<typeof signingActivities>;
beforeAll(async () => {
  shop = await richShop('1000');
  ({ db } = shop);
  signer = estimating(db, signingActivities({ db, codecs, seed }));
  await db.query(grantTable);
});
afterAll(() => shop?.stop());

let count = 0;
const nextAddress = (): string => codecs.ethereum.derive(strangers, (count += 1));
/** A grant of whole ether. */
async function granted(amount = 1n, status = 'pending'): Promise<{ id: string; address: string }> {
  const [id, address] = [newId(), nextAddress()];
  await db.query(
    `INSERT INTO grant_order (id, merchant_id, currency, gross_amount, net_amount, address, status)
     VALUES ($1, $2, 'ETH', $3, $3, $4, $5)`,
    [id, shop.merchantId, amount.toString(), address, status],
  );
  return { id, address };
}
const plan = ({ id, address }: { id: string; address: string }, units = ether) =>
  db.transaction((tx) =>
    planOutgoing(tx, {
      kind: 'grant' as LeavingKind,
      ref: id,
      currency: 'ETH',
      outputs: [{ ref: id, address, units }],
      merchantId: null,
      owner: grantOwner(id),
    }),
  );
const next = (id: string) => db.transaction((tx) => firstOpen(tx, grantOwner(id)));
async function planned(amount = 1n) {
  const one = await granted(amount);
  expect(await plan(one, amount * ether)).toEqual({ planned: [one.id], reason: null });
  return { ...one, intentId: (await next(one.id))!.id };
}
const statusOf = async (id: string): Promise<string> =>
  (await db.query('SELECT status FROM grant_order WHERE id = $1', [id]))[0].status;
/** What its journals together took from the treasury. */
const taken = async (id: string): Promise<string> =>
  (
    await db.query(
      `WITH RECURSIVE its AS (SELECT id FROM journal WHERE key = $1
       UNION ALL SELECT j.id FROM journal j JOIN its ON j.reverses = its.id)
       SELECT trim_scale(coalesce(sum(CASE WHEN credit = 'A:treasury' THEN amount ELSE -amount END), 0))::text AS amount
         FROM posting WHERE journal_id IN (SELECT id FROM its)`,
      [`grant/${id}`],
    )
  )[0].amount;
/** As the chain would leave it. */
async function mined(intentId: string, success: boolean, height: number): Promise<void> {
  await db.query(
    `UPDATE attempt SET status = 'final', success = $2, fee_units = 21000000000000,
            final_at = now(), height = $3::bigint,
            block_hash = 'b' || $3::bigint WHERE intent_id = $1`,
    [intentId, success, height],
  );
  await db.query('UPDATE intent SET status = $2 WHERE id = $1', [intentId, success ? 'final' : 'failed']);
  await db.transaction((tx) => bookIntent(tx, intentId));
}
const followedTo = (height: number): Promise<unknown> =>
  db.query(
    `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
     VALUES ('ethereum', $1::int, 'b' || $1::int, $1::int, clock_timestamp())
     ON CONFLICT (network) DO UPDATE SET height = EXCLUDED.height, hash = EXCLUDED.hash,
       scanned_through = EXCLUDED.scanned_through`,
    [height],
  );

it('has a value for each row of facts, in one order', () => {
  expect(outgoingKinds.map(({ kind }) => kind)).toEqual(Object.keys(kinds));
  expect(Object.keys(kinds)).toContain('grant');
});

it('plans it once, says so to operators, and counts it against the treasury', async () => {
  const free = async (): Promise<bigint> => (await db.transaction((tx) => treasurySources(tx, 'ETH')))[0]!.free;
  const before = await free();
  const { id, address, intentId } = await planned(3n);
  expect(before - (await free())).toBeGreaterThan(3n * ether);
  await plan({ id, address }, 3n * ether);
  expect(await db.query('SELECT id FROM intent WHERE ref = $1', [id])).toEqual([{ id: intentId }]);
  expect(await next(id)).toEqual({
    id: intentId,
    network: 'ethereum',
    kind: 'grant',
    summary: `Grant of 3 ETH to ${address}`,
  });
});

it('signs what its row says, for its own workflow, and nothing else', async () => {
  const { id, intentId } = await planned();
  await db.query(`UPDATE grant_order SET status = 'asked' WHERE id = $1`, [id]);
  await expect(signer.signOnce(intentId)).rejects.toThrow(`Grant ${id} is asked`);
  await db.query(`UPDATE grant_order SET status = 'pending', net_amount = 2 WHERE id = $1`, [id]);
  await expect(signer.signOnce(intentId)).rejects.toThrow('address or amount');
  await db.query(`UPDATE grant_order SET net_amount = 1 WHERE id = $1`, [id]);
  await db.query(`UPDATE intent SET owner_id = 'other' WHERE id = $1`, [intentId]);
  await expect(signer.signOnce(intentId)).rejects.toThrow(`nothing wants grant ${id}`);
  await db.query('UPDATE intent SET owner_id = $2 WHERE id = $1', [intentId, id]);
  expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
  expect(await statusOf(id)).toBe('processing');
});

it('never signs a kind that nobody has registered', async () => {
  const { intentId } = await planned();
  await db.query(`UPDATE intent SET kind = 'theft' WHERE id = $1`, [intentId]);
  await expect(signer.signOnce(intentId)).rejects.toThrow('there is no kind theft');
  await db.query(`UPDATE intent SET kind = 'grant' WHERE id = $1`, [intentId]);
});

it('sends it as money that leaves: not while the network is not followed', async () => {
  const sent: string[] = [];
  const adapter = {
    network: 'ethereum',
    broadcast: (raw: string) => Promise.resolve({ outcome: sent.push(raw) ? 'accepted' : 'refused' }),
    nextNonce: () => Promise.resolve(0),
    lookUp: () => Promise.resolve({ state: 'unknown' }),
  } as unknown as ChainAdapter;
  const { id, intentId } = await planned();
  await signer.signOnce(intentId);
  expect(await sendIntent({ db, adapter, log: noLog }, intentId)).toMatchObject({
    reason: 'ethereum is not followed up to now',
  });
  expect(sent).toEqual([]);
  await followedTo(1);
  expect(await sendIntent({ db, adapter, log: noLog }, intentId)).toMatchObject({ reason: 'it is in no block yet' });
  expect(sent).toHaveLength(1);
  expect(await statusOf(id)).toBe('broadcast');
});

it('books its end once, and takes it back when the chain does', async () => {
  const { id, intentId } = await planned();
  await signer.signOnce(intentId);
  await mined(intentId, true, 1000);
  await db.transaction((tx) => bookIntent(tx, intentId));
  expect([await statusOf(id), await taken(id)]).toEqual(['completed', '1.000021']);
  expect(await next(id)).toBeNull();
  await followedTo(1000);
  const [from, ancestor] = [1000, 999].map((height) => ({ height, hash: `b${height}` }));
  await db.transaction((tx) => rollBack(tx, 'ethereum', from!, ancestor!));
  expect([await statusOf(id), await taken(id)]).toEqual(['broadcast', '0']);
  expect(await next(id)).toMatchObject({ id: intentId });
  await mined(intentId, true, 1001);
  expect([await statusOf(id), await taken(id)]).toEqual(['completed', '1.000021']);
});

it('books the fee of a reverted transaction, and its row hears of it', async () => {
  const { id, intentId } = await planned();
  await signer.signOnce(intentId);
  await mined(intentId, false, 1002);
  expect([await statusOf(id), await taken(id)]).toEqual(['failed', '0']);
  const [row] = await db.query(
    `SELECT j.key, p.credit FROM attempt a JOIN journal j ON j.key = 'fee/' || a.tx_id
       JOIN posting p ON p.journal_id = j.id
      WHERE a.intent_id = $1`,
    [intentId],
  );
  expect(row).toMatchObject({ credit: 'A:treasury' });
});

it('asks again for the workflow of an open row', async () => {
  const { id } = await granted();
  const { id: young } = await granted();
  await db.query(`UPDATE grant_order SET updated_at = now() - interval '2 minutes' WHERE id = $1`, [id]);
  const log = { warn: () => {} };
  await restartActivities({
    db,
    running: () => Promise.resolve(new Set()),
    log,
    config: parseConfig({}),
  }).reconcile();
  const asked: unknown[] = await db.query(
    `SELECT workflow, workflow_id FROM temporal_request WHERE workflow_id IN ($1, $2)`,
    [grantWorkflow(id), grantWorkflow(young)],
  );
  expect(asked).toEqual([{ workflow: 'grant', workflow_id: grantWorkflow(id) }]);
});

it('ends the alert of a shortfall as the kind says', async () => {
  const one = await granted(5000n);
  expect(await plan(one, 5000n * ether)).toMatchObject({ planned: [] });
  const open = (): Promise<unknown[]> =>
    db.query(`SELECT FROM incident WHERE kind = 'treasury-low' AND subject_id = $1 AND resolved_at IS NULL`, [one.id]);
  await db.transaction(resolveShortfalls);
  expect(await open()).toHaveLength(1);
  await db.query(`UPDATE grant_order SET status = 'cancelled' WHERE id = $1`, [one.id]);
  await db.transaction(resolveShortfalls);
  expect(await open()).toHaveLength(0);
});

it('is audited: what was sent, and a hold that is not there', async () => {
  const { id, intentId } = await planned();
  await signer.signOnce(intentId);
  await mined(intentId, true, 1003);
  const found = async (what: string): Promise<readonly string[]> =>
    (await audit(db, { settleMs: 1 })).find((violation) => violation.what === what)?.found ?? [];
  const unsent = 'something sent that its address did not get, once, in full';
  expect(await found(unsent)).toEqual([]);
  await db.query('UPDATE grant_order SET net_amount = 2 WHERE id = $1', [id]);
  expect(await found(unsent)).toEqual([`grant ${id}`]);
  expect(await found('money on its way out without its hold, or with the wrong end of it')).toContain(
    `grant ${id} completed`,
  );
});
