/** @jest-environment node */
import { cancelBatch } from '../../commands/payouts/cancel';
import { cancelRefund } from '../../commands/refunds/cancel';
import { cancelWithdrawal } from '../../commands/withdrawals/cancel';
import type { Person, SimulatedXrpl } from '../chain/xrpl-network';
import type { ExpiringShop } from './expiring-shop';
import { XrplStage } from './xrpl-stage';

/** A merchant calls back what was signed and has expired, with the simulator of the XRP Ledger and the real database.
 *  docs/decisions/0067-before-expiring-networks.md */

let stage: XrplStage;
let net: SimulatedXrpl;
let payee: Person;
let shop: ExpiringShop;
beforeAll(async () => {
  stage = await XrplStage.start();
  ({ net, payee } = stage);
});
beforeEach(async () => {
  shop = await stage.open();
});
afterEach(() => stage.close(shop));
afterAll(() => stage?.end());

const balance = async (): Promise<bigint> => (await net.node.account(payee.address))!.drops;
const withdraw = (amount: string) => shop.withdraw(payee.address, amount, '7');
const cancel = (id: string) => shop.asApi((tx) => cancelWithdrawal(tx, shop.merchantId, id));

/** The network never hears of it, until its end and beyond, and a chain worker finds that out. */
async function expire(intentId: string): Promise<void> {
  await net.order({ order: 'fault', fault: 'swallow' });
  await shop.send(intentId);
  await net.close(25);
  await net.order({ order: 'go_on' });
  expect(await shop.send(intentId)).toMatchObject({ state: 'stuck' });
}
/** The price is above the cap for a while, so that the signer finds out too, and signs nothing. */
async function hold(intentId: string): Promise<void> {
  const cap = (price: number): Promise<unknown> =>
    shop.db.query('UPDATE intent SET max_unit_price = $2 WHERE id = $1', [intentId, price]);
  await cap(9);
  expect(await shop.signer.signBump(intentId, 1)).toMatchObject({ state: 'waiting' });
  await cap(1000);
}

it('gives a withdrawal back whose transaction has expired, and signs nothing more', async () => {
  const before = await balance();
  const { id, intentId } = await withdraw('5');
  await shop.signer.signOnce(intentId);
  await expire(intentId);
  await hold(intentId);
  const { row, replayed } = await cancel(id);
  expect([row.status, replayed]).toEqual(['cancelled', false]);
  expect(await cancel(id)).toMatchObject({ replayed: true });
  expect(await shop.available()).toBe('1000');
  expect(await shop.signer.signBump(intentId, 1)).toMatchObject({ state: 'dropped' });
  expect(await shop.send(intentId)).toMatchObject({ state: 'dropped' });
  expect(await shop.activities.nextWithdrawalIntent(id)).toBeNull();
  expect(await shop.rows(intentId)).toHaveLength(1);
  expect((await balance()) - before).toBe(0n);
});

it('does not while a block may take it, nor after one has', async () => {
  const { id, intentId } = await withdraw('5');
  await shop.signer.signOnce(intentId);
  const refused = { code: 'WITHDRAWAL_STATE' };
  await expect(cancel(id)).rejects.toMatchObject(refused);
  await shop.send(intentId);
  await expect(cancel(id)).rejects.toMatchObject(refused);
  await net.close(2);
  await expect(cancel(id)).rejects.toMatchObject(refused);
  await shop.follow(intentId);
  await expect(cancel(id)).rejects.toMatchObject(refused);
  expect(await shop.statusOf(id)).toBe('completed');
});

it('believes neither a row that the signer has not proven void, nor the signer alone', async () => {
  const { id, intentId } = await withdraw('5');
  await shop.signer.signOnce(intentId);
  const [row] = await shop.rows(intentId);
  const through = { height: parseInt(row!.valid_to_height!, 10), hash: 'made up', time: 1 };
  const absence = JSON.stringify({ txId: row!.tx_id, from: 1, through, finalHeight: through.height });
  const say = (status: string, proof: string | null): Promise<unknown> =>
    shop.db.query('UPDATE attempt SET status = $2, absence = $3 WHERE id = $1', [row!.id, status, proof]);
  // Whoever has the chain worker's database role can write this, while the bytes are on their way.
  await say('expired', absence);
  await expect(cancel(id)).rejects.toMatchObject({ code: 'WITHDRAWAL_STATE' });
  await shop.db.query('UPDATE signer.validity SET absence = $1', [absence]);
  await say('sent', null);
  await expect(cancel(id)).rejects.toMatchObject({ code: 'WITHDRAWAL_STATE' });
  await shop.db.query('UPDATE signer.validity SET absence = NULL');
  expect(await shop.available()).toBe('994.99999');
});

