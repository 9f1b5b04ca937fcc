/** @jest-environment node */
import { payoutActivities } from '../../activities/payouts/payouts';
import { refundActivities } from '../../activities/refunds/refunds';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { createCodecs } from '../../chains/codecs';
import { queueBatch } from '../../commands/payouts/queue';
import { openRefund } from '../../commands/refunds/create';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { resolveUnseen } from '../../db/incidents';
import { lanesOf } from '../../db/txmanager/blockers';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { newId } from '../../domain/ids';
import { nothingLeft } from '../../txmanager/charge-gas';
import { sendPayouts } from '../../txmanager/send/payouts';
import { sendIntent } from '../../txmanager/send/send';
import { anApprover } from '../approver';
import { creditFromCapital } from '../credit-from-capital';
import { bookEnd } from '../book-end';
import { forwarder, type TronWorld } from '../chain/tron-world';
import { paymentsAt } from './run-payment';
import { networkOfShop, payer, TronShop, units } from './tron-shop';

/** TRX and USDT_TRC20 that leave the service: withdrawals, mass payouts and refunds, each to its end. */

let tron: TronShop;
let world: TronWorld;
const both = ['TRX', 'USDT_TRC20'] as const;
const ann = anApprover('ann@shop.example');
beforeAll(async () => {
  tron = await TronShop.start();
  ({ world } = tron);
  await tron.fundWallets();
  for (const asset of both) await creditFromCapital(tron.db, tron.shop.id, asset, '1000');
});
afterAll(() => tron?.end());
afterEach(async () => {
  expect(await tron.wrong()).toEqual([]);
  expect(await tron.unreconciled()).toEqual([]);
});

const deps = () => ({ codecs: createCodecs(tron.config.chain), rateMaxAgeSeconds: 3600 });
const nodes = () => [tron.adapter];
/** What the merchant can spend. */
const spendable = async (asset: string): Promise<bigint> =>
  units(
    (
      await tron.db.query('SELECT amount::text FROM balance WHERE account = $1 AND asset = $2', [
        `L:available:${tron.shop.id}`,
        asset,
      ])
    )[0].amount,
  );
const feeOf = async (
  table: 'withdrawal' | 'refund',
  id: string,
): Promise<{ status: string; fee: string; net: string; message: string | null }> =>
  (
    await tron.db.query(
      `SELECT status, network_fee::text AS fee, net_amount::text AS net, merchant_message AS message
         FROM ${table} WHERE id = $1`,
      [id],
    )
  )[0];
/** The fee that the API and the newest event of a row say. */
async function saidFees(what: 'withdrawals' | 'refunds', id: string): Promise<bigint[]> {
  const { body } = await tron.h.call('GET', `/api/v1/${what}/${id}`, { key: tron.shop.key });
  const [event] = await tron.db.query(
    `SELECT data->>'networkFee' AS fee FROM event WHERE entity_id = $1 ORDER BY seq DESC LIMIT 1`,
    [id],
  );
  return [units((body.data ?? body).networkFee), units(event.fee)];
}
const someone = (n: number): string => world.addressAt(200 + n);
const list = (currency: string, address: string): Promise<unknown> =>
  addToWhitelist(tron.db.manager, tron.shop.id, ann, { type: 'wallet', currency, address, destinationTag: null });

