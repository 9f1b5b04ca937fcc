/** @jest-environment node */
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { xrplNetwork } from '../chain/expiring-networks';
import type { ExpiringFamily } from '../../domain/chains/chain';
import { rich, type Person, type SimulatedXrpl } from '../chain/xrpl-network';
import type { ExpiringShop } from './expiring-shop';
import { XrplStage } from './xrpl-stage';

/** The signer itself, where transactions expire: a withdrawal of XRP, with the simulator and the real database. */

const network = 'xrpl';
let stage: XrplStage;
let net: SimulatedXrpl;
let payee: Person;
let shop: ExpiringShop;
/** With a node of its own, which a test may bend. */
let family: ExpiringFamily;
beforeAll(async () => {
  stage = await XrplStage.start();
  ({ net, payee, family } = stage);
});
beforeEach(async () => {
  shop = await stage.open();
});
afterEach(() => stage.close(shop));
afterAll(() => stage?.end());

const balance = async (): Promise<bigint> => (await net.node.account(payee.address))!.drops;
const withdraw = (amount: string) => shop.withdraw(payee.address, amount, '7');
/** The network never hears of it, until its end and beyond. */
async function expire(intentId: string): Promise<void> {
  await net.order({ order: 'fault', fault: 'swallow' });
  await shop.send(intentId);
  await net.close(25);
  await net.order({ order: 'go_on' });
}

it('signs a withdrawal once, with its tag, and it is booked', async () => {
  const before = await balance();
  const { id, intentId } = await withdraw('5');
  expect(await shop.signer.signOnce(intentId)).toEqual({ state: 'stored' });
  expect(await shop.signer.signOnce(intentId)).toEqual({ state: 'stored' });
  const [row, other] = await shop.rows(intentId);
  expect(other).toBeUndefined();
  const head = await net.node.head();
  const account = (await net.node.account(shop.treasury))!;
  expect(family.read(row!.raw)).toMatchObject({ to: payee.address, tag: '7', units: 5_000_000n });
  expect(row).toMatchObject({
    ...{ valid_from_height: `${head.height}`, valid_from_hash: head.hash, valid_to_height: `${head.height + 20}` },
    ...{ sequence: `${account.sequence}`, nonce: null, max_fee_units: '10', moved_units: '5000000' },
  });
  await shop.send(intentId);
  await net.close(2);
  await shop.follow(intentId);
  expect(await shop.statusOf(id)).toBe('completed');
  expect((await balance()) - before).toBe(5_000_000n);
});

it('signs another when its own node proves the first void, with the same sequence', async () => {
  const before = await balance();
  const { id, intentId } = await withdraw('6');
  await shop.signer.signOnce(intentId);
  expect(await shop.signer.signBump(intentId, 1)).toMatchObject({
    state: 'waiting',
    reason: expect.stringContaining('open'),
  });
  await expire(intentId);
  expect(await shop.send(intentId)).toMatchObject({ state: 'stuck', attempts: 1 });
  expect(await shop.signer.signBump(intentId, 1)).toEqual({ state: 'stored' });
  // The same call again adds none.
  expect(await shop.signer.signBump(intentId, 1)).toEqual({ state: 'stored' });
  const rows = await shop.rows(intentId);
  expect(rows.map(({ status }) => status)).toEqual(['expired', 'stored']);
  expect(rows[1]!.sequence).toBe(rows[0]!.sequence);
  await shop.send(intentId);
  await net.close(2);
  await shop.follow(intentId);
  expect(await shop.statusOf(id)).toBe('completed');
  expect((await balance()) - before).toBe(6_000_000n);
});

it('believes no row that calls void what its own node has not proven', async () => {
  const before = await balance();
  const { intentId } = await withdraw('7');
  await shop.signer.signOnce(intentId);
  const [row] = await shop.rows(intentId);
  await net.node.broadcast(row!.raw);
  await net.close(2);
  // Whoever has the chain worker's database role can write this.
  const through = { height: parseInt(row!.valid_to_height!, 10), hash: 'made up', time: 1 };
  const absence = { txId: row!.tx_id, from: 1, through, finalHeight: through.height };
  await shop.db.query(`UPDATE attempt SET status = 'expired', absence = $2 WHERE id = $1`, [
    row!.id,
    JSON.stringify(absence),
  ]);
  await net.close(25);
  expect(await shop.signer.signBump(intentId, 1)).toMatchObject({ state: 'waiting', reason: `${row!.tx_id} is open` });
  expect(await shop.rows(intentId)).toHaveLength(1);
  expect((await balance()) - before).toBe(7_000_000n);
  await shop.db.query(`UPDATE attempt SET status = 'sent', absence = NULL WHERE id = $1`, [row!.id]);
  await shop.follow(intentId);
});

