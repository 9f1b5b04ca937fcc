import type { DataSource } from 'typeorm';
import { signingActivities } from '../../activities/txmanager/signing';
import { payoutActivities } from '../../activities/payouts/payouts';
import { refundActivities } from '../../activities/refunds/refunds';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { queueBatch } from '../../commands/payouts/queue';
import { openRefund } from '../../commands/refunds/create';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { stoppedBecause } from '../../db/access/merchant-stop';
import { setMerchantStatus } from '../../db/access/merchants';
import { freeze, unfreeze } from '../../db/limits/outbound';
import { post } from '../../db/ledger/ledger';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { newId, newSlug } from '../../domain/ids';
import { unallocatedJournal } from '../../domain/ledger/ledger';
import { compare } from '../../domain/money';
import { byTwoOperators } from '../operators';
import { unguarded } from '../unguarded';
import { nodes } from './nodes';
import { codecs, richShop, seed, strangers, type RichShop } from './rich-shop';

/** What a suspended merchant has on its way out is not signed until two operators lift the stop or cancel it. */

const ann = { id: newId(), email: 'ann@shop.example' };
const deps = { codecs, rateMaxAgeSeconds: 3600 };
let shop: RichShop;
let db: DataSource;
let merchantId: string;
let signer: ReturnType<typeof signingActivities>;
let batches: ReturnType<typeof payoutActivities>;
let count = 0;

beforeAll(async () => {
  shop = await richShop('1000');
  ({ db, merchantId } = shop);
  signer = signingActivities({ db, codecs, seed });
  batches = payoutActivities({ db, nodes });
});
afterAll(() => shop?.stop());
beforeEach(() => db.query(`UPDATE merchant SET status = 'active', held_because = NULL, held_at = NULL`));

const suspend = () => db.transaction((tx) => setMerchantStatus(tx, merchantId, 'suspended', 'fraud'));
const activate = () => db.transaction((tx) => setMerchantStatus(tx, merchantId, 'active', 'cleared'));

async function listed(): Promise<string> {
  const address = codecs.ethereum.derive(strangers, (count += 1));
  const entry = { type: 'wallet', currency: 'ETH', address, destinationTag: null } as const;
  await addToWhitelist(db, merchantId, ann, entry);
  return address;
}
const idOf = (next: unknown): string => {
  if (!next || !(typeof next === 'object' && 'id' in next)) throw new Error(`Nothing planned: ${JSON.stringify(next)}`);
  return String(next.id);
};

async function aWithdrawal(): Promise<{ id: string; plan: () => Promise<unknown> }> {
  const ask = { currency: 'ETH', amount: '0.01', feeMode: 'add', address: await listed() } as const;
  const { row } = await db.transaction((tx) => openWithdrawal(tx, deps, merchantId, ask, ann, newId()));
  return { id: row.id, plan: () => withdrawalActivities({ db, nodes }).nextWithdrawalIntent(row.id) };
}

async function aPayment(status: 'SETTLED' | 'EXPIRED'): Promise<string> {
  const id = newId();
  await unguarded(db, (tx) =>
    tx.query(
      `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
         tolerance_pct, underpaid_policy, currency, network, amount, exchange_rate, amount_paid, settlement_address,
         custody, expires_at, expires_in)
       VALUES ($1, $2, $3, $5, 'api', 32, 'USD', 'merchant', 40, 1, 'hold', 'ETH', 'ethereum', 0.01, 3200, 0.01, $4,
         'platform', now(), 60)`,
      [id, merchantId, newSlug(), shop.hot, status],
    ),
  );
  return id;
}

