/** @jest-environment node */
import { encodeFunctionData, parseAbi } from 'viem';
import { createAdapter } from '../../chains/adapters';
import { evmAddress } from '../../chains/tron/address';
import { tronAdapter } from '../../chains/tron/adapter';
import { tronNode } from '../../chains/tron/node';
import { networks, type Network } from '../../domain/chains/assets';
import { tronFrom, tronNetwork } from '../chain/expiring-networks';
import { brokenToken, chainOf, fakeToken, forwarder, seed, TronWorld } from '../chain/tron-world';
import { listening } from '../listening';
import { networkOfShop as network, payer, TronShop, units, type Made } from './tron-shop';

/** Payments in TRX and USDT_TRC20 on the simulator, as the follower takes them. */

let tron: TronShop;
let world: TronWorld;
beforeAll(async () => {
  tron = await TronShop.start({ isStill: true });
  ({ world } = tron);
  await world.fund(world.addressAt(payer), 0n, units(100), fakeToken);
});
afterAll(() => tron?.end());

const pay = async ({ depositAddress: to }: Made, currency: 'TRX' | 'USDT_TRC20', amount: bigint): Promise<string> =>
  (await world.paid(payer, { currency, to, units: amount })).txId;
/** Sends a token that is none of ours. */
async function payOther(contract: string, to: string, amount: bigint): Promise<string> {
  const other = tronNode(chainOf(world.chain.genesis, { OTHER: contract }), { login: { url: world.url } });
  const { raw, txId } = other.sign(seed, await world.plan(payer, { currency: 'OTHER', to, units: amount }));
  expect(await world.adapter.broadcast(raw)).toEqual({ outcome: 'accepted' });
  await world.mine();
  return txId;
}

it('says that its node stands still while the newest block is old, and goes on with it', async () => {
  const registered = networks as Record<string, Network>;
  const entry = registered[network]!;
  const lookedAt = async (): Promise<Record<string, unknown>> => {
    await tron.look();
    const [row] = await tron.db.query(
      'SELECT stale_reason AS reason, scanned_through IS NOT NULL AS "isScanned" FROM chain_cursor WHERE network = $1',
      [network],
    );
    return row as Record<string, unknown>;
  };
  // As on a network that makes its blocks by itself.
  const { simulator } = tronFrom(tron.world.chain.genesis).chains;
  const { isLocal: _, ...live } = simulator!;
  registered[network] = { ...entry, chains: { simulator: live } } as Network;
  try {
    expect(await lookedAt()).toMatchObject({ reason: expect.stringContaining('seconds old') });
    await tron.toNow();
    expect(await lookedAt()).toMatchObject({ reason: null, isScanned: true });
  } finally {
    registered[network] = entry;
  }
});

it.each(['TRX', 'USDT_TRC20'] as const)('confirms a payment in %s when its block is final, not before', async (of) => {
  const one = await tron.create(of);
  expect(one.depositAddress).toMatch(/^T/);
  const slug = one.invoiceUrl.split('/').pop();
  const invoice = (await tron.h.call('GET', `/getInvoiceStatus?invoiceId=${slug}`)).body;
  expect(invoice.paymentUri).toContain(`tron:${one.depositAddress}?amount=${invoice.amount}`);
  const sent = await world.sign(payer, { currency: of, to: one.depositAddress, units: units(one.amount) });
  await world.adapter.broadcast(sent.raw);
  await tron.look();
  // In no block: nothing has come.
  expect(await tron.deposits([sent.txId])).toEqual([]);
  await tron.mine(1);
  expect(await tron.deposits([sent.txId])).toMatchObject([{ payment_id: one.paymentId, status: 'mined' }]);
  expect(await tron.run(one)).not.toBe('CONFIRMED');
  await tron.mine(18);
  expect(await tron.run(one)).not.toBe('CONFIRMED');
  await tron.mine(1);
  expect(await tron.deposits([sent.txId])).toMatchObject([
    { payment_id: one.paymentId, status: 'confirmed', currency: of, amount: String(Number(one.amount)) },
  ]);
  expect(await tron.run(one)).toBe('CONFIRMED');
  expect(await tron.wrong()).toEqual([]);
});

it('counts what comes in parts, and waits for the rest', async () => {
  const one = await tron.create('USDT_TRC20');
  await pay(one, 'USDT_TRC20', units(one.amount) / 2n);
  await tron.mine();
  expect(await tron.run(one)).toBe('PARTIALLY_PAID');
  await pay(one, 'USDT_TRC20', units(one.amount) / 2n);
  await tron.mine();
  expect(await tron.run(one)).toBe('CONFIRMED');
});

it('takes another coin than the one that was asked for as such, and confirms nothing by it', async () => {
  const one = await tron.create('USDT_TRC20');
  const txId = await pay(one, 'TRX', units(one.amount));
  await tron.mine();
  expect(await tron.deposits([txId])).toMatchObject([{ payment_id: one.paymentId, currency: 'TRX' }]);
  expect(await tron.run(one)).not.toBe('CONFIRMED');
});

