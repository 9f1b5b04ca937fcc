/** @jest-environment node */
import { cancelWithdrawal } from '../../commands/withdrawals/cancel';
import type { Signed } from '../../txmanager/sign/signer';
import type { Person, SimulatedXrpl } from '../chain/xrpl-network';
import type { ExpiringShop } from './expiring-shop';
import { XrplStage } from './xrpl-stage';

/** Whoever waits for a wallet that has one open transaction at a time has it in turn: withdrawals and mass payouts of
 *  XRP, with the simulator and the real database. docs/decisions/0100-turns-at-a-wallet.md */

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

const withdraw = (amount: string) => shop.withdraw(payee.address, amount, '7');
const payOut = (lines: number) => shop.payOut(payee.address, Array<string>(lines).fill('1'), '7');
const sign = (intentId: string): Promise<Signed> => shop.signer.signOnce(intentId);
const signed = { state: 'stored' };
const waits = (why: RegExp) => ({ state: 'waiting', reason: expect.stringMatching(why) });
const inUse = waits(/of its wallet is open$/);

/** What is open on the wallet is sent, ends in a final block, and is booked. */
async function finish(): Promise<void> {
  const open = (await shop.db.query(
    `SELECT DISTINCT i.id::text AS id, i.owner_kind = 'payout-batch' AS is_line FROM attempt a
       JOIN intent i ON i.id = a.intent_id WHERE a.status IN ('stored', 'sent', 'mined')`,
  )) as Array<{ id: string; is_line: boolean }>;
  for (const { id } of open) await shop.send(id);
  await net.close(2);
  for (const { id, is_line: isLine } of open) await shop.follow(id, !isLine);
  const batches = (await shop.db.query('SELECT id FROM payout_batch')) as Array<{ id: string }>;
  for (const { id } of batches) await shop.payoutStep(id);
}
/** The network never hears of it, until its end and beyond. */
async function expire(intentId: string): Promise<void> {
  await net.order({ order: 'fault', fault: 'swallow' });
  await shop.send(intentId);
  await net.close(25);
  await net.order({ order: 'go_on' });
  expect(await shop.send(intentId)).toMatchObject({ state: 'stuck' });
}
/** So long ago everything of the queue was written down. */
const later = (seconds: number): Promise<unknown> =>
  shop.db.query(
    `UPDATE wallet_turn SET since = since - make_interval(secs => $1), ready_at = ready_at - make_interval(secs => $1),
            passed_at = passed_at - make_interval(secs => $1)`,
    [seconds],
  );
const queueOf = async (): Promise<string[]> =>
  ((await shop.db.query('SELECT intent_id::text AS id FROM wallet_turn ORDER BY since')) as Array<{ id: string }>).map(
    ({ id }) => id,
  );

it('lets a withdrawal go next that is asked for while a mass payout has the wallet', async () => {
  const batch = await payOut(3);
  expect(await shop.signer.signPayouts(batch)).toMatchObject({ stored: 1 });
  const { id, intentId } = await withdraw('5');
  // The payout asks first, each time.
  expect(await shop.signer.signPayouts(batch)).toMatchObject({ stored: 0 });
  expect(await sign(intentId)).toEqual({ ...inUse, lookAgainInMs: 20_000 });
  await finish();
  expect(await shop.signer.signPayouts(batch)).toEqual({
    stored: 0,
    reason: `withdrawal/${id} waited for its wallet before it`,
  });
  expect(await sign(intentId)).toEqual(signed);
  await finish();
  expect(await shop.statusOf(id)).toBe('completed');
  expect(await shop.signer.signPayouts(batch)).toMatchObject({ stored: 1 });
});

it('gives two withdrawals and a mass payout the wallet in the order in which they came', async () => {
  const batch = await payOut(3);
  await shop.signer.signPayouts(batch);
  const [one, two] = [await withdraw('1'), await withdraw('2')];
  expect(await sign(one.intentId)).toMatchObject(inUse);
  expect(await sign(two.intentId)).toMatchObject(inUse);
  await finish();
  expect(await shop.signer.signPayouts(batch)).toMatchObject({ stored: 0 });
  const three = await withdraw('3');
  expect(await sign(three.intentId)).toEqual({ ...waits(/and 2 more waited/), lookAgainInMs: 60_000 });
  expect(await sign(two.intentId)).toEqual({ ...waits(/^withdrawal/), lookAgainInMs: 20_000 });
  expect(await sign(one.intentId)).toEqual(signed);
  await finish();
  expect(await shop.signer.signPayouts(batch)).toMatchObject({ stored: 0 });
  expect(await sign(two.intentId)).toEqual(signed);
  await finish();
  // The payout waited since its own transfer ended, and the third withdrawal since then.
  expect(await sign(three.intentId)).toMatchObject(waits(/^payout-batch/));
  expect(await shop.signer.signPayouts(batch)).toMatchObject({ stored: 1 });
  expect(await sign(three.intentId)).toMatchObject(inUse);
  await finish();
  expect(await shop.signer.signPayouts(batch)).toMatchObject({ stored: 0 });
  expect(await sign(three.intentId)).toEqual(signed);
});

