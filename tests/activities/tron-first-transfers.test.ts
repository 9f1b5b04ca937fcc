/** @jest-environment node */
import { payoutActivities } from '../../activities/payouts/payouts';
import { refundActivities } from '../../activities/refunds/refunds';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { createCodecs } from '../../chains/codecs';
import { queueBatch } from '../../commands/payouts/queue';
import { openRefund } from '../../commands/refunds/create';
import { cancelWithdrawal } from '../../commands/withdrawals/cancel';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { newId } from '../../domain/ids';
import { waitsForFirst } from '../../txmanager/first-transfers';
import type { NextIntent } from '../../txmanager/next-intent';
import { sendPayouts } from '../../txmanager/send/payouts';
import type { Shop } from '../api/harness';
import { anApprover } from '../approver';
import { creditFromCapital } from '../credit-from-capital';
import { forAllTests, networkOfShop, payer, units, type TronShop } from './tron-shop';

/** Of the transfers of one currency to one new address that are open at once, the first alone is charged for as such:
 *  the others wait until it is in a block, and take what is usual. */

type Coin = 'TRX' | 'USDT_TRC20';
type Bearer = 'receiver' | 'merchant';
let tron: TronShop;
const both = ['TRX', 'USDT_TRC20'] as const;
const ann = anApprover('ann@shop.example');
forAllTests((started) => (tron = started));
beforeAll(async () => {
  await tron.fundWallets();
  for (const asset of both) await give(tron.shop, asset);
});

const give = (shop: Shop, asset: Coin): Promise<unknown> => creditFromCapital(tron.db, shop.id, asset, '700');
const deps = () => ({ codecs: createCodecs(tron.config.chain), rateMaxAgeSeconds: 3600 });
const at = () => ({ db: tron.db, nodes: [tron.adapter] });
let people = 300;
/** The address of somebody who has nothing yet. */
const somebody = (): string => tron.world.addressAt((people += 1));
const listed = new Set<string>();
async function list(currency: Coin, address: string, shop = tron.shop): Promise<void> {
  const entry = `${shop.id} ${currency} ${address}`;
  if (listed.has(entry)) return;
  listed.add(entry);
  await addToWhitelist(tron.db.manager, shop.id, ann, { type: 'wallet', currency, address, destinationTag: null });
}
/** A withdrawal, its quote, and what its workflow asks for next. */
type Asked = Readonly<{ id: string; quote: string; next: () => Promise<NextIntent> }>;

async function withdrawal(currency: Coin, address: string, bearer: Bearer, shop = tron.shop): Promise<Asked> {
  await list(currency, address, shop);
  const feeMode = bearer === 'merchant' ? ('add' as const) : ('deduct' as const);
  const { row } = await tron.db.transaction((tx) =>
    openWithdrawal(tx, deps(), shop.id, { currency, amount: '20', feeMode, address }, ann, newId()),
  );
  const next = (): Promise<NextIntent> => withdrawalActivities(at()).nextWithdrawalIntent(row.id);
  return { id: row.id, quote: row.network_fee, next };
}

/** What was charged for it beside what its row was quoted: to the receiver by the row, or to the merchant apart. */
async function chargedAbove({ id }: Asked, table: 'withdrawal' | 'refund' = 'withdrawal'): Promise<bigint> {
  const [row] = await tron.db.query(
    `SELECT coalesce(t.added_fee, 0) + coalesce((
              SELECT sum(p.amount) FROM posting p JOIN journal j ON j.id = p.journal_id WHERE j.key = $2), 0) AS more
       FROM ${table} t WHERE t.id = $1`,
    [id, `hold/${table}/${id}/gas`],
  );
  return units(row.more);
}
const waiting = { lookAgainInMs: expect.any(Number), reason: waitsForFirst };
/** Its gas is there, and it is signed next. */
async function planned({ next }: Asked): Promise<{ id: string; kind: string }> {
  for (;;) {
    const intent = await next();
    if (!intent || !('id' in intent)) throw new Error(`Nothing planned: ${JSON.stringify(intent)}`);
    if (intent.kind !== 'gas') return intent;
    await tron.carryOut(intent.id);
  }
}
/** It waits for the first, with its gas if that comes before. */
async function waitsOf(asked: Asked): Promise<unknown> {
  const next = await asked.next();
  if (!next || !('id' in next)) return next;
  return { kind: next.kind };
}
const statusOf = async (table: string, { id }: Asked): Promise<string> =>
  (await tron.db.query(`SELECT status FROM ${table} WHERE id = $1`, [id]))[0].status;

