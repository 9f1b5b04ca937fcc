/** @jest-environment node */
import { sweepActivities } from '../../activities/payments/payments';
import { createCodecs } from '../../chains/codecs';
import { addWallet } from '../../db/wallets/wallets';
import type { TronWorld } from '../chain/tron-world';
import { diverts, keeps, switchedToken, token, type SwitchedToken } from './switched-token';
import { TronShop, units, type Made } from './tron-shop';

/** Sweeps of a token that takes something for its owner: the payment settles by what the payer has paid, and what did
 *  not arrive is the platform's loss. */

let tron: TronShop;
let world: TronWorld;
let of: SwitchedToken;
beforeAll(async () => {
  tron = await TronShop.start();
  ({ world } = tron);
  of = switchedToken(tron);
  await tron.fundWallets();
});
afterAll(() => tron?.end());
afterEach(() => of.inOrder());

const nextOf = ({ paymentId }: Made): (() => Promise<unknown>) => {
  const sweeps = sweepActivities({ db: tron.db, config: tron.config, nodes: [tron.adapter] });
  return () => sweeps.nextIntent(paymentId);
};
/** A payment whose sweep differs, and the intent of that. */
async function swept(how: object): Promise<{ made: Made; intentId: string }> {
  const made = await tron.confirmed(token);
  const sweeps = sweepActivities({ db: tron.db, config: tron.config, nodes: [tron.adapter] });
  expect(await sweeps.queueSweep(made.paymentId)).toEqual({ queued: true });
  return { made, intentId: await of.sentSwitched(nextOf(made), 'sweep', how) };
}
const readPayment = async ({ paymentId }: Made) =>
  (await tron.h.call('GET', `/api/v1/payments/${paymentId}`, { key: tron.shop.key })).body;

it.each([
  ['keeps a part', keeps, 100n],
  ['goes to somebody else', diverts, 1n],
])('has paid its payment, whatever of it %s', async (_what, how, part) => {
  const [lost, before] = [await of.losses(), await of.spendable()];
  const { made, intentId } = await swept(how);
  expect(await tron.run(made)).toBe('SWEEP_QUEUED');
  await of.inOrder();
  await expect(of.decide(intentId, 'failed')).rejects.toThrow('between addresses of ours');
  await of.decide(intentId, 'paid');
  for (let n = 0; n < 2; n += 1) await of.goOn(intentId);
  // Before the payment is settled.
  await of.inOrder();
  expect(await tron.run(made)).toBe('SETTLED');
  expect((await of.losses()) - lost).toBe(units(made.amount) / part);
  const { netAmount, feeAmount } = await readPayment(made);
  expect((await of.spendable()) - before).toBe(units(netAmount));
  expect(units(netAmount) + units(feeAmount)).toBe(units(made.amount));
});

it('is counted once where its payment is settled before its own end is booked', async () => {
  const { made, intentId } = await swept(keeps);
  await of.decide(intentId, 'paid');
  await tron.look();
  expect(await tron.run(made)).toBe('SETTLED');
  await of.inOrder();
  await of.goOn(intentId);
});

it('sweeps the next one as ever', async () => {
  const made = await tron.confirmed(token);
  await tron.swept(made);
  expect(await tron.run(made)).toBe('SETTLED');
});

describe('to the own address of a merchant', () => {
  let own: string;
  beforeAll(async () => {
    own = world.addressAt(70);
    await world.fund(own, units(1), units(1));
    const codec = createCodecs(tron.config.chain)[tron.adapter.network];
    await tron.db.query(`UPDATE merchant_wallet SET is_active = false WHERE merchant_id = $1 AND currency = $2`, [
      ...[tron.shop.id, token],
    ]);
    await addWallet(tron.db, { merchantId: tron.shop.id, currency: token, address: own }, codec);
  });

  /** What was signed to go to him. */
  const sentTo = async (intentId: string): Promise<bigint> =>
    BigInt(
      (await tron.db.query(`SELECT outputs->0->>'units' AS units FROM intent WHERE id = $1`, [intentId]))[0].units,
    );

  /** The rest of it goes to us, as ever. */
  async function settled(made: Made): Promise<Awaited<ReturnType<typeof readPayment>>> {
    await tron.carryOutAll(nextOf(made) as never);
    expect(await tron.run(made)).toBe('SETTLED');
    return readPayment(made);
  }

  it('has paid him: he has it, less what his token keeps', async () => {
    const [lost, before] = [await of.losses(), await of.spendable()];
    const { made, intentId } = await swept(keeps);
    await of.decide(intentId, 'paid');
    await of.goOn(intentId);
    const { netAmount } = await settled(made);
    // What was kept back for the transfer, and was not needed.
    const kept = units(netAmount) - (await sentTo(intentId));
    expect([await of.losses(), await of.spendable()]).toEqual([lost, before + kept]);
  });

  it('has failed: he is credited instead, and what left is the platform’s loss', async () => {
    const [lost, before, there] = [await of.losses(), await of.spendable(), await tron.held(own, token)];
    const { made, intentId } = await swept(diverts);
    const { summary } = await of.decide(intentId, 'failed');
    expect(summary).toContain('credited instead');
    for (let n = 0; n < 2; n += 1) await of.goOn(intentId);
    await of.inOrder();
    const { netAmount, feeAmount } = await settled(made);
    expect((await of.spendable()) - before).toBe(units(netAmount));
    expect((await of.losses()) - lost).toBe(await sentTo(intentId));
    expect(await tron.held(own, token)).toBe(there);
    expect(units(netAmount) + units(feeAmount)).toBe(units(made.amount));
    const [{ n }] = await tron.db.query(
      `SELECT count(*)::int AS n FROM intent WHERE payment_id = $1 AND kind = 'sweep' AND outputs->0->>'address' = $2`,
      [made.paymentId, own],
    );
    expect(n).toBe(1);
  });

  it('can only have paid what it takes beside: our part is ours to move', async () => {
    const made = await tron.confirmed(token);
    const sweeps = sweepActivities({ db: tron.db, config: tron.config, nodes: [tron.adapter] });
    await sweeps.queueSweep(made.paymentId);
    const toMerchant = await of.sentSwitched(nextOf(made), 'sweep', {});
    const lost = await of.losses();
    const ours = await of.sentSwitched(nextOf(made), 'sweep', keeps);
    expect(ours).not.toBe(toMerchant);
    await expect(of.decide(ours, 'failed')).rejects.toThrow('between addresses of ours');
    await of.decide(ours, 'paid');
    await of.goOn(ours);
    await settled(made);
    expect(await of.losses()).toBeGreaterThan(lost);
  });
});
