import type { DataSource } from 'typeorm';
import { rollBack } from '../../txmanager/reorganise';
import { signingActivities } from '../../activities/txmanager/signing';
import { listWithdrawals, readWithdrawal } from '../../db/withdrawals/withdrawals';
import { waitMessages } from '../../domain/txmanager/waits';
import { viewWithdrawal } from '../../domain/withdrawals/withdrawal';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { audit } from '../../db/audit/audit';
import { freeze, setLimits, unfreeze } from '../../db/limits/outbound';
import { post } from '../../db/ledger/ledger';
import { addToWhitelist, removeFromWhitelist } from '../../db/wallets/whitelist';
import { approveWithdrawal } from '../../commands/withdrawals/approve';
import { cancelWithdrawal } from '../../commands/withdrawals/cancel';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { newId } from '../../domain/ids';
import { subtract } from '../../domain/money';
import { codecs, richShop, seed, strangers, type RichShop } from './rich-shop';
import { adjustment } from '../../domain/ledger/entry';
import { anApprover } from '../approver';
import { bookEnd } from '../book-end';
import { unguarded } from '../unguarded';
import { estimating, nodes } from './nodes';

/** What the signer signs of a withdrawal: what its row says, to an address that is listed at that moment, and nothing
 *  else; and how its end is booked. */

const elsewhere = codecs.ethereum.derive(strangers, 1_000_000);
const ann = anApprover('ann@shop.example');
const bob = anApprover('bob@shop.example');

let shop: RichShop;
let db: DataSource;
let merchantId: string;
let signer: ReturnType<typeof signingActivities>;
let activities: ReturnType<typeof withdrawalActivities>;
const finish = (intentId: string) => bookEnd(db, intentId);
beforeAll(async () => {
  shop = await richShop('1000');
  ({ db, merchantId } = shop);
  signer = estimating(db, signingActivities({ db, codecs, seed }));
  activities = withdrawalActivities({ db, nodes });
});
afterAll(() => shop?.stop());
afterEach(async () =>
  expect(
    (await audit(db, { settleMs: 1 })).filter(({ invariant }) =>
      ['I1', 'I2', 'I3', 'I7', 'I8', 'I9'].includes(invariant),
    ),
  ).toEqual([]),
);

let count = 0;
const nextAddress = (): string => codecs.ethereum.derive(strangers, (count += 1));
async function opened(amount = '0.01', mayWait = false): Promise<{ id: string; entryId: string; address: string }> {
  const address = nextAddress();
  const { id: entryId } = await addToWhitelist(db, merchantId, ann, {
    type: 'wallet',
    currency: 'ETH',
    address,
    destinationTag: null,
  });
  const { row } = await db.transaction((tx) =>
    openWithdrawal(
      tx,
      { codecs, rateMaxAgeSeconds: 3600 },
      merchantId,
      { currency: 'ETH', amount, feeMode: 'add', address },
      ann,
      newId(),
    ),
  );
  if (!mayWait) expect(row.status).toBe('pending');
  return { id: row.id, entryId, address };
}
async function planned(amount?: string) {
  const made = await opened(amount);
  const next = await activities.nextWithdrawalIntent(made.id);
  if (!next || !('id' in next)) throw new Error(`Nothing planned: ${JSON.stringify(next)}`);
  return { ...made, intentId: next.id };
}
type Row = { status: string; merchant_message: string | null; tx_id: string | null };
const read = async (id: string): Promise<Row> => (await db.query('SELECT * FROM withdrawal WHERE id = $1', [id]))[0];
const attemptsOf = (intentId: string): Promise<unknown[]> =>
  db.query('SELECT outputs FROM attempt WHERE intent_id = $1', [intentId]);
const reserved = async (): Promise<string> =>
  (
    await db.query(`SELECT trim_scale(amount)::text AS amount FROM balance WHERE account = $1`, [
      `L:reserved:${merchantId}`,
    ])
  )[0]?.amount ?? '0';
const eventsOf = async (id: string): Promise<string[]> =>
  (await db.query('SELECT type FROM event WHERE entity_id = $1 ORDER BY seq', [id])).map(
    (row: { type: string }) => row.type,
  );
