/** @jest-environment node */
import { encodeFunctionData, parseAbi } from 'viem';
import type * as Reconciliations from '../../db/audit/reconciliation';
import { requiredDepth } from '../../db/payments/payments';
import type { NetworkId } from '../../domain/chains/assets';
import { evmAddress } from '../../chains/tron/address';
import { forwarder, type TronWorld } from '../chain/tron-world';
import { byTwoOperators } from '../operators';
import { forAllTests, payer, units, type Made, type TronShop } from './tron-shop';

/** TRX that no transaction says anything of, as contracts send it: it is in the books, nobody is credited, and
 *  operators can give it to its payment. */

let tron: TronShop;
let world: TronWorld;
forAllTests((started) => {
  tron = started;
  ({ world } = started);
});

/** Has a contract send TRX on. */
async function forward(to: string, sun: bigint): Promise<string> {
  const data = encodeFunctionData({ abi: parseAbi(['function forward(address)']), args: [evmAddress(to)] });
  const txId = await world.call(payer, forwarder, data.slice(2), sun);
  await world.mine();
  return txId;
}
/** Compares books and chain, as the service does after each block. Answers what is stopped. */
async function compare(): Promise<string[]> {
  const { reconcileAssets, storePositions } = jest.requireActual<typeof Reconciliations>(
    '../../db/audit/reconciliation',
  );
  const depth = (id: NetworkId): number => requiredDepth(id, tron.config.confirmations);
  const { positions } = await reconcileAssets(tron.db, [tron.adapter], depth, 1);
  return storePositions(tron.db, positions, tron.config.unexplainedBounds);
}
const found = (address: string): Promise<Array<Record<string, unknown>>> =>
  tron.db.query(
    `SELECT id::text, payment_id, trim_scale(amount)::text AS amount, currency, status, allocation FROM deposit
      WHERE address = $1 AND found_by = 'balance' ORDER BY id`,
    [address],
  );
const incidents = (kind: string): Promise<Array<{ details: Record<string, unknown> }>> =>
  tron.db.query('SELECT details FROM incident WHERE kind = $1 AND resolved_at IS NULL ORDER BY id', [kind]);
const readPayment = async ({ paymentId }: Made) =>
  (await tron.h.call('GET', `/api/v1/payments/${paymentId}`, { key: tron.shop.key })).body;

it('is nobody’s, whatever its address waits for, until two operators give it away', async () => {
  const one = await tron.create('TRX');
  await forward(one.depositAddress, units(one.amount));
  await tron.look();
  // What is not deep enough yet is no finding of the audit either.
  expect(await tron.wrong()).toEqual([]);
  await tron.mine();
  expect(await compare()).toEqual([]);
  await tron.look();
  const [row, ...others] = await found(one.depositAddress);
  expect([row, others]).toEqual([
    {
      ...{ id: expect.any(String), payment_id: null, amount: String(Number(one.amount)), currency: 'TRX' },
      ...{ status: 'confirmed', allocation: 'unclaimed' },
    },
    [],
  ]);
  expect(await tron.run(one)).toBe('WAITING');
  expect((await readPayment(one)).amountPaid).toBe(0);
  const told = await incidents('unclaimed-deposit');
  expect(told.map(({ details }) => details)).toMatchObject([
    { depositId: row!.id, address: one.depositAddress, currency: 'TRX' },
  ]);
  // A second comparison finds nothing more.
  await tron.mine(1);
  expect(await compare()).toEqual([]);
  expect(await found(one.depositAddress)).toHaveLength(1);

  const other = await tron.create('TRX');
  const depositId = String(row!.id);
  await expect(byTwoOperators(tron.db, 'claim-deposit', { depositId, paymentId: other.paymentId })).rejects.toThrow(
    `does not receive at ${one.depositAddress}`,
  );
  await byTwoOperators(tron.db, 'claim-deposit', { depositId, paymentId: one.paymentId });
  expect(await tron.run(one)).toBe('CONFIRMED');
  expect(await tron.swept(one)).toEqual(['sweep']);
  expect(await tron.run(one)).toBe('SETTLED');
  expect(await incidents('unclaimed-deposit')).toEqual([]);
  await expect(byTwoOperators(tron.db, 'claim-deposit', { depositId, paymentId: one.paymentId })).rejects.toThrow(
    'is not unclaimed',
  );
});

it('is found beside a token where its node tells of nothing that contracts do', async () => {
  await world.paid(payer, { currency: 'TRX', to: tron.addressOf('gas'), units: units(1000) });
  await tron.mine();
  const one = await tron.confirmed('USDT_TRC20');
  expect(await tron.swept(one)).toEqual(['gas', 'sweep']);
  expect(await tron.run(one)).toBe('SETTLED');
  await world.fund(one.depositAddress, units(7));
  await tron.look();
  expect(await tron.wrong()).toEqual([]);
  await tron.mine();
  expect(await compare()).toEqual([]);
  await tron.look();
  expect(await found(one.depositAddress)).toMatchObject([
    { payment_id: null, amount: '7', status: 'confirmed', allocation: 'unclaimed' },
  ]);
  expect((await readPayment(one)).exceptions).toEqual([]);
});

it('on a wallet of ours is booked as unexplained up to a bound, and above it stops nothing', async () => {
  const booked = async (): Promise<string> => {
    const [row] = await tron.db.query(
      `SELECT trim_scale(coalesce(sum(amount), 0))::text AS amount FROM posting
        WHERE credit = 'Q:unexplained' AND asset = 'TRX'`,
    );
    return (row as { amount: string }).amount;
  };
  const gas = tron.addressOf('gas');
  await forward(gas, units(60));
  await tron.look();
  expect(await tron.wrong()).toEqual([]);
  await tron.mine();
  expect(await compare()).toEqual([]);
  expect([await booked(), await incidents('unreconciled')]).toEqual(['60', []]);
  // The books and the chain agree, address by address.
  expect(await tron.wrong()).toEqual([]);
  await forward(gas, units(60));
  await tron.mine();
  expect(await compare()).toEqual([]);
  expect(await booked()).toBe('60');
  expect(await incidents('unreconciled')).toMatchObject([{ details: { currency: 'TRX' } }]);
  // That is for people: two operators book it.
  expect(await tron.wrong()).toMatchObject([{ invariant: 'I5', found: [expect.stringContaining(gas)] }]);
  await byTwoOperators(tron.db, 'book-difference', { currency: 'TRX', amount: '60' });
  expect(await incidents('unreconciled')).toEqual([]);
});