it('credits nothing that has failed, no other token, and no TRX that a contract sends', async () => {
  const one = await tron.create('USDT_TRC20');
  const to = one.depositAddress;
  const nobody = 40;
  await world.fund(world.addressAt(nobody), units(1000), 5n);
  // More than its sender has: the call reverts. Too little energy: it stops. Both are in blocks.
  const { txId: reverted } = await world.paid(nobody, { currency: 'USDT_TRC20', to, units: units(one.amount) });
  const { txId: out } = await world.paid(nobody, { currency: 'USDT_TRC20', to, units: 5n, feeLimit: 1_000_000n });
  const broken = await payOther(brokenToken, to, units(one.amount));
  const fake = await payOther(fakeToken, to, units(5));
  const data = encodeFunctionData({ abi: parseAbi(['function forward(address)']), args: [evmAddress(to)] });
  const inside = await world.call(payer, forwarder, data.slice(2), units(one.amount));
  await world.mine();
  await tron.mine();
  expect(await tron.deposits([reverted, out, broken])).toEqual([]);
  expect(await tron.deposits([fake, inside])).toMatchObject([
    { currency: null, status: 'confirmed' },
    { currency: null, status: 'confirmed' },
  ]);
  expect(await tron.run(one)).not.toBe('CONFIRMED');
  const { body } = await tron.h.call('GET', `/api/v1/payments/${one.paymentId}`, { key: tron.shop.key });
  expect(body.amountPaid).toBe(0);
});

it('takes back what a reorganisation takes, and credits what comes again once', async () => {
  const [one, other] = [await tron.create('TRX'), await tron.create('USDT_TRC20')];
  const txIds = [await pay(one, 'TRX', units(one.amount)), await pay(other, 'USDT_TRC20', units(other.amount))];
  await tron.mine(3);
  expect(await tron.deposits(txIds)).toMatchObject([{ status: 'mined' }, { status: 'mined' }]);
  await world.order('reorganise', { depth: 5 });
  await tron.mine(0);
  expect(await tron.deposits(txIds)).toMatchObject([{ status: 'orphaned' }, { status: 'orphaned' }]);
  await tron.mine(1);
  await tron.mine();
  expect(await tron.deposits(txIds)).toMatchObject([{ status: 'confirmed' }, { status: 'confirmed' }]);
  for (const made of [one, other]) expect(await tron.run(made)).toBe('CONFIRMED');
  const lost = await tron.create('TRX');
  const txId = await pay(lost, 'TRX', units(lost.amount));
  await tron.look();
  await world.order('reorganise', { depth: 1, transactions: 'lost' });
  await tron.mine(25);
  expect(await tron.deposits([txId])).toMatchObject([{ status: 'orphaned' }]);
  expect(await tron.run(lost)).not.toBe('CONFIRMED');
});

it('asks the database as often for a hundred blocks of others as for ten', async () => {
  const { db, said } = listening(tron.db);
  const look = tron.follower({ db });
  await look();
  const costOf = async (blocks: number): Promise<number> => {
    for (let n = 0; n < blocks; n += 10) {
      await world.paid(payer, { currency: 'USDT_TRC20', to: world.addressAt(60), units: 1n });
      await world.mine(9);
    }
    said.length = 0;
    await look();
    return said.length;
  };
  const few = await costOf(10);
  expect(await costOf(100)).toBeLessThanOrEqual(2 * few);
});

it('tells what an address held after blocks of late, and nothing of older ones', async () => {
  const { height } = await tron.adapter.head();
  const address = world.addressAt(50);
  await world.fund(address, units(10), units(10));
  const funded = (await tron.adapter.head()).height;
  await world.paid(50, { currency: 'TRX', to: world.addressAt(payer), units: units(1) });
  await world.paid(50, { currency: 'USDT_TRC20', to: world.addressAt(60), units: units(2) });
  await world.paid(payer, { currency: 'USDT_TRC20', to: address, units: units(5) });
  const at = (currency: string, n: number): Promise<bigint | null> => tron.adapter.holding(address, currency, n);
  const now = [await tron.held(address), await tron.held(address, 'USDT_TRC20')] as const;
  const told = async () => {
    expect([await at('TRX', funded), await at('TRX', funded + 1)]).toEqual([units(10), units(9)]);
    expect([await at('TRX', funded + 2), await at('TRX', funded + 3)]).toEqual([now[0], now[0]]);
    const of = await Promise.all([0, 1, 2, 3].map((n) => at('USDT_TRC20', funded + n)));
    expect(of).toEqual([units(10), units(10), units(8), units(13)]);
  };
  await told();
  // By final blocks it is the same.
  await world.mine(20);
  await told();
  await expect(at('TRX', funded + 1000)).rejects.toThrow('has no block');
  await world.mine(110);
  await expect(at('TRX', height)).rejects.toThrow('no state of block');
});

it('follows no node of another chain, whose addresses look alike, and none that stands apart', async () => {
  const other = await TronWorld.start({ solidLag: 200 });
  try {
    const wrong = createAdapter(network, { ...tron.config, TRON_RPC_URL: other.url });
    await expect(wrong.head()).rejects.toThrow('first block');
    // Nor one whose final part stands still.
    const own = tronAdapter(tronNetwork, other.chain, { login: { url: other.url } });
    expect(await own.sync()).toEqual({ peers: null, missing: 0, isApart: false });
    // What it shows is not credited while it is not final.
    await other.fund(other.addressAt(1), units(10));
    const { txId, to } = await other.paid(1, { currency: 'TRX', to: other.addressAt(2), units: 5n });
    const { hash } = await other.newestBlock();
    const transfer = { txId, index: -1, to, currency: 'TRX' };
    expect([await other.adapter.verify(transfer, hash), await own.verify(transfer, hash)]).toEqual([5n, null]);
    await other.mine(120);
    expect(await own.sync()).toMatchObject({ isApart: true });
  } finally {
    await other.stop();
  }
});
