/** @jest-environment node */
import { payoutActivities } from '../../activities/payouts/payouts';
import { refundActivities } from '../../activities/refunds/refunds';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { createCodecs } from '../../chains/codecs';
import { confirmRequest, fileRequest } from '../../commands/operators/requests';
import { queueBatch } from '../../commands/payouts/queue';
import { openRefund } from '../../commands/refunds/create';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { newId } from '../../domain/ids';
import { sendPayouts } from '../../txmanager/send/payouts';
import { anApprover } from '../approver';
import { creditFromCapital } from '../credit-from-capital';
import type { TronWorld } from '../chain/tron-world';
import { anOperator } from '../operators';
import { paymentsAt } from './run-payment';
import { diverts, keeps, onTop, switchedToken, token as currency, type SwitchedToken } from './switched-token';
import { payer, TronShop, units } from './tron-shop';

/** Two operators say of a transfer that moved something else than was signed that it has paid, or has failed. */

let tron: TronShop;
let world: TronWorld;
let of: SwitchedToken;
const ann = anApprover('ann@shop.example');
beforeAll(async () => {
  tron = await TronShop.start();
  ({ world } = tron);
  of = switchedToken(tron);
  await tron.fundWallets();
  for (const asset of ['TRX', currency]) await creditFromCapital(tron.db, tron.shop.id, asset, '500');
});
afterAll(() => tron?.end());
afterEach(async () => {
  await of.switched({});
  await of.inOrder();
});

const deps = () => ({ codecs: createCodecs(tron.config.chain), rateMaxAgeSeconds: 3600 });
const nodes = () => [tron.adapter];
const rowOf = async (table: 'withdrawal' | 'refund' | 'payout_leg', id: string) =>
  (await tron.db.query(`SELECT status, tx_id, merchant_message AS message FROM ${table} WHERE id = $1`, [id]))[0];
const intentOf = async (id: string) =>
  (await tron.db.query('SELECT status, booked FROM intent WHERE id = $1', [id]))[0];
type Sent = Readonly<{ id: string; intentId: string; to: string }>;
let count = 300;
const someone = (): string => world.addressAt((count += 1));
const list = (to: string): Promise<unknown> =>
  addToWhitelist(tron.db.manager, tron.shop.id, ann, { type: 'wallet', currency, address: to, destinationTag: null });

/** A withdrawal whose transfer differs. */
async function withdrawn(how: object, blocks?: number, to = someone()): Promise<Sent> {
  await list(to).catch(() => undefined);
  const ask = { currency, amount: '50', feeMode: 'add' as const, address: to };
  const { row } = await tron.db.transaction((tx) => openWithdrawal(tx, deps(), tron.shop.id, ask, ann, newId()));
  const { nextWithdrawalIntent } = withdrawalActivities({ db: tron.db, nodes: nodes() });
  const intentId = await of.sentSwitched(() => nextWithdrawalIntent(row.id), 'withdrawal', how, blocks);
  return { id: row.id, intentId, to };
}

it('compares the books with the chain while nobody has decided', async () => {
  const { id, intentId } = await withdrawn(diverts);
  expect(await of.differing()).toEqual([intentId]);
  await of.inOrder();
  expect((await rowOf('withdrawal', id)).status).toBe('broadcast');
  await of.decide(intentId, 'failed');
  await of.goOn(intentId);
});

it('holds up nothing else to its address, which is as new as it was', async () => {
  const { intentId, to } = await withdrawn(diverts);
  const other = await withdrawn({}, 20, to);
  expect((await rowOf('withdrawal', other.id)).status).toBe('completed');
  await of.decide(intentId, 'failed');
  await of.goOn(intentId);
});

it('has paid: it is completed as what was signed, and what the token took of it is nobody’s loss', async () => {
  const [lost, before] = [await of.losses(), await of.spendable()];
  const { id, intentId, to } = await withdrawn(keeps);
  const held = before - (await of.spendable());
  const { summary, outcome } = await of.decide(intentId, 'paid');
  expect(summary).toContain(`withdrawal ${id}`);
  expect(summary).toContain('49.5');
  expect(outcome).toContain(intentId);
  expect((await rowOf('withdrawal', id)).status).toBe('broadcast');
  await of.goOn(intentId);
  expect(await rowOf('withdrawal', id)).toMatchObject({ status: 'completed', message: null });
  expect(await intentOf(intentId)).toEqual({ status: 'final', booked: true });
  expect(await tron.held(to, currency)).toBe(units('49.5'));
  expect([await of.losses(), before - (await of.spendable())]).toEqual([lost, held]);
  expect(await of.differing()).toEqual([]);
});