it('waits for its own node where that is behind what proved the first void', async () => {
  const { intentId } = await withdraw('8');
  await shop.signer.signOnce(intentId);
  await expire(intentId);
  await shop.send(intentId);
  const lagging: ExpiringFamily = {
    ...family,
    node: { ...family.node, fateOf: () => Promise.resolve({ state: 'open', reason: 'it lags' }) },
  };
  const behind = shop.signerOf({ expiring: { [network]: lagging } as never });
  expect(await behind.signBump(intentId, 1)).toMatchObject({ state: 'waiting' });
  const old: ExpiringFamily = {
    ...family,
    node: {
      ...family.node,
      async termsOf(transfer) {
        const answer = await family.node.termsOf(transfer);
        if (answer.state !== 'done') return answer;
        return {
          ...answer,
          terms: { ...answer.terms, on: { ...answer.terms.on, height: answer.terms.on.height - 10 } },
        };
      },
    },
  };
  const { signBump } = shop.signerOf({ expiring: { [network]: old } as never });
  expect(await signBump(intentId, 1)).toMatchObject({
    state: 'waiting',
    reason: expect.stringMatching(/is before block/),
  });
  expect(await shop.rows(intentId)).toHaveLength(1);
  expect(await shop.signer.signBump(intentId, 1)).toEqual({ state: 'stored' });
});

it('signs one at a time for a wallet, and the next when that is final', async () => {
  const one = await withdraw('1');
  const two = await withdraw('2');
  const signed = await Promise.all([one, two].map(({ intentId }) => shop.signer.signOnce(intentId)));
  expect(signed.map(({ state }) => state).sort()).toEqual(['stored', 'waiting']);
  const [first, second] = signed[0]!.state === 'stored' ? [one, two] : [two, one];
  expect(await shop.signer.signOnce(second.intentId)).toMatchObject({
    state: 'waiting',
    reason: expect.stringMatching(/of its wallet is open$/),
  });
  await shop.send(first.intentId);
  await net.close(2);
  await shop.follow(first.intentId);
  expect(await shop.signer.signOnce(second.intentId)).toEqual({ state: 'stored' });
});

it('makes one attempt, however many ask at once', async () => {
  const { intentId } = await withdraw('3');
  await Promise.all(Array.from({ length: 4 }, () => shop.signer.signOnce(intentId)));
  expect(await shop.rows(intentId)).toHaveLength(1);
  await expire(intentId);
  await shop.send(intentId);
  await Promise.all(Array.from({ length: 4 }, () => shop.signer.signBump(intentId, 1)));
  expect((await shop.rows(intentId)).map(({ status }) => status)).toEqual(['expired', 'stored']);
});

it('keeps to the cap of a transaction and the budget of its intent, also where the first is void', async () => {
  const { intentId } = await withdraw('3');
  const limit = (cap: number, budget: number): Promise<unknown> =>
    shop.db.query('UPDATE intent SET max_unit_price = $2, fee_budget = $3 WHERE id = $1', [intentId, cap, budget]);
  await limit(9, 1000);
  expect(await shop.signer.signOnce(intentId)).toMatchObject({
    state: 'waiting',
    reason: expect.stringContaining('above its cap'),
  });
  await limit(1000, 9);
  expect(await shop.signer.signOnce(intentId)).toMatchObject({
    state: 'waiting',
    reason: expect.stringContaining('above its budget'),
  });
  await limit(10, 10);
  expect(await shop.signer.signOnce(intentId)).toEqual({ state: 'stored' });
  await expire(intentId);
  await shop.send(intentId);
  await limit(9, 10);
  expect(await shop.signer.signBump(intentId, 1)).toMatchObject({
    state: 'waiting',
    reason: expect.stringContaining('above its cap'),
  });
  const incidents = await shop.db.query(`SELECT FROM incident WHERE kind = 'fee-cap' AND resolved_at IS NULL`);
  expect(incidents).toHaveLength(1);
  await limit(10, 10);
  expect(await shop.signer.signBump(intentId, 1)).toEqual({ state: 'stored' });
});