/** As the chain would leave it. */
async function mined(intentId: string, success: boolean, height = 1): Promise<void> {
  await db.query(
    `UPDATE attempt SET status = 'final', success = $2, fee_units = 21000000000000, final_at = now(),
       height = $3::bigint, block_hash = 'b' || $3::bigint WHERE intent_id = $1`,
    [intentId, success, height],
  );
  await db.query(`UPDATE intent SET status = $2 WHERE id = $1`, [intentId, success ? 'final' : 'failed']);
  await finish(intentId);
}

it('signs it once, and the row says so', async () => {
  const { id, intentId, address } = await planned();
  const all = await Promise.all([1, 2, 3].map(() => signer.signOnce(intentId)));
  expect(all).toEqual(all.map(() => ({ state: 'stored' })));
  expect(await attemptsOf(intentId)).toEqual([{ outputs: [{ address, units: '10000000000000000' }] }]);
  expect((await read(id)).status).toBe('processing');
  await expect(db.transaction((tx) => cancelWithdrawal(tx, merchantId, id))).rejects.toThrow('not in a state');
  const before = await reserved();
  await mined(intentId, true);
  await finish(intentId);
  expect(await read(id)).toMatchObject({ status: 'completed', tx_id: expect.stringMatching(/^0x/) });
  expect(before).not.toBe(await reserved());
  expect(await eventsOf(id)).toEqual([
    'withdrawal.created',
    'withdrawal.processing',
    'withdrawal.broadcast',
    'withdrawal.completed',
  ]);
  expect(await activities.nextWithdrawalIntent(id)).toBeNull();
});

it('taken back by a reorganisation: on its way again, held again, and completed once more', async () => {
  const { id, intentId } = await planned();
  const before = await reserved();
  await signer.signOnce(intentId);
  await mined(intentId, true, 1000);
  const [from, ancestor] = [1000, 999].map((height) => ({ height, hash: `b${height}` }));
  await db.query(
    `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
       VALUES ('ethereum', 1000, 'b1000', 1000, now())`,
  );
  await db.transaction((tx) => rollBack(tx, 'ethereum', from!, ancestor!));
  expect(await read(id)).toMatchObject({ status: 'broadcast', completed_at: null });
  expect(await reserved()).toBe(before);
  await mined(intentId, true, 1001);
  expect((await read(id)).status).toBe('completed');
  expect((await eventsOf(id)).slice(-3)).toEqual([
    'withdrawal.completed',
    'withdrawal.broadcast',
    'withdrawal.completed',
  ]);
  expect(await db.query(`SELECT i.type FROM ledger_entry i WHERE source_id = $1 ORDER BY seq`, [id])).toEqual(
    ['reserve', 'withdrawal', 'reversal', 'reversal'].map((type) => ({ type })),
  );
});