it('has failed: the money is back, what left is the platform’s loss, and it is never signed again', async () => {
  const [lost, before] = [await of.losses(), await of.spendable()];
  const { id, intentId, to } = await withdrawn(diverts);
  await of.decide(intentId, 'failed');
  for (let n = 0; n < 3; n += 1) await of.goOn(intentId);
  expect(await rowOf('withdrawal', id)).toMatchObject({ status: 'failed', message: expect.stringContaining('back') });
  expect(await intentOf(intentId)).toEqual({ status: 'failed', booked: true });
  expect([await of.losses(), await of.spendable()]).toEqual([lost + units(50), before]);
  expect(await tron.held(to, currency)).toBe(0n);
  const { nextWithdrawalIntent } = withdrawalActivities({ db: tron.db, nodes: nodes() });
  expect(await nextWithdrawalIntent(id)).toBeNull();
  await tron.signer().signOnce(intentId);
  await tron.signer().signBump(intentId, 1);
  const [{ n }] = await tron.db.query('SELECT count(*)::int AS n FROM attempt WHERE intent_id = $1', [intentId]);
  expect(n).toBe(1);
  expect(await tron.db.query(`SELECT FROM incident WHERE kind = 'transaction-reverted'`)).toEqual([]);
  await of.inOrder();
  const again = await withdrawn({});
  expect(await rowOf('withdrawal', again.id)).toMatchObject({ status: 'completed' });
  expect(await tron.held(again.to, currency)).toBe(units(50));
});

it('books what the token took on top as a loss of the platform, and charges no merchant for it', async () => {
  const [lost, before] = [await of.losses(), await of.spendable()];
  const { id, intentId, to } = await withdrawn(onTop);
  const held = before - (await of.spendable());
  await of.inOrder();
  await of.decide(intentId, 'paid');
  await of.goOn(intentId);
  expect((await rowOf('withdrawal', id)).status).toBe('completed');
  expect(await tron.held(to, currency)).toBe(units(50));
  expect([await of.losses(), before - (await of.spendable())]).toEqual([lost + units('0.5'), held]);
});

it('is decided by two, of what differs and is final, once', async () => {
  await expect(of.decide('999999', 'paid')).rejects.toThrow('moved something else');
  const usual = await withdrawn({});
  await expect(of.decide(usual.intentId, 'failed')).rejects.toThrow('moved something else');
  const { id, intentId } = await withdrawn(diverts, 1);
  await expect(of.decide(intentId, 'failed')).rejects.toThrow('moved something else');
  await tron.mine(20);
  await expect(of.decide(intentId, 'maybe')).rejects.toThrow('outcome must be one of');
  const shell = { kind: 'operator', id: null, name: 'root@host', ip: 'shell', requestId: newId() } as const;
  const asked = { kind: 'decide-transfer', payload: { intentId, outcome: 'failed' }, reason: 'looked into' };
  const request = await tron.db.transaction((tx) => fileRequest(tx, shell, asked));
  const alone = await anOperator(tron.db);
  await tron.db.transaction((tx) => confirmRequest(tx, alone, request.id));
  await expect(tron.db.transaction((tx) => confirmRequest(tx, alone, request.id))).rejects.toThrow();
  await of.goOn(intentId);
  expect((await rowOf('withdrawal', id)).status).toBe('broadcast');
  const other = await anOperator(tron.db);
  await tron.db.transaction((tx) => confirmRequest(tx, other, request.id));
  for (const outcome of ['paid', 'failed'])
    await expect(of.decide(intentId, outcome)).rejects.toThrow('have said that it has failed');
  await of.goOn(intentId);
  for (const outcome of ['paid', 'failed'])
    await expect(of.decide(intentId, outcome)).rejects.toThrow('moved something else');
  expect((await rowOf('withdrawal', id)).status).toBe('failed');
});

