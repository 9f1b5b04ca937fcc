/** @jest-environment node */
import { sweepActivities } from '../../activities/payments/payments';
import { createCodecs } from '../../chains/codecs';
import { addWallet } from '../../db/wallets/wallets';
import { hexOf } from '../../chains/tron/address';
import { usdt } from '../chain/tron-vectors';
import type { TronWorld } from '../chain/tron-world';
import { forAllTests, payer, units, type Made, type TronShop } from './tron-shop';

/** Sweeps of TRX and USDT_TRC20 to the settled payment. Who pays for what is left behind is the platform: it brings the
 *  TRX that a token burns. */

let tron: TronShop;
let world: TronWorld;
forAllTests((started) => {
  tron = started;
  ({ world } = started);
});

const attemptsOf = ({ paymentId }: Made): Promise<Array<{ kind: string; moved: string; fee: string }>> =>
  tron.db.query(
    `SELECT i.kind, trim_scale(a.moved_units)::text AS moved, trim_scale(a.fee_units)::text AS fee
       FROM attempt a JOIN intent i ON i.id = a.intent_id WHERE i.payment_id = $1 ORDER BY a.id`,
    [paymentId],
  );
const readPayment = async ({ paymentId }: Made) =>
  (await tron.h.call('GET', `/api/v1/payments/${paymentId}`, { key: tron.shop.key })).body;

it('moves all TRX but what they burn: for the account that they make first, for nothing then', async () => {
  const first = await tron.confirmed('TRX');
  expect(await tron.swept(first)).toEqual(['sweep']);
  expect(await tron.run(first)).toBe('SETTLED');
  const [made] = await attemptsOf(first);
  // The treasury had no account.
  expect(made!.fee).toBe('1100000');
  expect(BigInt(made!.moved) + 1_100_000n).toBe(units(first.amount));
  expect(await tron.held(first.depositAddress)).toBe(0n);
  const second = await tron.confirmed('TRX');
  await tron.swept(second);
  expect(await tron.run(second)).toBe('SETTLED');
  expect(await attemptsOf(second)).toMatchObject([{ moved: units(second.amount).toString(), fee: '0' }]);
  const { netAmount, feeAmount } = await readPayment(second);
  expect(units(netAmount) + units(feeAmount)).toBe(units(second.amount));
});

it('sweeps a token once its address has the TRX for it, and leaves less than 5 % of them behind', async () => {
  await world.paid(payer, { currency: 'TRX', to: tron.addressOf('gas'), units: units(1000) });
  await tron.mine();
  for (const energy of [130_285n, 64_285n]) {
    const one = await tron.confirmed('USDT_TRC20');
    expect(await tron.swept(one)).toEqual(['gas', 'sweep']);
    expect(await tron.run(one)).toBe('SETTLED');
    const [gas, sweep] = await attemptsOf(one);
    // The top-up makes the account of its address.
    expect(gas!.fee).toBe('1100000');
    expect(sweep).toMatchObject({ moved: units(one.amount).toString(), fee: (energy * 100n).toString() });
    expect(await tron.held(one.depositAddress, 'USDT_TRC20')).toBe(0n);
    const left = await tron.held(one.depositAddress);
    expect(left).toBe(BigInt(gas!.moved) - BigInt(sweep!.fee));
    expect(left * 20n).toBeLessThan(BigInt(gas!.moved));
    // The payment bears what was burned, and nothing that is left.
    const { netAmount, feeAmount } = await readPayment(one);
    expect(units(netAmount) + units(feeAmount)).toBe(units(one.amount));
  }
});

/** What the contract asks above its usual energy, from the next block on (dynamic energy model). */
async function extraEnergy(percent: number): Promise<void> {
  await world.order('switch', { contract: hexOf(usdt), extraEnergy: percent });
  await world.mine();
}