describe('a reorganisation, and another end than before', () => {
  const takenBack = async (): Promise<void> => {
    const [from, ancestor] = [2000, 1999].map((height) => ({ height, hash: `b${height}` }));
    await db.query(
      `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
         VALUES ('ethereum', 2000, 'b2000', 2000, now())
       ON CONFLICT (network) DO UPDATE SET height = 2000, hash = 'b2000'`,
    );
    await db.transaction((tx) => rollBack(tx, 'ethereum', from!, ancestor!));
  };
  // Out of reach of the next one.
  afterEach(() => db.query('UPDATE attempt SET height = 1 WHERE height >= 2000'));
  const available = async (): Promise<string> =>
    (
      await db.query(
        `SELECT trim_scale(amount)::text AS amount FROM balance WHERE account = 'L:available:' || $1 AND asset = 'ETH'`,
        [merchantId],
      )
    )[0].amount;
  const clean = async (): Promise<void> =>
    expect(
      (await audit(db, { settleMs: 1 })).filter(({ invariant }) => ['I1', 'I2', 'I3', 'I7', 'I9'].includes(invariant)),
    ).toEqual([]);

  it.each([true, false])('as often as it comes; arrived at first: %s', async (first) => {
    const before = await available();
    const { id, intentId } = await planned();
    const held = [await available(), await reserved()];
    await signer.signOnce(intentId);
    for (const success of [first, !first, first, !first]) {
      await mined(intentId, success, 2000);
      expect((await read(id)).status).toBe(success ? 'completed' : 'failed');
      // The first charge of a reverted one is what it costs each time.
      expect(await available()).toBe(success ? held[0] : subtract(before, '0.000021'));
      await clean();
      await takenBack();
      expect(await read(id)).toMatchObject({ status: 'broadcast', completed_at: null, merchant_message: null });
      expect([await available(), await reserved()]).toEqual(held);
      await clean();
    }
    await mined(intentId, true, 2000);
    expect((await read(id)).status).toBe('completed');
  });

  it('what came back and is spent stays failed, and operators are told', async () => {
    const { id, intentId } = await planned();
    await signer.signOnce(intentId);
    await mined(intentId, false, 2000);
    const all = {
      debit: `L:available:${merchantId}`,
      credit: 'Q:capital',
      asset: 'ETH',
      amount: await available(),
    } as const;
    await db.transaction((tx) => post(tx, { key: 'test/spent', entry: adjustment, postings: [all] }));
    await takenBack();
    await clean();
    await mined(intentId, true, 2000);
    expect((await read(id)).status).toBe('failed');
    expect(await db.query('SELECT kind FROM incident WHERE key = $1', [`hold-gone/withdrawal/${id}`])).toHaveLength(1);
    const back = { ...all, debit: all.credit, credit: all.debit };
    await db.transaction((tx) => post(tx, { key: 'test/back', entry: adjustment, postings: [back] }));
  });
});

it('reverted on the chain: the money is back, less the fee of the chain', async () => {
  const before = await reserved();
  const { id, intentId } = await planned();
  await signer.signOnce(intentId);
  await mined(intentId, false);
  await finish(intentId);
  expect(await read(id)).toMatchObject({ status: 'failed', merchant_message: expect.stringContaining('reverted') });
  expect(await reserved()).toBe(before);
  expect(await eventsOf(id)).toEqual(['withdrawal.created', 'withdrawal.processing', 'withdrawal.failed']);
  const fees = await db.query(
    `SELECT p.amount::float8 AS amount FROM posting p JOIN journal j ON j.id = p.journal_id WHERE j.key = 'fee/' || $1`,
    [(await read(id)).tx_id],
  );
  expect(fees).toEqual([{ amount: 0.000021 }]);
});