it('stores nothing whose bytes say something else than its intent', async () => {
  const { intentId } = await withdraw('3');
  const wrong: Array<Partial<Parameters<ExpiringFamily['sign']>[1]>> = [
    ...[{ units: 4n }, { to: rich.address }, { tag: '8' }, { feeLimit: 11n }, { sequence: 1 }],
    { last: { height: 1_000_000 } },
  ];
  for (const over of wrong) {
    const bent: ExpiringFamily = { ...family, sign: (key, plan) => family.sign(key, { ...plan, ...over }) };
    const { signOnce } = shop.signerOf({ expiring: { [network]: bent } as never });
    await expect(signOnce(intentId)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
  }
  expect(await shop.rows(intentId)).toEqual([]);
  expect(await shop.signer.signOnce(intentId)).toEqual({ state: 'stored' });
});

describe('what would cost a fee and move nothing', () => {
  const stranger = (): string => net.person(9).address;

  it('ends when it is planned, and what it holds goes back', async () => {
    const id = await shop.request(stranger(), '0.5', '1');
    expect(await shop.activities.nextWithdrawalIntent(id)).toBeNull();
    expect(await shop.statusOf(id)).toBe('failed');
    expect(await shop.available()).toBe('1000');
    expect(await shop.db.query('SELECT status FROM intent')).toEqual([{ status: 'dead' }]);
  });

  it('is not signed by the word of another node', async () => {
    const estimateGas = () => Promise.resolve({ state: 'done', gas: 1n } as const);
    const nodes = [{ network: xrplNetwork.id, estimateGas }];
    const id = await shop.request(stranger(), '0.5', '1');
    const next = await withdrawalActivities({ db: shop.db, nodes }).nextWithdrawalIntent(id);
    const { id: intentId } = next as { id: string };
    expect(await shop.signer.signOnce(intentId)).toMatchObject({
      state: 'waiting',
      reason: expect.stringContaining('make none'),
    });
    expect(await shop.rows(intentId)).toEqual([]);
  });
});

describe('giving up', () => {
  /** The first was signed so long ago, by the database's clock. */
  const age = (hours: number): Promise<unknown> =>
    shop.db.query(`UPDATE signer.validity SET signed_at = signed_at - make_interval(hours => $1)`, [hours]);

  it('gives back what a withdrawal holds when all is void and its time is over, and signs nothing more', async () => {
    const before = await balance();
    const { id, intentId } = await withdraw('5');
    const held = await shop.available();
    await shop.signer.signOnce(intentId);
    await age(25);
    // Its time is over, and a block may still take it.
    expect(await shop.signer.signBump(intentId, 1)).toMatchObject({ state: 'waiting' });
    expect(await shop.statusOf(id)).toBe('processing');
    await expire(intentId);
    expect(await shop.signer.signBump(intentId, 1)).toMatchObject({
      state: 'waiting',
      reason: expect.stringContaining('open'),
    });
    expect(await shop.send(intentId)).toMatchObject({ state: 'stuck' });
    expect(await shop.signer.signBump(intentId, 1)).toMatchObject({ state: 'dropped' });
    expect(await shop.signer.signBump(intentId, 1)).toMatchObject({ state: 'dropped' });
    expect(await shop.statusOf(id)).toBe('failed');
    expect([held, await shop.available()]).toEqual(['994.99999', '1000']);
    expect(await shop.send(intentId)).toMatchObject({ state: 'dropped' });
    expect(await shop.activities.nextWithdrawalIntent(id)).toBeNull();
    expect((await balance()) - before).toBe(0n);
  });

  it('signs on within its time', async () => {
    const { id, intentId } = await withdraw('5');
    await shop.signer.signOnce(intentId);
    await age(23);
    await expire(intentId);
    await shop.send(intentId);
    expect(await shop.signer.signBump(intentId, 1)).toEqual({ state: 'stored' });
    expect(await shop.statusOf(id)).toBe('broadcast');
  });

  it('gives up after eight attempts', async () => {
    const { id, intentId } = await withdraw('5');
    await shop.signer.signOnce(intentId);
    for (let n = 1; n < 8; n += 1) {
      await expire(intentId);
      await shop.send(intentId);
      expect(await shop.signer.signBump(intentId, n)).toEqual({ state: 'stored' });
    }
    await expire(intentId);
    await shop.send(intentId);
    expect(await shop.signer.signBump(intentId, 8)).toMatchObject({ state: 'dropped' });
    expect(await shop.statusOf(id)).toBe('failed');
    expect(await shop.available()).toBe('1000');
  });

  it('gives back nothing that only a row calls void', async () => {
    const { id, intentId } = await withdraw('5');
    await shop.signer.signOnce(intentId);
    await age(25);
    const [row] = await shop.rows(intentId);
    await net.node.broadcast(row!.raw);
    await net.close(25);
    const through = { height: parseInt(row!.valid_to_height!, 10), hash: 'made up', time: 1 };
    const absence = JSON.stringify({ txId: row!.tx_id, from: 1, through, finalHeight: through.height });
    await shop.db.query(`UPDATE attempt SET status = 'expired', absence = $2 WHERE id = $1`, [row!.id, absence]);
    expect(await shop.signer.signBump(intentId, 1)).toMatchObject({ state: 'waiting' });
    expect(await shop.statusOf(id)).toBe('processing');
    await shop.db.query(`UPDATE attempt SET status = 'sent', absence = NULL WHERE id = $1`, [row!.id]);
    await shop.follow(intentId);
    expect(await shop.statusOf(id)).toBe('completed');
  });

  it('either signs or gives back, whoever asks at once', async () => {
    const { id, intentId } = await withdraw('5');
    await shop.signer.signOnce(intentId);
    await expire(intentId);
    await shop.send(intentId);
    const ask = () => shop.signer.signBump(intentId, 1);
    const [one, , two] = await Promise.all([ask(), age(25), ask()]);
    const rows = await shop.rows(intentId);
    const isBack = (await shop.statusOf(id)) === 'failed';
    expect(rows.length).toBe(isBack ? 1 : 2);
    expect([one.state, two.state]).not.toEqual(expect.arrayContaining(['dropped', 'stored']));
  });

  it('gives back what a refund holds', async () => {
    const { id, intentId } = await shop.refund(payee.address, '5', '7');
    const status = async () =>
      (await shop.db.query('SELECT status, merchant_message FROM refund WHERE id = $1', [id]))[0];
    await shop.signer.signOnce(intentId);
    await expire(intentId);
    await shop.send(intentId);
    expect(await status()).toMatchObject({ status: 'broadcast' });
    await age(25);
    expect(await shop.signer.signBump(intentId, 1)).toMatchObject({ state: 'dropped' });
    expect(await status()).toMatchObject({ status: 'failed', merchant_message: expect.stringContaining('expired') });
    expect(await shop.available()).toBe('1000');
  });

  it('gives back what a line of a mass payout holds, and pays the other', async () => {
    const before = await balance();
    const id = await shop.payOut(payee.address, ['3', '3'], '7');
    const lines = async (): Promise<string[]> =>
      (await shop.db.query('SELECT status FROM payout_leg WHERE batch_id = $1 ORDER BY status', [id])).map(
        (line: { status: string }) => line.status,
      );
    // One at a time: of a wallet one transaction is open.
    expect(await shop.signer.signPayouts(id)).toMatchObject({ stored: 1 });
    await net.order({ order: 'fault', fault: 'swallow' });
    expect((await shop.sendPayouts(id)).stuck).toEqual([]);
    expect(await lines()).toEqual(['broadcast', 'pending']);
    await net.close(25);
    const { stuck } = await shop.sendPayouts(id);
    expect(stuck).toMatchObject([{ attempts: 1 }]);
    await age(25);
    expect(await shop.signer.bumpPayouts(stuck)).toBe(0);
    expect(await lines()).toEqual(['failed', 'pending']);
    expect(await shop.signer.signPayouts(id)).toMatchObject({ stored: 1 });
    await shop.sendPayouts(id);
    await net.close(2);
    const [open] = await shop.db.query(`SELECT id FROM intent WHERE owner_id = $1 AND status = 'sent'`, [id]);
    await shop.follow(open.id, false);
    expect(await shop.payoutStep(id)).toBeNull();
    expect(await lines()).toEqual(['completed', 'failed']);
    // Its line pays the network fee.
    expect((await balance()) - before).toBe(2_999_990n);
  });
});