it('sweeps again where its transfer has run out of energy in the block', async () => {
  const one = await tron.confirmed('USDT_TRC20');
  const sweeps = sweepActivities({ db: tron.db, config: tron.config, nodes: [tron.adapter] });
  const next = () => sweeps.nextIntent(one.paymentId);
  await sweeps.queueSweep(one.paymentId);
  await tron.carryOut(((await next()) as { id: string }).id);
  const sweep = (await next()) as { id: string };
  expect(await tron.signer().signOnce(sweep.id)).toEqual({ state: 'stored' });
  // Between the signature and the block, as where the recipient spends his last token.
  await extraEnergy(60);
  await tron.sendSigned(sweep.id);
  expect(await tron.db.query('SELECT status FROM intent WHERE id = $1', [sweep.id])).toEqual([{ status: 'failed' }]);
  expect(await tron.run(one)).toBe('SWEEP_QUEUED');
  expect(await tron.carryOutAll(next)).toEqual(['gas', 'sweep']);
  expect(await tron.run(one)).toBe('SETTLED');
  expect(await tron.held(one.depositAddress, 'USDT_TRC20')).toBe(0n);
  const { netAmount, feeAmount } = await readPayment(one);
  expect(units(netAmount) + units(feeAmount)).toBe(units(one.amount));
  await extraEnergy(0);
});

/** The merchant settles at an address of his own from now on. */
async function ownWallet(currency: string, address: string): Promise<void> {
  const codec = createCodecs(tron.config.chain)[tron.adapter.network];
  await tron.db.query(`UPDATE merchant_wallet SET is_active = false WHERE merchant_id = $1 AND currency = $2`, [
    ...[tron.shop.id, currency],
  ]);
  await addWallet(tron.db, { merchantId: tron.shop.id, currency, address }, codec);
}

it('sends the net to the own address of a merchant, and the rest to the treasury', async () => {
  const own = world.addressAt(70);
  await world.fund(own, units(1));
  for (const currency of ['TRX', 'USDT_TRC20']) await ownWallet(currency, own);
  for (const currency of ['TRX', 'USDT_TRC20'] as const) {
    const before = await tron.held(own, currency);
    const one = await tron.confirmed(currency);
    const sent = await tron.swept(one);
    expect(sent).toEqual(currency === 'TRX' ? ['sweep', 'sweep'] : ['gas', 'sweep', 'sweep']);
    expect(await tron.run(one)).toBe('SETTLED');
    const { netAmount } = await readPayment(one);
    expect((await tron.held(own, currency)) - before).toBe(units(netAmount));
    const [brought] = (await attemptsOf(one)).filter(({ kind }) => kind === 'gas');
    const left = await tron.held(one.depositAddress);
    expect(left * 20n).toBeLessThan(brought ? BigInt(brought.moved) : units(one.amount));
  }
});

it('brings what is missing where the transfer takes more than when its top-up was planned', async () => {
  const own = world.addressAt(70);
  const one = await tron.confirmed('USDT_TRC20');
  const sweeps = sweepActivities({ db: tron.db, config: tron.config, nodes: [tron.adapter] });
  const next = () => sweeps.nextIntent(one.paymentId);
  await sweeps.queueSweep(one.paymentId);
  const topUp = (await next()) as { id: string; kind: string };
  expect(topUp.kind).toBe('gas');
  await tron.carryOut(topUp.id);
  // The merchant spends his last token: his balance is made anew.
  await world.fund(own, units(100));
  await world.paid(70, {
    currency: 'USDT_TRC20',
    to: world.addressAt(payer),
    units: await tron.held(own, 'USDT_TRC20'),
  });
  await world.mine(20);
  const sweep = (await next()) as { id: string };
  expect(await tron.signer().signOnce(sweep.id)).toMatchObject({ state: 'waiting' });
  await tron.db.query(`UPDATE intent SET gas_estimated_at = now() - interval '1 hour' WHERE payment_id = $1`, [
    one.paymentId,
  ]);
  expect(await tron.carryOutAll(next)).toEqual(['gas', 'sweep', 'sweep']);
  expect(await tron.run(one)).toBe('SETTLED');
  const brought = (await attemptsOf(one)).filter(({ kind }) => kind === 'gas');
  const sum = brought.reduce((units, { moved }) => units + BigInt(moved), 0n);
  expect((await tron.held(one.depositAddress)) * 20n).toBeLessThan(sum);
});