it('has two mass payouts take turns', async () => {
  const [one, two] = [await payOut(3), await payOut(3)];
  const order: string[] = [];
  for (let looks = 0; looks < 12 && order.length < 6; looks += 1) {
    for (const batch of [one, two])
      if ((await shop.signer.signPayouts(batch)).stored) order.push(batch === one ? 'one' : 'two');
    await finish();
  }
  expect(order).toEqual(['one', 'two', 'one', 'two', 'one', 'two']);
});

it('slows no mass payout down that is alone', async () => {
  const batch = await payOut(3);
  for (let n = 0; n < 3; n += 1) {
    expect(await shop.signer.signPayouts(batch)).toMatchObject({ stored: 1 });
    // It has the wallet, and does not wait for itself.
    expect(await shop.signer.signPayouts(batch)).toMatchObject({ stored: 0 });
    expect(await queueOf()).toEqual([]);
    await finish();
  }
});

it('has what expired wait for its turn again, and is not held up by it after that', async () => {
  const [one, two] = [await withdraw('1'), await withdraw('2')];
  expect(await sign(one.intentId)).toEqual(signed);
  expect(await sign(two.intentId)).toMatchObject(inUse);
  await expire(one.intentId);
  expect(await shop.signer.signBump(one.intentId, 1)).toEqual({
    ...waits(new RegExp(`^withdrawal/${two.id} waited`)),
    lookAgainInMs: 20_000,
  });
  expect(await sign(two.intentId)).toEqual(signed);
  await finish();
  expect(await shop.signer.signBump(one.intentId, 1)).toEqual(signed);
  await finish();
  expect(await Promise.all([one, two].map(({ id }) => shop.statusOf(id)))).toEqual(['completed', 'completed']);
  expect(await queueOf()).toEqual([]);
});

describe('who holds nobody up', () => {
  let batch: string;
  let one: { id: string; intentId: string };
  beforeEach(async () => {
    batch = await payOut(3);
    await shop.signer.signPayouts(batch);
    one = await withdraw('1');
    expect(await sign(one.intentId)).toMatchObject(inUse);
    await finish();
    expect(await shop.signer.signPayouts(batch)).toMatchObject({ stored: 0 });
  });
  const goesOn = async () => expect(await shop.signer.signPayouts(batch)).toMatchObject({ stored: 1 });

  it('a transfer whose workflow does not ask any more; it keeps its place for when it does', async () => {
    await later(119);
    expect(await shop.signer.signPayouts(batch)).toMatchObject({ stored: 0 });
    await later(2);
    await goesOn();
    expect(await sign(one.intentId)).toMatchObject(inUse);
    await finish();
    expect(await shop.signer.signPayouts(batch)).toMatchObject({ stored: 0 });
    expect(await sign(one.intentId)).toEqual(signed);
  });

  it('a transfer that is cancelled', async () => {
    await shop.asApi((tx) => cancelWithdrawal(tx, shop.merchantId, one.id));
    await goesOn();
    expect(await queueOf()).toEqual([]);
  });

  it('a transfer that could not be signed in its turn, also while it asks again', async () => {
    const limit = (cap: number) =>
      shop.db.query('UPDATE intent SET max_unit_price = $2 WHERE id = $1', [one.intentId, cap]);
    await limit(9);
    expect(await sign(one.intentId)).toMatchObject(waits(/above its cap/));
    await goesOn();
    expect(await sign(one.intentId)).toMatchObject(inUse);
    await finish();
    await goesOn();
    await finish();
    await limit(1000);
    expect(await sign(one.intentId)).toEqual(signed);
  });

  it('a transfer of an asset that is frozen', async () => {
    await shop.db.query(`INSERT INTO egress_freeze (currency, reason) VALUES ('XRP', 'looked into')`);
    expect(await sign(one.intentId)).toMatchObject(waits(/frozen/));
    await shop.db.query('DELETE FROM egress_freeze');
    await goesOn();
  });
});