/** Brings a mass payout to its end. */
async function carryOutBatch(id: string, most: number): Promise<void> {
  const { payoutStep } = payoutActivities(at());
  const signer = tron.signer();
  for (let rounds = 0; ; rounds += 1) {
    const step = await payoutStep(id);
    if (!step) return;
    if (rounds > most) throw new Error(`Not ended after ${rounds} rounds: ${step.summary}`);
    const asked = tron.termsAsked;
    if (step.sign) await signer.signPayouts(id);
    // What waits is not asked about: of a hundred lines that would be a hundred calls.
    expect(tron.termsAsked - asked).toBeLessThanOrEqual(2);
    await sendPayouts({ db: tron.db, adapter: tron.adapter, log: { info: () => undefined } }, id);
    await tron.mine();
  }
}

it.each(both)('charges the first line of a mass payout in %s to each new address, and no other', async (currency) => {
  const [one, other] = [somebody(), somebody()];
  const lines: Array<[to: string, amount: string]> = [
    [one, '10.000001'],
    [other, '12'],
    [one, '3.900001'],
    [one, '3.900002'],
    [other, '12.5'],
    [one, '9.000001'],
  ];
  for (const address of [one, other]) await list(currency, address);
  const rows = lines.map(([address, amount]) => ({ currency, address, amount }));
  const { row } = await tron.db.transaction((tx) => queueBatch(tx, deps(), tron.shop.id, ann, { rows }));
  await carryOutBatch(row.id, 16);
  const paid = (await tron.db.query(
    `SELECT l.address, l.status, l.added_fee IS NOT NULL AS "isFirst", l.amount::text, l.network_fee::text AS fee,
            l.net_amount::text AS net, a.fee_units::text AS burned
       FROM payout_leg l JOIN attempt a ON a.intent_id = l.intent_id AND a.status = 'final'
      WHERE l.batch_id = $1 ORDER BY l.row_index`,
    [row.id],
  )) as Array<Record<'address' | 'status' | 'amount' | 'fee' | 'net' | 'burned', string> & { isFirst: boolean }>;
  expect(paid.map(({ status, isFirst }) => [status, isFirst])).toEqual(
    [true, true, false, false, false, false].map((isFirst) => ['completed', isFirst]),
  );
  expect(new Set(paid.filter(({ isFirst }) => !isFirst).map(({ fee }) => fee)).size).toBe(1);
  const dearest = Math.min(...paid.filter(({ isFirst }) => isFirst).map(({ burned }) => Number(burned)));
  for (const { isFirst, burned } of paid) expect(Number(burned) >= dearest).toBe(isFirst);
  for (const address of [one, other]) {
    const nets = paid.filter((line) => line.address === address).map(({ net }) => units(net));
    expect(await tron.held(address, currency)).toBe(nets.reduce((sum, net) => sum + net, 0n));
  }
});

describe.each([
  ['TRX', 'receiver'],
  ['TRX', 'merchant'],
  ['USDT_TRC20', 'receiver'],
  ['USDT_TRC20', 'merchant'],
] as const)('of two withdrawals of %s to a new address, where the %s bears the fee', (currency, bearer) => {
  it('the first is charged for it, and the other waits until it is in a block', async () => {
    const to = somebody();
    const [first, second] = [await withdrawal(currency, to, bearer), await withdrawal(currency, to, bearer)];
    const { id: intentId } = await planned(first);
    expect(await waitsOf(second)).not.toMatchObject({ kind: 'withdrawal' });
    expect(await chargedAbove(first)).toBeGreaterThan(0n);
    expect(await tron.signer().signOnce(intentId)).toEqual({ state: 'stored' });
    expect(await waitsOf(second)).not.toMatchObject({ kind: 'withdrawal' });
    await tron.sendSigned(intentId);
    await tron.carryOutAll(second.next);
    for (const one of [first, second]) expect(await statusOf('withdrawal', one)).toBe('completed');
    expect(await chargedAbove(second)).toBe(0n);
  });

  it('the other is the first where that is cancelled', async () => {
    const to = somebody();
    const [first, second] = [await withdrawal(currency, to, bearer), await withdrawal(currency, to, bearer)];
    await planned(first);
    expect(await waitsOf(second)).not.toMatchObject({ kind: 'withdrawal' });
    expect(await chargedAbove(second)).toBe(0n);
    await tron.db.transaction((tx) => cancelWithdrawal(tx, tron.shop.id, first.id));
    await tron.carryOutAll(second.next);
    expect(await statusOf('withdrawal', second)).toBe('completed');
    expect(await chargedAbove(second)).toBeGreaterThan(0n);
  });
});