it.each(both)('ends a withdrawal of %s in a final block, to an address that had nothing', async (currency) => {
  const to = someone(both.indexOf(currency));
  await list(currency, to);
  const before = await spendable(currency);
  const ask = { currency, amount: '20', feeMode: 'add' as const, address: to };
  const { row } = await tron.db.transaction((tx) => openWithdrawal(tx, deps(), tron.shop.id, ask, ann, newId()));
  const { nextWithdrawalIntent } = withdrawalActivities({ db: tron.db, nodes: nodes() });
  const sent = await tron.carryOutAll(() => nextWithdrawalIntent(row.id));
  expect(sent).toEqual(currency === 'TRX' ? ['withdrawal'] : ['gas', 'withdrawal']);
  const [after] = await tron.db.query('SELECT status, tx_id FROM withdrawal WHERE id = $1', [row.id]);
  expect(after).toMatchObject({ status: 'completed', tx_id: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(await tron.held(to, currency)).toBe(units(20));
  // What the merchant reads is what he was charged, in a statement of two entries.
  const charged = before - (await spendable(currency)) - units(20);
  expect(charged).toBeGreaterThan(units(row.network_fee));
  expect(await saidFees('withdrawals', row.id)).toEqual([charged, charged]);
});

it.each(both)('takes what a withdrawal of %s to a new address costs from what arrives, once', async (currency) => {
  const to = someone(30 + both.indexOf(currency));
  await list(currency, to);
  for (const isNew of [true, false]) {
    const [before, there] = [await spendable(currency), await tron.held(to, currency)];
    const ask = { currency, amount: '20', feeMode: 'deduct' as const, address: to };
    const { row } = await tron.db.transaction((tx) => openWithdrawal(tx, deps(), tron.shop.id, ask, ann, newId()));
    const { nextWithdrawalIntent } = withdrawalActivities({ db: tron.db, nodes: nodes() });
    await tron.carryOutAll(() => nextWithdrawalIntent(row.id));
    const after = await feeOf('withdrawal', row.id);
    expect(after.status).toBe('completed');
    expect(units(after.fee) > units(row.network_fee)).toBe(isNew);
    expect(units(after.fee) + units(after.net)).toBe(units(20));
    expect((await tron.held(to, currency)) - there).toBe(units(after.net));
    // An account costs 1.1 TRX, which the fee pays; the merchant nothing beside what he has asked for.
    if (currency === 'TRX' && isNew) expect(units(after.fee)).toBeGreaterThanOrEqual(1_100_000n);
    expect(before - (await spendable(currency))).toBe(units(20));
  }
});

it('sends no TRX where a new account would leave nothing of them', async () => {
  const to = someone(35);
  await list('TRX', to);
  const before = await spendable('TRX');
  const ask = { currency: 'TRX', amount: '1.1', feeMode: 'deduct' as const, address: to };
  const { row } = await tron.db.transaction((tx) => openWithdrawal(tx, deps(), tron.shop.id, ask, ann, newId()));
  const { nextWithdrawalIntent } = withdrawalActivities({ db: tron.db, nodes: nodes() });
  expect(await tron.carryOutAll(() => nextWithdrawalIntent(row.id))).toEqual([]);
  expect(await feeOf('withdrawal', row.id)).toMatchObject({ status: 'failed', message: nothingLeft });
  expect(await spendable('TRX')).toBe(before);
});

it('pays the lines of a mass payout in both, one transaction of a wallet after the other', async () => {
  const lines: Array<[currency: 'TRX' | 'USDT_TRC20', to: string, amount: string]> = [
    ['TRX', someone(10), '3'],
    ['USDT_TRC20', someone(11), '14'],
    ['TRX', someone(12), '5'],
    ['USDT_TRC20', someone(13), '16'],
  ];
  for (const [currency, to] of lines) await list(currency, to);
  const before = [await spendable('TRX'), await spendable('USDT_TRC20')];
  const rows = lines.map(([currency, address, amount]) => ({ currency, address, amount }));
  const { row } = await tron.db.transaction((tx) => queueBatch(tx, deps(), tron.shop.id, ann, { rows }));
  const { payoutStep } = payoutActivities({ db: tron.db, nodes: nodes() });
  const signer = tron.signer();
  const wallets = ['treasury', 'gas'] as const;
  for (let rounds = 0; ; rounds += 1) {
    const step = await payoutStep(row.id);
    if (!step) break;
    expect(rounds).toBeLessThan(12);
    const asked = tron.termsAsked;
    if (step.sign) await signer.signPayouts(row.id);
    // What waits behind another of its wallet is not asked about: of a hundred lines that would be a hundred calls.
    expect(tron.termsAsked - asked).toBeLessThanOrEqual(wallets.length);
    await sendPayouts({ db: tron.db, adapter: tron.adapter, log: { info: () => undefined } }, row.id);
    await tron.mine();
  }
  const [batch] = await tron.db.query('SELECT status FROM payout_batch WHERE id = $1', [row.id]);
  expect(batch).toEqual({ status: 'completed' });
  const paid = await tron.db.query(
    `SELECT currency, address, net_amount::text AS net, status FROM payout_leg WHERE batch_id = $1`,
    [row.id],
  );
  expect(paid).toHaveLength(lines.length);
  for (const { currency, address, net, status } of paid as Array<Record<string, string>>)
    expect([status, await tron.held(address!, currency)]).toEqual(['completed', units(net!)]);
  // Eight TRX and thirty dollars, as asked: what new accounts cost their receivers bear.
  expect([before[0]! - (await spendable('TRX')), before[1]! - (await spendable('USDT_TRC20'))]).toEqual([
    units(8),
    units(30),
  ]);
  for (const { currency, net } of paid as Array<Record<string, string>>)
    if (currency === 'TRX') expect(units(net!)).toBeLessThanOrEqual(units(5) - 1_100_000n);
});

it.each([
  ['TRX', 'merchant'],
  ['USDT_TRC20', 'merchant'],
  ['TRX', 'payer'],
  ['USDT_TRC20', 'payer'],
] as const)('gives a part of a settled payment in %s back, at the cost of its %s', async (currency, feeBearer) => {
  const made = await tron.confirmed(currency);
  await tron.swept(made);
  expect(await tron.run(made)).toBe('SETTLED');
  const to = someone(20 + both.indexOf(currency) + (feeBearer === 'payer' ? 20 : 0));
  const before = await spendable(currency);
  const ask = { type: 'partial', amount: '50', address: to, feeBearer } as const;
  const { row } = await tron.db.transaction((tx) =>
    openRefund(tx, deps(), {
      merchantId: tron.shop.id,
      paymentId: made.paymentId,
      ask,
      by: { userId: newId() },
      idempotencyKey: null,
    }),
  );
  const { nextRefundIntent } = refundActivities({ db: tron.db, nodes: nodes() });
  await tron.carryOutAll(() => nextRefundIntent(row.id));
  const after = await feeOf('refund', row.id);
  expect(after.status).toBe('completed');
  expect(await tron.held(to, currency)).toBe(units(after.net));
  const spent = before - (await spendable(currency));
  const isPayers = feeBearer === 'payer';
  expect(spent === units(50)).toBe(isPayers);
  expect(units(after.fee) > units(row.network_fee)).toBe(isPayers);
  const said = isPayers ? units(after.fee) : spent - units(50);
  expect(said).toBeGreaterThan(units(row.network_fee));
  expect(await saidFees('refunds', row.id)).toEqual([said, said]);
});

it.each(both)('sends %s that nobody was credited back, less what the account of its payer costs', async (currency) => {
  const made = await tron.create(currency === 'TRX' ? 'USDT_TRC20' : 'TRX');
  await world.paid(payer, { currency, to: made.depositAddress, units: units(40) });
  await tron.mine();
  await tron.run(made);
  const acts = paymentsAt({ db: tron.db, config: tron.config, codecs: deps().codecs });
  expect(await acts.rejectCrossChain(made.paymentId)).toEqual({ status: 'FAILED' });
  const to = someone(50 + both.indexOf(currency));
  const ask = { type: 'full', currency, address: to } as const;
  const { row } = await tron.db.transaction((tx) =>
    openRefund(tx, deps(), {
      merchantId: tron.shop.id,
      paymentId: made.paymentId,
      ask,
      by: { userId: newId() },
      idempotencyKey: null,
    }),
  );
  const before = await spendable(currency);
  const { nextRefundIntent } = refundActivities({ db: tron.db, nodes: nodes() });
  await tron.carryOutAll(() => nextRefundIntent(row.id));
  const after = await feeOf('refund', row.id);
  expect(after.status).toBe('completed');
  expect(units(after.fee)).toBeGreaterThan(units(row.network_fee));
  expect(units(after.fee) + units(after.net)).toBe(units(40));
  expect(await tron.held(to, currency)).toBe(units(after.net));
  expect(await spendable(currency)).toBe(before);
});

it('signs no TRX to a contract, which the network refuses, and holds nobody else up', async () => {
  await list('TRX', forwarder);
  const before = await spendable('TRX');
  const ask = { currency: 'TRX', amount: '1', feeMode: 'add' as const, address: forwarder };
  const { row } = await tron.db.transaction((tx) => openWithdrawal(tx, deps(), tron.shop.id, ask, ann, newId()));
  const { nextWithdrawalIntent } = withdrawalActivities({ db: tron.db, nodes: nodes() });
  expect(await nextWithdrawalIntent(row.id)).toBeNull();
  expect(await feeOf('withdrawal', row.id)).toMatchObject({ status: 'failed', message: expect.any(String) });
  expect(await spendable('TRX')).toBe(before);
});

it('counts a hot wallet as blocked while no block takes what it has signed', async () => {
  const to = someone(60);
  await list('TRX', to);
  const ask = { currency: 'TRX', amount: '5', feeMode: 'add' as const, address: to };
  const { row } = await tron.db.transaction((tx) => openWithdrawal(tx, deps(), tron.shop.id, ask, ann, newId()));
  const { nextWithdrawalIntent } = withdrawalActivities({ db: tron.db, nodes: nodes() });
  const intent = (await nextWithdrawalIntent(row.id)) as { id: string };
  expect(await tron.signer().signOnce(intent.id)).toEqual({ state: 'stored' });
  const lane = async () =>
    (await lanesOf(tron.db, [networkOfShop])).find(({ address }) => address === tron.addressOf('treasury'));
  expect(await lane()).toMatchObject({ isBlocked: false });
  await tron.db.query(`UPDATE attempt SET created_at = now() - interval '2 minutes' WHERE intent_id = $1`, [intent.id]);
  await tron.mine(25);
  expect(await lane()).toMatchObject({ isBlocked: true, intentId: intent.id, nonce: null });
  await tron.sendSigned(intent.id);
  expect(await lane()).toMatchObject({ isBlocked: false, intentId: null });
});

/** A withdrawal that is planned, and its intent. */
async function planned(currency: 'TRX' | 'USDT_TRC20', to: string): Promise<{ id: string; intentId: string }> {
  await list(currency, to);
  const ask = { currency, amount: '5', feeMode: 'add' as const, address: to };
  const { row } = await tron.db.transaction((tx) => openWithdrawal(tx, deps(), tron.shop.id, ask, ann, newId()));
  const { nextWithdrawalIntent } = withdrawalActivities({ db: tron.db, nodes: nodes() });
  for (;;) {
    const next = await nextWithdrawalIntent(row.id);
    if (!next || !('id' in next)) throw new Error(`Nothing planned: ${JSON.stringify(next)}`);
    if (next.kind === 'withdrawal') return { id: row.id, intentId: next.id };
    await tron.carryOut(next.id);
  }
}
const incidentsOf = (kind: string): Promise<Array<{ subject_id: string; isOpen: boolean }>> =>
  tron.db.query(`SELECT subject_id, resolved_at IS NULL AS "isOpen" FROM incident WHERE kind = $1`, [kind]);

it('tells operators of a transaction in a block that its node does not know', async () => {
  const { id, intentId } = await planned('TRX', someone(61));
  expect(await tron.signer().signOnce(intentId)).toEqual({ state: 'stored' });
  await sendIntent({ db: tron.db, adapter: tron.adapter, log: { info: () => undefined } }, intentId);
  await tron.mine(1);
  const blind = { ...tron.adapter, lookUp: () => Promise.resolve({ state: 'unknown' } as const) };
  await world.mine(45);
  await tron.follower({ adapter: blind })();
  expect(await incidentsOf('attempt-unverified')).toEqual([{ subject_id: intentId, isOpen: true }]);
  await tron.look();
  await bookEnd(tron.db, intentId);
  expect((await feeOf('withdrawal', id)).status).toBe('completed');
  await tron.db.transaction(resolveUnseen);
  expect(await incidentsOf('attempt-unverified')).toEqual([{ subject_id: intentId, isOpen: false }]);
});

it('ends nothing by a block that is none of the final ones', async () => {
  const { id, intentId } = await planned('TRX', someone(62));
  expect(await tron.signer().signOnce(intentId)).toEqual({ state: 'stored' });
  await sendIntent({ db: tron.db, adapter: tron.adapter, log: { info: () => undefined } }, intentId);
  await tron.mine(1);
  const forked = { ...tron.adapter, finalHash: () => Promise.resolve('another') };
  await world.mine(25);
  await tron.follower({ adapter: forked })();
  await bookEnd(tron.db, intentId);
  expect((await feeOf('withdrawal', id)).status).toBe('broadcast');
  await tron.look();
  await bookEnd(tron.db, intentId);
  expect((await feeOf('withdrawal', id)).status).toBe('completed');
});