it('lets a merchant with an address of his own bear what reaching it takes', async () => {
  const own = world.addressAt(72);
  await world.fund(own, units(1));
  await ownWallet('USDT_TRC20', own);
  for (const isEmptied of [true, false]) {
    const before = await tron.held(own, 'USDT_TRC20');
    expect(before === 0n).toBe(isEmptied);
    const one = await tron.confirmed('USDT_TRC20');
    await tron.swept(one);
    expect(await tron.run(one)).toBe('SETTLED');
    const [{ rate }] = await tron.db.query('SELECT native_rate::text AS rate FROM payment WHERE id = $1', [
      one.paymentId,
    ]);
    const burned = (await attemptsOf(one)).reduce((sum, { fee }) => sum + BigInt(fee), 0n);
    const { netAmount, feeAmount } = await readPayment(one);
    expect(Number(burned) * Number(rate)).toBeLessThanOrEqual(Number(units(feeAmount)));
    const arrived = (await tron.held(own, 'USDT_TRC20')) - before;
    // What was kept back and not burned is in his balance.
    expect(arrived).toBeLessThanOrEqual(units(netAmount));
    expect(Number(units(netAmount) - arrived)).toBeLessThan(0.01 * Number(units(netAmount)));
  }
});

it('gives a sweep up that fails again and again, until operators say so, at the cost of its merchant', async () => {
  const own = world.addressAt(73);
  await world.fund(own, units(1), units(1));
  await ownWallet('USDT_TRC20', own);
  const one = await tron.confirmed('USDT_TRC20');
  const sweeps = sweepActivities({ db: tron.db, config: tron.config, nodes: [tron.adapter] });
  const next = () => sweeps.nextIntent(one.paymentId);
  await sweeps.queueSweep(one.paymentId);
  const emptied = async (): Promise<void> => {
    for (let intent = await next(); intent; intent = await next()) {
      if (!('id' in intent)) throw new Error(intent.reason);
      expect(await tron.signer().signOnce(intent.id)).toEqual({ state: 'stored' });
      const [{ to }] = await tron.db.query(`SELECT outputs->0->>'address' AS to FROM intent WHERE id = $1`, [
        intent.id,
      ]);
      await extraEnergy(to === own ? 400 : 0);
      await tron.sendSigned(intent.id);
      await extraEnergy(0);
    }
  };
  const given = (): Promise<unknown> =>
    tron.db.query(`SELECT resolved_at FROM incident WHERE kind = 'sweep-failed' AND subject_id = $1`, [one.paymentId]);
  for (let n = 0; n < 3; n += 1) {
    expect(await given()).toEqual([]);
    await emptied();
    expect(await tron.run(one)).toBe('SWEEP_QUEUED');
  }
  expect(await given()).toEqual([{ resolved_at: null }]);
  expect(await next()).toBeNull();
  await tron.db.query(`UPDATE incident SET resolved_at = now() WHERE kind = 'sweep-failed'`);
  expect(await tron.run(one)).toBe('SWEEP_QUEUED');
  await tron.carryOutAll(next);
  expect(await tron.run(one)).toBe('SETTLED');
  const { netAmount, feeAmount } = await readPayment(one);
  expect(units(netAmount) + units(feeAmount)).toBe(units(one.amount));
  const burned = (await attemptsOf(one)).reduce((sum, { fee }) => sum + BigInt(fee), 0n);
  const [{ rate }] = await tron.db.query('SELECT native_rate::text AS rate FROM payment WHERE id = $1', [
    one.paymentId,
  ]);
  // Three times all that the net's transfer could burn.
  expect(Number(burned) * Number(rate)).toBeLessThanOrEqual(Number(units(feeAmount)) * 1.05);
});