it('counts what is planned of every kind: a refund waits for a withdrawal to the same new address', async () => {
  const made = await tron.confirmed('TRX');
  await tron.swept(made);
  expect(await tron.run(made)).toBe('SETTLED');
  const to = somebody();
  const first = await withdrawal('TRX', to, 'receiver');
  const { row } = await tron.db.transaction((tx) =>
    openRefund(tx, deps(), {
      merchantId: tron.shop.id,
      paymentId: made.paymentId,
      ask: { type: 'partial', amount: '50', address: to, feeBearer: 'payer' },
      by: { userId: newId() },
      idempotencyKey: null,
    }),
  );
  const next = (): Promise<NextIntent> => refundActivities(at()).nextRefundIntent(row.id);
  const refund = { id: row.id, quote: row.network_fee, next };
  await planned(first);
  expect(await next()).toEqual(waiting);
  await tron.carryOutAll(first.next);
  await tron.carryOutAll(next);
  expect(await statusOf('refund', refund)).toBe('completed');
  expect(await chargedAbove(refund, 'refund')).toBe(0n);
});

describe('of another merchant', () => {
  let other: Shop;
  beforeAll(async () => {
    other = await tron.h.shop({}, ['TRX']);
    await give(other, 'TRX');
  });
  /** One of theirs that is the first to somebody, and one of ours behind it. */
  async function behindTheirs(): Promise<{ theirs: Asked; theirId: string; own: Asked }> {
    const to = somebody();
    const theirs = await withdrawal('TRX', to, 'receiver', other);
    const { id: theirId } = await planned(theirs);
    const own = await withdrawal('TRX', to, 'receiver');
    expect(await own.next()).toEqual(waiting);
    return { theirs, theirId, own };
  }

  it.each(['held', 'funds'])('it does not wait for money that may wait for days: %s', async (why) => {
    const { theirs, theirId, own } = await behindTheirs();
    await tron.db.query('UPDATE intent SET waits_for = $2 WHERE id = $1', [theirId, why]);
    await tron.carryOutAll(own.next);
    expect(await statusOf('withdrawal', own)).toBe('completed');
    await tron.carryOutAll(theirs.next);
  });

  it('it does not wait for what is signed and no block can have any more', async () => {
    const { theirs, theirId, own } = await behindTheirs();
    expect(await tron.signer().signOnce(theirId)).toEqual({ state: 'stored' });
    expect(await own.next()).toEqual(waiting);
    await tron.mine(240);
    await tron.sendSigned(theirId);
    expect(await tron.db.query('SELECT status FROM attempt WHERE intent_id = $1', [theirId])).toEqual([
      { status: 'expired' },
    ]);
    await tron.carryOutAll(own.next);
    expect(await statusOf('withdrawal', own)).toBe('completed');
    expect(await tron.signer().signBump(theirId, 1)).toEqual({ state: 'stored' });
    await tron.sendSigned(theirId);
    expect(await statusOf('withdrawal', theirs)).toBe('completed');
  });
});

it('lets nobody wait for a transfer to an address that has an account', async () => {
  const to = somebody();
  await tron.carryOutAll((await withdrawal('TRX', to, 'receiver')).next);
  const [one, other] = [await withdrawal('TRX', to, 'receiver'), await withdrawal('TRX', to, 'merchant')];
  for (const asked of [other, one]) expect(await planned(asked)).toMatchObject({ kind: 'withdrawal' });
  for (const asked of [other, one]) await tron.carryOutAll(asked.next);
  for (const asked of [one, other]) expect(await chargedAbove(asked)).toBe(0n);
});

it('asks anew about one that is planned as usual and has become the first', async () => {
  const to = somebody();
  await tron.carryOutAll((await withdrawal('USDT_TRC20', to, 'merchant')).next);
  const [one, other] = [await withdrawal('USDT_TRC20', to, 'receiver'), await withdrawal('USDT_TRC20', to, 'receiver')];
  for (const asked of [one, other]) await planned(asked);
  for (const asked of [one, other]) expect(await chargedAbove(asked)).toBe(0n);
  // He spends all of it, and half an hour later both would be the first.
  await tron.db.query(
    `UPDATE intent SET gas_estimated_at = now() - interval '31 minutes' WHERE network = $1 AND status = 'planned'`,
    [networkOfShop],
  );
  await tron.world.fund(to, units(100), 0n);
  await tron.world.paid(people, {
    ...{ currency: 'USDT_TRC20', to: tron.world.addressAt(payer), units: await tron.held(to, 'USDT_TRC20') },
  });
  await tron.mine();
  expect(await other.next()).toEqual(waiting);
  await tron.carryOutAll(one.next);
  await tron.carryOutAll(other.next);
  expect(await chargedAbove(one)).toBeGreaterThan(0n);
  expect(await chargedAbove(other)).toBe(0n);
});