it.each<[string, string]>([
  ['another address', `UPDATE withdrawal SET address = '${elsewhere}' WHERE id = $1`],
  [
    'another amount',
    `UPDATE withdrawal SET net_amount = net_amount - 0.001, gross_amount = gross_amount - 0.001, amount = amount - 0.001
       WHERE id = $1`,
  ],
  [
    'an approval by nobody else',
    `UPDATE withdrawal SET needs_approval = true, approved_by = NULL, status = 'awaiting_approval', approved_at = NULL,
       state_version = 2 WHERE id = $1`,
  ],
  [
    'an intent to another address',
    `UPDATE intent SET outputs = jsonb_set(outputs, '{0,address}', '"${elsewhere}"') WHERE ref = $1`,
  ],
  [
    'an intent with another amount',
    `UPDATE intent SET outputs = jsonb_set(outputs, '{0,units}', '"1"') WHERE ref = $1`,
  ],
  [
    'an intent with another output',
    `UPDATE intent SET outputs = outputs || '[{"address":"${elsewhere}","units":"1"}]' WHERE ref = $1`,
  ],
  ['an intent of nobody', `UPDATE intent SET owner_id = 'none' WHERE ref = $1`],
  ['no limit that counts it', `DELETE FROM egress_admission WHERE ref = $1`],
])('signs nothing with %s', async (what, change) => {
  const { id, intentId } = await planned();
  await unguarded(db, (tx) => tx.query(change, [id]));
  if (what === 'another address')
    await addToWhitelist(db, merchantId, ann, {
      type: 'wallet',
      currency: 'ETH',
      address: elsewhere,
      destinationTag: null,
    });
  await expect(signer.signOnce(intentId)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
  expect(await attemptsOf(intentId)).toEqual([]);
  // For the audit at the end: what was tampered with is put away.
  await db.query(
    `INSERT INTO egress_admission (kind, ref, merchant_id, usd) VALUES ('withdrawal', $1, $2, 0)
       ON CONFLICT DO NOTHING`,
    [id, merchantId],
  );
  if (what === 'another amount')
    await unguarded(db, (tx) =>
      tx.query(
        `UPDATE withdrawal SET net_amount = net_amount + 0.001, gross_amount = gross_amount + 0.001,
           amount = amount + 0.001 WHERE id = $1`,
        [id],
      ),
    );
  await db.transaction((tx) => cancelWithdrawal(tx, merchantId, id));
});

it('an address taken off the list is not paid: the money is back', async () => {
  const before = await reserved();
  const { id, intentId, entryId } = await planned();
  await removeFromWhitelist(db, merchantId, entryId, ann.id);
  expect(await signer.signOnce(intentId)).toMatchObject({ state: 'dropped' });
  expect(await read(id)).toMatchObject({ status: 'failed', merchant_message: expect.stringContaining('whitelist') });
  expect(await attemptsOf(intentId)).toEqual([]);
  expect(await activities.nextWithdrawalIntent(id)).toBeNull();
  // Also while it waits to be planned.
  const other = await opened();
  await removeFromWhitelist(db, merchantId, other.entryId, ann.id);
  expect(await activities.nextWithdrawalIntent(other.id)).toBeNull();
  expect((await read(other.id)).status).toBe('failed');
  expect(await reserved()).toBe(before);
});

it('cancelling and signing exclude each other, two hundred times', async () => {
  const before = parseFloat(await reserved());
  let signedCount = 0;
  for (let round = 0; round < 200; round += 1) {
    const { id, intentId } = await planned('0.001');
    const acts = [() => signer.signOnce(intentId), () => db.transaction((tx) => cancelWithdrawal(tx, merchantId, id))];
    const [signed, cancelled] = await Promise.allSettled(acts.map((act) => act()));
    const isSigned = signed!.status === 'fulfilled' && (signed!.value as { state: string }).state === 'stored';
    if (isSigned) signedCount += 1;
    expect(isSigned).toBe(cancelled!.status === 'rejected');
    expect((await read(id)).status).toBe(isSigned ? 'processing' : 'cancelled');
    expect(await attemptsOf(intentId)).toHaveLength(isSigned ? 1 : 0);
  }
  expect(parseFloat(await reserved())).toBeCloseTo(before + signedCount * (0.001 + 0.000042), 9);
});

it('taking an address off the list and signing exclude each other', async () => {
  for (let round = 0; round < 30; round += 1) {
    const { id, intentId, entryId } = await planned('0.001');
    const [signed] = await Promise.all([
      signer.signOnce(intentId),
      removeFromWhitelist(db, merchantId, entryId, ann.id),
    ]);
    expect((await read(id)).status).toBe(signed.state === 'stored' ? 'processing' : 'failed');
    expect(await attemptsOf(intentId)).toHaveLength(signed.state === 'stored' ? 1 : 0);
  }
});

it('waits at the signer where limits have become tighter, and where its currency is stopped', async () => {
  const { id, intentId } = await planned();
  await setLimits(db, 'platform', { dailyUsd: '1', hourlyCount: null, approvalUsd: null }, 'test', 0);
  expect(await signer.signOnce(intentId)).toMatchObject({
    state: 'waiting',
    reason: expect.stringContaining('daily limit'),
  });
  await setLimits(db, 'platform', { dailyUsd: null, hourlyCount: null, approvalUsd: null }, 'test', 0);
  await db.query(`INSERT INTO egress_freeze (currency, reason) VALUES ('*', 'drill')`);
  expect(await signer.signOnce(intentId)).toMatchObject({ state: 'waiting', reason: 'frozen: drill' });
  await db.query('DELETE FROM egress_freeze');
  expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
  expect((await read(id)).status).toBe('processing');
});

it('12: tells the merchant why it waits to be signed, and nothing of ours', async () => {
  const { id, intentId } = await planned();
  const message = async (): Promise<string | null> =>
    viewWithdrawal((await readWithdrawal(db, merchantId, id))!, true).merchantMessage;
  expect(await message()).toBeNull();
  await setLimits(db, 'platform', { dailyUsd: '1', hourlyCount: null, approvalUsd: null }, 'test', 0);
  await signer.signOnce(intentId);
  expect(await message()).toBe(waitMessages.limit);
  await setLimits(db, 'platform', { dailyUsd: null, hourlyCount: null, approvalUsd: null }, 'test', 0);
  await db.query(`INSERT INTO egress_freeze (currency, reason) VALUES ('*', 'a thief in the treasury')`);
  await signer.signOnce(intentId);
  expect(await message()).toBe(waitMessages.paused);
  await db.query('DELETE FROM egress_freeze');
  await db.query(`UPDATE wallet_sequence SET frozen_reason = 'a thief in the treasury'`);
  await expect(signer.signOnce(intentId)).rejects.toMatchObject({ code: 'WALLET_FROZEN' });
  expect(await message()).toBe(waitMessages.checked);
  const { items } = await listWithdrawals(db, merchantId, {}, { page: 1, limit: 100 });
  expect(items.find((one) => one.id === id)).toMatchObject({ waits_for: 'checked' });
  await db.query('UPDATE wallet_sequence SET frozen_reason = NULL');
  expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
  expect(await message()).toBeNull();
});

describe('a stop and a signature at once', () => {
  const until = async (what: string): Promise<void> => {
    for (let n = 0; n < 1000; n += 1) {
      const waiting = await db.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
           AND query LIKE $1`,
        [`%${what}%`],
      );
      if (waiting.length) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`Nobody waits in ${what}`);
  };

  it('a stop waits for the signature under way, and nothing is signed after it', async () => {
    const { intentId } = await planned();
    const other = await planned();
    const holder = db.createQueryRunner();
    await holder.startTransaction();
    await holder.query('SELECT FROM wallet_sequence FOR UPDATE');
    const signed = signer.signOnce(intentId);
    await until('wallet_sequence');
    let isStopped = false;
    const stopped = freeze(db, 'ETH', 'drill').then(() => (isStopped = true));
    await until('egress_freeze');
    expect([isStopped, await attemptsOf(intentId)]).toEqual([false, []]);
    await holder.commitTransaction();
    await holder.release();
    await stopped;
    expect(await attemptsOf(intentId)).toHaveLength(1);
    expect(await signed).toEqual({ state: 'stored' });
    expect(await signer.signOnce(other.intentId)).toEqual({ state: 'waiting', reason: 'frozen: drill' });
    await unfreeze(db, 'ETH');
    expect(await signer.signOnce(other.intentId)).toEqual({ state: 'stored' });
  });

  it('a signature waits for the stop under way, and is none', async () => {
    const { intentId } = await planned();
    const runner = db.createQueryRunner();
    await runner.startTransaction();
    await freeze(runner.manager, 'ETH', 'drill');
    const signed = signer.signOnce(intentId);
    await until('hold_freezes');
    await runner.commitTransaction();
    await runner.release();
    expect(await signed).toEqual({ state: 'waiting', reason: 'frozen: drill' });
    expect(await attemptsOf(intentId)).toEqual([]);
    await unfreeze(db, 'ETH');
    expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
  });
});

it('above a sum it is sent once a second person has approved it', async () => {
  await setLimits(db, merchantId, { dailyUsd: null, hourlyCount: null, approvalUsd: '10' }, 'test', 0);
  const { id } = await opened('0.01', true);
  expect(await activities.nextWithdrawalIntent(id)).toBeNull();
  await expect(db.transaction((tx) => approveWithdrawal(tx, merchantId, id, ann))).rejects.toMatchObject({
    code: 'SECOND_PERSON',
  });
  await db.transaction((tx) => approveWithdrawal(tx, merchantId, id, bob));
  const next = await activities.nextWithdrawalIntent(id);
  expect(await signer.signOnce((next as { id: string }).id)).toEqual({ state: 'stored' });
  await setLimits(db, merchantId, { dailyUsd: null, hourlyCount: null, approvalUsd: null }, 'test', 0);
});