it('is held to it by the database, whatever the process does', async () => {
  const { id, intentId } = await withdraw('5');
  await shop.signer.signOnce(intentId);
  const change = `UPDATE withdrawal SET status = 'cancelled', state_version = state_version + 1 WHERE id = $1`;
  await expect(shop.asApi((tx) => tx.query(change, [id]))).rejects.toMatchObject({ driverError: { code: 'CP012' } });
});

it('is one of two with another signature, whoever is first', async () => {
  const ends = new Set<string>();
  for (let n = 0; n < 6; n += 1) {
    const { id, intentId } = await withdraw('5');
    await shop.signer.signOnce(intentId);
    await expire(intentId);
    await hold(intentId);
    const cancelling = () =>
      cancel(id).then(
        () => true,
        () => false,
      );
    const first = n % 2 ? cancelling() : null;
    const signing = shop.signer.signBump(intentId, 1);
    const isBack = await (first ?? cancelling());
    await signing;
    const rows = await shop.rows(intentId);
    expect([isBack, rows.length, await shop.statusOf(id)]).toEqual(
      isBack ? [true, 1, 'cancelled'] : [false, 2, 'broadcast'],
    );
    ends.add(`${isBack}`);
    if (isBack) continue;
    await shop.send(intentId);
    await net.close(2);
    await shop.follow(intentId);
    expect(await shop.statusOf(id)).toBe('completed');
  }
  // Who is first is chance, and each end is right; that the other is possible the tests above show.
  expect(ends.size).toBeGreaterThan(0);
});

it('gives back what a refund holds', async () => {
  const { id, intentId } = await shop.refund(payee.address, '5', '7');
  const call = () => shop.asApi((tx) => cancelRefund(tx, shop.merchantId, id));
  await shop.signer.signOnce(intentId);
  await expect(call()).rejects.toMatchObject({ code: 'REFUND_STATE' });
  await expire(intentId);
  await hold(intentId);
  expect((await call()).row.status).toBe('cancelled');
  expect(await shop.available()).toBe('1000');
  expect(await shop.signer.signBump(intentId, 1)).toMatchObject({ state: 'dropped' });
});

it('gives back the line of a mass payout that has expired, beside those that are not signed', async () => {
  const id = await shop.payOut(payee.address, ['3', '3'], '7');
  await shop.signer.signPayouts(id);
  await net.order({ order: 'fault', fault: 'swallow' });
  await shop.sendPayouts(id);
  await net.close(25);
  const { stuck } = await shop.sendPayouts(id);
  expect(stuck).toHaveLength(1);
  await hold(stuck[0]!.id);
  const call = () => shop.asApi((tx) => cancelBatch(tx, shop.merchantId, id));
  expect(await call()).toMatchObject({ refundedLegs: 2, sentLegs: 0, replayed: false });
  expect(await call()).toMatchObject({ refundedLegs: 2, replayed: true });
  expect(await shop.available()).toBe('1000');
  expect(await shop.signer.bumpPayouts(stuck)).toBe(0);
});

it('leaves the line of a mass payout that a block may take', async () => {
  const id = await shop.payOut(payee.address, ['3', '3'], '7');
  await shop.signer.signPayouts(id);
  const call = () => shop.asApi((tx) => cancelBatch(tx, shop.merchantId, id));
  expect(await call()).toMatchObject({ refundedLegs: 1, sentLegs: 1 });
  await shop.sendPayouts(id);
  await net.close(2);
  const [open] = await shop.db.query(`SELECT id FROM intent WHERE owner_id = $1 AND status = 'sent'`, [id]);
  await shop.follow(open.id, false);
  expect(await shop.payoutStep(id)).toBeNull();
  expect(await call()).toMatchObject({ refundedLegs: 1, sentLegs: 1, replayed: true });
});