async function aRefund(source: 'balance' | 'deposit'): Promise<{ id: string; plan: () => Promise<unknown> }> {
  const paymentId = await aPayment(source === 'balance' ? 'SETTLED' : 'EXPIRED');
  if (source === 'deposit') await unallocated(paymentId);
  const address = codecs.ethereum.derive(strangers, 7_000_000);
  const ask =
    source === 'balance'
      ? ({ type: 'partial', amount: '0.005', address } as const)
      : ({ type: 'full', address } as const);
  const { row } = await db.transaction((tx) =>
    openRefund(tx, deps, { merchantId, paymentId, ask, by: { userId: newId() }, idempotencyKey: null }),
  );
  return { id: row.id, plan: () => refundActivities({ db, nodes }).nextRefundIntent(row.id) };
}

async function unallocated(paymentId: string): Promise<void> {
  const [txId, index] = [newId(), 500 + (count += 1)];
  const address = codecs.ethereum.derive(codecs.ethereum.extendedKey(seed, 'deposit'), index);
  await db.query(
    `INSERT INTO address (network, address, role, key_index, merchant_id, payment_id)
     VALUES ('ethereum', $1, 'deposit', $2, $3, $4)`,
    [address, index, merchantId, paymentId],
  );
  await db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
       is_dust, status, first_seen_at, confirmed_at, allocation)
     VALUES ('ethereum', $1, 0, $2, 'deposit', $3, 'ETH', 0.01, 0.01, false, 'confirmed', now(), now(), 'unallocated')`,
    [txId, address, paymentId],
  );
  const deposit = { network: 'ethereum', txId, index: 0, currency: 'ETH', amount: '0.01', merchantId };
  await db.transaction((tx) => post(tx, unallocatedJournal(deposit)));
}

async function aBatch(): Promise<string> {
  const rows = [{ currency: 'ETH', amount: '0.01', address: await listed() }];
  const { row } = await db.transaction((tx) => queueBatch(tx, deps, merchantId, ann, { rows }));
  return row.id;
}
const statusOf = async (table: string, id: string): Promise<string> =>
  (await db.query(`SELECT status FROM ${table} WHERE id = $1`, [id]))[0].status;
const signedLines = async (batchId: string): Promise<number> =>
  (
    await db.query(
      `SELECT count(*)::int AS n FROM attempt a JOIN intent i ON i.id = a.intent_id WHERE i.owner_id = $1`,
      [batchId],
    )
  )[0].n;

describe('A9: a suspended merchant', () => {
  it.each([
    ['withdrawal', aWithdrawal],
    ['refund out of the balance', () => aRefund('balance')],
    ['refund of what was held for a payer', () => aRefund('deposit')],
  ])('has its %s held by the signer until two operators lift it', async (_name, made) => {
    const intentId = idOf(await (await made()).plan());
    await suspend();
    const held = { state: 'waiting', reason: 'outgoing money of the merchant is held: fraud' };
    expect(await signer.signOnce(intentId)).toEqual(held);
    await activate();
    expect(await signer.signOnce(intentId)).toEqual(held);
    await byTwoOperators(db, 'lift-hold', { merchantId });
    expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
  });

  it('has its mass payouts held, signed together or one by one', async () => {
    const batchId = await aBatch();
    await batches.payoutStep(batchId);
    await suspend();
    expect(await signer.signPayouts(batchId)).toEqual({
      stored: 0,
      reason: 'outgoing money of the merchant is held: fraud',
    });
    expect(await signedLines(batchId)).toBe(0);
    await byTwoOperators(db, 'lift-hold', { merchantId });
    await signer.signPayouts(batchId);
    expect(await signedLines(batchId)).toBe(1);
  });

  it('takes nothing of the treasury for plans while it is held', async () => {
    const one = await aWithdrawal();
    await suspend();
    expect(await one.plan()).toMatchObject({ reason: expect.stringContaining('held: fraud') });
    await byTwoOperators(db, 'lift-hold', { merchantId });
    expect(idOf(await one.plan())).toMatch(/^\d+$/);
  });

  it('has what is signed go on to its end: another price for the same transfer', async () => {
    const intentId = idOf(await (await aWithdrawal()).plan());
    expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
    await db.query(`UPDATE attempt SET status = 'final', success = true, fee_units = 1 WHERE intent_id <> $1`, [
      intentId,
    ]);
    await suspend();
    expect(await signer.signBump(intentId, 1)).toEqual({ state: 'stored' });
  });

  it('waits for a signature under way, and nothing is signed after the suspension', async () => {
    const [first, second] = [idOf(await (await aWithdrawal()).plan()), idOf(await (await aWithdrawal()).plan())];
    const letGo = await holding('wallet_sequence');
    const signed = signer.signOnce(first);
    await until('wallet_sequence');
    let isSuspended = false;
    const suspended = suspend().then(() => (isSuspended = true));
    await until('merchant SET');
    expect(isSuspended).toBe(false);
    await letGo();
    await suspended;
    expect(await signed).toEqual({ state: 'stored' });
    expect(await signer.signOnce(second)).toMatchObject({ state: 'waiting' });
  });

  it('has what is held cancelled by two operators: all of it is in the balance again', async () => {
    const free = async (): Promise<string> =>
      (
        await db.query(`SELECT trim_scale(amount)::text AS amount FROM balance WHERE account = $1 AND asset = 'ETH'`, [
          `L:available:${merchantId}`,
        ])
      )[0].amount;
    const before = await free();
    const [one, two, batchId] = [await aWithdrawal(), await aRefund('balance'), await aBatch()];
    await one.plan();
    await expect(byTwoOperators(db, 'cancel-held', { merchantId })).rejects.toThrow('is held');
    await suspend();
    const done = await byTwoOperators(db, 'cancel-held', { merchantId });
    expect(done.outcome).toMatch(/^Cancelled: \d+ withdrawals, \d+ refunds, 1 mass payouts$/);
    expect(await statusOf('withdrawal', one.id)).toBe('cancelled');
    expect(await statusOf('refund', two.id)).toBe('cancelled');
    expect(await statusOf('payout_batch', batchId)).toBe('cancelled');
    expect(await stoppedBecause(db, merchantId)).toBe('fraud');
    expect(compare(await free(), before)).toBeGreaterThanOrEqual(0);
  });
});

describe('a freeze', () => {
  afterEach(() => unfreeze(db, 'ETH'));
  const freezeEther = () => freeze(db, 'ETH', 'a test');
  const frozen = { state: 'waiting', reason: 'frozen: a test' };

  it('waits for a signature under way, and nothing is signed after it', async () => {
    const [first, second] = [idOf(await (await aWithdrawal()).plan()), idOf(await (await aWithdrawal()).plan())];
    const letGo = await holding('wallet_sequence');
    const signed = signer.signOnce(first);
    await until('wallet_sequence');
    let isFrozen = false;
    const freezing = freezeEther().then(() => (isFrozen = true));
    await until('egress_freeze');
    expect(isFrozen).toBe(false);
    await letGo();
    await freezing;
    expect(await signed).toEqual({ state: 'stored' });
    expect(await signer.signOnce(second)).toEqual(frozen);
  });

  it('is seen by a signature that waits for its merchant meanwhile', async () => {
    const intentId = idOf(await (await aWithdrawal()).plan());
    const letGo = await holding('merchant');
    const signed = signer.signOnce(intentId);
    await until('FROM merchant');
    await freezeEther();
    await letGo();
    expect(await signed).toEqual(frozen);
  });
});

/** Locks all rows of a table until the function that it gives is called. */
async function holding(table: 'merchant' | 'wallet_sequence'): Promise<() => Promise<void>> {
  const holder = db.createQueryRunner();
  await holder.startTransaction();
  await holder.query(`SELECT FROM ${table} FOR UPDATE`);
  return async () => {
    await holder.commitTransaction();
    await holder.release();
  };
}

/** Until somebody waits for a lock in a statement that has these words. */
async function until(what: string): Promise<void> {
  for (let look = 0; look < 200; look += 1) {
    const waiting = await db.query(
      `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database() AND query LIKE $1`,
      [`%${what}%`],
    );
    if (waiting.length) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`Nobody waits in ${what}`);
}