it('has one end, where both are confirmed at once', async () => {
  for (let round = 0; round < 3; round += 1) {
    const [lost, before] = [await of.losses(), await of.spendable()];
    const { id, intentId } = await withdrawn(diverts);
    const shell = { kind: 'operator', id: null, name: 'root@host', ip: 'shell', requestId: newId() } as const;
    const requests: string[] = [];
    for (const outcome of ['paid', 'failed']) {
      const asked = { kind: 'decide-transfer', payload: { intentId, outcome }, reason: 'looked into' };
      const { id: request } = await tron.db.transaction((tx) => fileRequest(tx, shell, asked));
      const first = await anOperator(tron.db);
      await tron.db.transaction((tx) => confirmRequest(tx, first, request));
      requests.push(request);
    }
    const people = await Promise.all(requests.map(() => anOperator(tron.db)));
    const ends = await Promise.allSettled([
      ...requests.map((request, n) => tron.db.transaction((tx) => confirmRequest(tx, people[n]!, request))),
      tron.look(),
    ]);
    expect(ends.slice(0, 2).filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const isPaid = ends[0]!.status === 'fulfilled';
    await of.goOn(intentId);
    expect((await rowOf('withdrawal', id)).status).toBe(isPaid ? 'completed' : 'failed');
    expect(await of.losses()).toBe(isPaid ? lost : lost + units(50));
    if (!isPaid) expect(await of.spendable()).toBe(before);
  }
});

it('is decided of a line of a mass payout, and the other lines go on', async () => {
  const [lost, before] = [await of.losses(), await of.spendable()];
  const lines = [someone(), someone(), someone()];
  for (const to of lines) await list(to);
  const rows = lines.map((address) => ({ currency, address, amount: '20' }));
  const { row } = await tron.db.transaction((tx) => queueBatch(tx, deps(), tron.shop.id, ann, { rows }));
  const { payoutStep } = payoutActivities({ db: tron.db, nodes: nodes() });
  const log = { info: () => undefined };
  const hows = [diverts, keeps, {}];
  let transfers = 0;
  const differs = new Set<string>();
  for (let rounds = 0; rounds < 14; rounds += 1) {
    const step = await payoutStep(row.id);
    if (step?.sign) await tron.signer().signPayouts(row.id);
    const [open] = await tron.db.query(
      `SELECT count(*)::int AS n FROM attempt a JOIN intent i ON i.id = a.intent_id
        WHERE i.kind = 'leg' AND i.owner_id = $1 AND a.status = 'stored'`,
      [row.id],
    );
    if (open.n) await of.switched(hows[transfers++] ?? {});
    await sendPayouts({ db: tron.db, adapter: tron.adapter, log }, row.id);
    await tron.mine();
    if (open.n) await of.switched({});
    for (const id of await of.differing()) differs.add(id);
  }
  expect(differs.size).toBe(2);
  const [batch] = await tron.db.query('SELECT status FROM payout_batch WHERE id = $1', [row.id]);
  expect(batch).toEqual({ status: 'processing' });
  await of.inOrder();
  const ofLines = await tron.db.query(
    `SELECT id, intent_id, address FROM payout_leg WHERE batch_id = $1 AND status = 'broadcast' ORDER BY row_index`,
    [row.id],
  );
  expect(ofLines).toHaveLength(2);
  for (const { intent_id, address } of ofLines)
    await of.decide(intent_id, (await tron.held(address, currency)) > 0n ? 'paid' : 'failed');
  await tron.look();
  while (await payoutStep(row.id));
  const ends = await tron.db.query(
    'SELECT status, net_amount::text AS net FROM payout_leg WHERE batch_id = $1 ORDER BY status',
    [row.id],
  );
  const [after] = await tron.db.query('SELECT status FROM payout_batch WHERE id = $1', [row.id]);
  expect(after.status).not.toBe('processing');
  expect(ends.map(({ status }: { status: string }) => status)).toEqual(['completed', 'completed', 'failed']);
  expect(before - (await of.spendable())).toBe(units(40));
  expect((await of.losses()) - lost).toBe(units(ends[2].net));
});

async function refunded(made: { paymentId: string }, ask: object, how: object): Promise<Sent> {
  const to = someone();
  const { row } = await tron.db.transaction((tx) =>
    openRefund(tx, deps(), {
      merchantId: tron.shop.id,
      paymentId: made.paymentId,
      ask: { ...ask, address: to } as never,
      by: { userId: newId() },
      idempotencyKey: null,
    }),
  );
  const { nextRefundIntent } = refundActivities({ db: tron.db, nodes: nodes() });
  const intentId = await of.sentSwitched(() => nextRefundIntent(row.id), 'refund', how);
  return { id: row.id, intentId, to };
}

it('is decided of a refund out of the balance', async () => {
  const made = await tron.confirmed(currency);
  await tron.swept(made);
  expect(await tron.run(made)).toBe('SETTLED');
  for (const outcome of ['failed', 'paid']) {
    const [lost, before] = [await of.losses(), await of.spendable()];
    const { id, intentId } = await refunded(made, { type: 'partial', amount: '50', feeBearer: 'merchant' }, diverts);
    await of.decide(intentId, outcome);
    await of.goOn(intentId);
    const isPaid = outcome === 'paid';
    expect((await rowOf('refund', id)).status).toBe(isPaid ? 'completed' : 'failed');
    expect((await of.losses()) - lost).toBe(isPaid ? 0n : units(50));
    if (!isPaid) expect(await of.spendable()).toBe(before);
    await of.switched({});
    await of.inOrder();
  }
});

it('can only have paid, where it is a refund from its deposit address, which has nothing left to send', async () => {
  const made = await tron.create('TRX');
  await world.paid(payer, { currency, to: made.depositAddress, units: units(40) });
  await tron.mine();
  await tron.run(made);
  const acts = paymentsAt({ db: tron.db, config: tron.config, codecs: deps().codecs });
  expect(await acts.rejectCrossChain(made.paymentId)).toEqual({ status: 'FAILED' });
  const { id, intentId } = await refunded(made, { type: 'full', currency }, keeps);
  await of.inOrder();
  await expect(of.decide(intentId, 'failed')).rejects.toThrow('nothing is left there to send again');
  await of.decide(intentId, 'paid');
  await of.goOn(intentId);
  expect((await rowOf('refund', id)).status).toBe('completed');
});
