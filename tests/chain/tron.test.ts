import { encodeFunctionData, parseAbi } from 'viem';
import { evmAddress, fromEvm, hexOf } from '../../chains/tron/address';
import { tronNode } from '../../chains/tron/node';
import { heightIn } from '../../chains/tron/plan';
import { faultOfProof } from '../../domain/txmanager/expiry';
import { usdt } from './tron-vectors';
import { brokenToken, chainOf, fakeToken, forwarder, seed, TronWorld } from './tron-world';

/** What the family promises, on a simulator that shares no code with it: the simulator takes what the codec signs, and
 *  the adapter finds what the simulator mined. */

let world: TronWorld;
let used = 0;
beforeEach(async () => {
  world = await TronWorld.start();
});
afterEach(() => world.stop());

/** Index of an address of ours that nobody has used. */
const fresh = (): number => (used += 1);
const someone = (): string => fromEvm((1000 + fresh()).toString(16).padStart(40, '0'));

async function funded(sun = 1_000_000_000n, units = 0n): Promise<number> {
  const index = fresh();
  await world.fund(world.addressAt(index), sun, units);
  return index;
}

describe('deposits', () => {
  it('of TRX are found in the block that has them, and once more by its id', async () => {
    const [payer, to] = [await funded(), world.addressAt(fresh())];
    const { txId } = await world.paid(payer, { currency: 'TRX', to, units: 12_345_678n });
    const block = await world.newestBlock();
    const transfer = { txId, index: -1, to, currency: 'TRX', units: 12_345_678n, inputs: [] };
    expect(block).toMatchObject({ transfers: [transfer], txIds: [txId] });
    expect(block.traces).toBeUndefined();
    expect(await world.adapter.verify(transfer, block.hash)).toBe(12_345_678n);
    expect(await world.adapter.verify({ ...transfer, to: someone() }, block.hash)).toBeNull();
    expect(await world.adapter.verify(transfer, block.parentHash)).toBeNull();
    expect(await world.adapter.sources(transfer)).toEqual([world.addressAt(payer)]);
    expect(await world.adapter.lookUp(txId)).toMatchObject({ state: 'mined', success: true, confirmations: 1 });
  });

  it("of USDT are found by the contract's event, with who sent them", async () => {
    const [payer, to] = [await funded(1_000_000_000n, 90_000_000n), world.addressAt(fresh())];
    const { txId } = await world.paid(payer, { currency: 'USDT_TRC20', to, units: 25_000_000n });
    const block = await world.newestBlock();
    const transfer = { txId, index: 0, to, currency: 'USDT_TRC20', units: 25_000_000n, inputs: [] };
    expect(block).toMatchObject({ transfers: [transfer] });
    expect(await world.adapter.verify(transfer, block.hash)).toBe(25_000_000n);
    expect(await world.adapter.sources(transfer)).toEqual([world.addressAt(payer)]);
    expect(await world.adapter.lookUp(txId)).toMatchObject({
      success: true,
      feeUnits: 130_285n * 100n,
      moves: [{ currency: 'USDT_TRC20', from: world.addressAt(payer), to, units: 25_000_000n }],
    });
    expect(await world.adapter.holding(to, 'USDT_TRC20', 'newest')).toBe(25_000_000n);
    expect(await world.adapter.holding(to, 'USDT_TRC20', 'final')).toBe(0n);
  });

  it('are not what another contract calls a transfer, whatever its name', async () => {
    const [payer, to] = [await funded(), world.addressAt(fresh())];
    await world.fund(world.addressAt(payer), 0n, 5_000_000n, fakeToken);
    const other = tronNode(chainOf(world.chain.genesis, { FAKE: fakeToken }), { login: { url: world.url } });
    const plan = await world.plan(payer, { currency: 'FAKE', to, units: 5_000_000n });
    const { raw, txId } = other.sign(seed, plan);
    expect(await world.adapter.broadcast(raw)).toEqual({ outcome: 'accepted' });
    await world.mine();
    const block = await world.newestBlock();
    expect(block.transfers).toMatchObject([{ txId, currency: null, to }]);
    expect(await world.adapter.verify({ txId, index: 0, to, currency: 'USDT_TRC20' }, block.hash)).toBeNull();
    expect(await world.adapter.lookUp(txId)).toMatchObject({ success: true, moves: [] });
  });

  it('are not what reverts, what runs out of energy, or what waits', async () => {
    const [payer, to] = [await funded(1_000_000_000n, 10n), world.addressAt(fresh())];
    const { txId: reverted } = await world.paid(payer, { currency: 'USDT_TRC20', to, units: 11n });
    expect(await world.newestBlock()).toMatchObject({ transfers: [], txIds: [reverted] });
    expect(await world.adapter.lookUp(reverted)).toMatchObject({ state: 'mined', success: false, moves: [] });
    const { txId: out } = await world.paid(payer, { currency: 'USDT_TRC20', to, units: 10n, feeLimit: 5_000_000n });
    expect(await world.newestBlock()).toMatchObject({ transfers: [], txIds: [out] });
    expect(await world.adapter.lookUp(out)).toMatchObject({ success: false, feeUnits: 5_000_000n + 345_000n });
    const waiting = await world.sign(payer, { currency: 'TRX', to, units: 1n });
    await world.adapter.broadcast(waiting.raw);
    expect((await world.newestBlock()).txIds).toEqual([out]);
    expect(await world.adapter.lookUp(waiting.txId)).toEqual({ state: 'pool' });
  });

  it('are not TRX that a contract sends: they are told as an asset that nobody knows', async () => {
    const [payer, to] = [await funded(), world.addressAt(fresh())];
    const data = encodeFunctionData({ abi: parseAbi(['function forward(address)']), args: [evmAddress(to)] });
    const txId = await world.call(payer, forwarder, data.slice(2), 7_000_000n);
    await world.mine();
    const block = await world.newestBlock();
    expect(block).toMatchObject({
      txIds: [txId],
      transfers: [{ txId, index: -2, to, currency: null, units: 7_000_000n }],
    });
    expect(block.traces).toBeUndefined();
    expect(await world.adapter.verify({ txId, index: -2, to, currency: 'TRX' }, block.hash)).toBeNull();
    expect(await world.adapter.holding(to, 'TRX', 'newest')).toBe(7_000_000n);
  });

  it('keep their key over a reorganisation, and leave with the block that is taken back', async () => {
    const [payer, to] = [await funded(), world.addressAt(fresh())];
    const { txId } = await world.paid(payer, { currency: 'TRX', to, units: 5n });
    const before = await world.newestBlock();
    await world.order('reorganise', { depth: 1 });
    const transfer = { txId, index: -1, to, currency: 'TRX' };
    expect(await world.adapter.blockHash(before.height)).not.toBe(before.hash);
    expect(await world.adapter.verify(transfer, before.hash)).toBeNull();
    expect(await world.adapter.lookUp(txId)).toEqual({ state: 'pool' });
    await world.mine();
    const after = await world.newestBlock();
    expect(after.transfers).toMatchObject([transfer]);
    expect(await world.adapter.verify(transfer, after.hash)).toBe(5n);
  });
});

describe('what leaves', () => {
  it('is taken once: the same bytes again are known, mined or not', async () => {
    const [payer, to] = [await funded(), someone()];
    const { raw, txId } = await world.sign(payer, { currency: 'TRX', to, units: 1_000_000n });
    expect(await world.adapter.broadcast(raw)).toEqual({ outcome: 'accepted' });
    expect(await world.adapter.broadcast(raw)).toEqual({ outcome: 'known' });
    await world.mine();
    expect(await world.adapter.broadcast(raw)).toEqual({ outcome: 'known' });
    expect(await world.adapter.holding(to, 'TRX', 'newest')).toBe(1_000_000n);
    expect((await world.newestBlock()).txIds).toEqual([txId]);
  });

  it('is refused for want of funds or bandwidth, of another chain, and from a node that is busy', async () => {
    const [poor, to] = [await funded(1_100_001n), await funded()];
    const refused = { outcome: 'refused', why: 'funds' };
    const broadcast = async (units: bigint, target: string): Promise<unknown> =>
      world.adapter.broadcast((await world.sign(poor, { currency: 'TRX', to: target, units })).raw);
    expect(await broadcast(1_100_002n, world.addressAt(to))).toMatchObject(refused);
    expect(await broadcast(1n, someone())).toMatchObject({ outcome: 'accepted' });
    const nobody = fresh();
    const plan = await world.plan(nobody, { currency: 'TRX', to: someone(), units: 1n });
    expect(await world.adapter.broadcast(world.codec.sign(seed, plan).raw)).toMatchObject(refused);
    const elsewhere = { ...plan, ...{ reference: plan.reference.slice(0, 16) + 'ab'.repeat(24) } };
    const answer = await world.adapter.broadcast(world.codec.sign(seed, elsewhere).raw);
    expect(answer).toMatchObject({
      outcome: 'refused',
      why: 'other',
      reason: expect.stringContaining('TAPOS') as string,
    });
    await world.order('fault', { kind: 'busy' });
    expect(await broadcast(2n, world.addressAt(to))).toMatchObject({ outcome: 'refused', why: 'other' });
  });

  it('is not told apart from what was refused once: nodes call its repeat known', async () => {
    const [poor, to] = [await funded(10n), world.addressAt(await funded())];
    const { raw, txId } = await world.sign(poor, { currency: 'TRX', to, units: 11n });
    expect(await world.adapter.broadcast(raw)).toMatchObject({ outcome: 'refused' });
    expect(await world.adapter.broadcast(raw)).toEqual({ outcome: 'known' });
    expect(await world.adapter.lookUp(txId)).toEqual({ state: 'unknown' });
  });

  it('has an outcome that is unknown where the answer is lost, and is found', async () => {
    const [payer, to] = [await funded(), world.addressAt(await funded())];
    await world.order('fault', { kind: 'reply-lost' });
    const lost = await world.sign(payer, { currency: 'TRX', to, units: 3n });
    await expect(world.adapter.broadcast(lost.raw)).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
    await world.mine();
    expect(await world.adapter.lookUp(lost.txId)).toMatchObject({ state: 'mined', success: true });
    await world.order('fault', { kind: 'duplicate' });
    const twice = await world.sign(payer, { currency: 'TRX', to, units: 4n });
    expect(await world.adapter.broadcast(twice.raw)).toEqual({ outcome: 'known' });
    await world.mine();
    expect(await world.adapter.lookUp(twice.txId)).toMatchObject({ state: 'mined' });
  });

  it('costs what was said: nothing from the free quota, its bytes after that, more for a new account', async () => {
    const [payer, known] = [await funded(), world.addressAt(await funded())];
    const cost = async (to: string, units: bigint) => {
      const answer = await world.adapter.costOf({ from: world.addressAt(payer), to, currency: 'TRX', units });
      if (answer.state !== 'done') throw new Error(answer.reason);
      const before = await world.adapter.holding(world.addressAt(payer), 'TRX', 'newest');
      const { txId } = await world.paid(payer, { currency: 'TRX', to, units });
      const after = await world.adapter.holding(world.addressAt(payer), 'TRX', 'newest');
      expect(before - units - after).toBe(answer.cost.most);
      expect(await world.adapter.lookUp(txId)).toMatchObject({ feeUnits: answer.cost.most });
      return answer.cost;
    };
    const none = { energy: 0n, energyFee: 0n, feeLimit: 0n };
    expect(await cost(known, 2_000_000n)).toEqual({
      ...{ ...none, bandwidth: 267n, bandwidthFee: 0n, activationFee: 0n, most: 0n },
    });
    expect(await cost(known, 2_000_001n)).toMatchObject({ bandwidthFee: 0n });
    expect(await cost(known, 2_000_002n)).toMatchObject({ bandwidthFee: 267_000n, most: 267_000n });
    expect(await cost(someone(), 2_000_000n)).toMatchObject({
      ...{ bandwidthFee: 100_000n, activationFee: 1_000_000n, most: 1_100_000n },
    });
    await world.mine(1, 28_800);
    expect(await cost(known, 2_000_003n)).toMatchObject({ bandwidthFee: 0n });
  });

  it('costs energy, less what is staked for, and its fee limit has a margin', async () => {
    const [payer, to] = [await funded(1_000_000_000n, 1_000n), someone()];
    const asked = { from: world.addressAt(payer), to, currency: 'USDT_TRC20', units: 100n };
    const costOf = async () => {
      const answer = await world.adapter.costOf(asked);
      if (answer.state !== 'done') throw new Error(answer.reason);
      return answer.cost;
    };
    const first = await costOf();
    const feeLimit = (130_285n * 100n * 12n) / 10n;
    expect(first).toEqual({
      ...{ bandwidth: 345n, bandwidthFee: 0n, energy: 130_285n, energyFee: 13_028_500n, activationFee: 0n },
      ...{ feeLimit, most: feeLimit },
    });
    const { txId } = await world.paid(payer, { ...asked, feeLimit: first.feeLimit });
    expect(await world.adapter.lookUp(txId)).toMatchObject({ success: true, feeUnits: first.energyFee });
    const holder = { energy: 64_285n, bandwidthFee: 345_000n };
    expect(await costOf()).toMatchObject({ ...holder, energyFee: 6_428_500n });
    const stake = { address: hexOf(asked.from), bandwidth: '1000', energy: '60000' };
    await world.order('stake', stake);
    await world.mine();
    const staked = await costOf();
    expect(staked).toMatchObject({ energy: 64_285n, bandwidthFee: 0n, energyFee: 428_500n });
    const sent = await world.paid(payer, { ...asked, feeLimit: staked.feeLimit });
    expect(await world.adapter.lookUp(sent.txId)).toMatchObject({ success: true, feeUnits: 428_500n });
  });

  it('is not signed where it would revert, is not held, costs too much, or nobody can say', async () => {
    const payer = await funded(1_000_000_000n, 1_000n);
    await world.fund(world.addressAt(payer), 0n, 1_000n, brokenToken);
    const from = world.addressAt(payer);
    const asked = { from, to: someone(), currency: 'USDT_TRC20', units: 100n };
    const other = (currency: string, contract: string, feeLimitCeiling = 50_000_000n) =>
      tronNode(
        { ...chainOf(world.chain.genesis, { [currency]: contract }), feeLimitCeiling },
        { login: { url: world.url } },
      ).costOf({ ...asked, currency });
    expect(await other('BROKEN', brokenToken)).toMatchObject({ state: 'reverts', reason: 'REVERT opcode executed' });
    expect(await world.adapter.costOf({ ...asked, units: 1_001n })).toMatchObject({ state: 'short' });
    expect(await world.adapter.costOf({ ...asked, currency: 'TRX', units: 10n ** 12n })).toMatchObject({
      state: 'short',
    });
    // What it may burn is no more than its sender has, or its intent may cost, as long as it suffices.
    const capped = (mostUnits: bigint, sender = asked.from) =>
      world.adapter.costOf({ ...asked, from: sender, mostUnits });
    expect(await capped(14_000_000n)).toMatchObject({ cost: { feeLimit: 14_000_000n, most: 14_000_000n } });
    expect(await capped(1n)).toMatchObject({ cost: { feeLimit: 13_028_500n, most: 13_028_500n } });
    const poor = world.addressAt(await funded(13_500_000n, 1_000n));
    expect(await capped(20_000_000n, poor)).toMatchObject({ cost: { feeLimit: 13_500_000n, most: 13_500_000n } });
    const poorer = world.addressAt(await funded(13_028_499n, 1_000n));
    expect(await capped(20_000_000n, poorer)).toMatchObject({ state: 'short' });
    expect(await other('USDT_TRC20', usdt, 13_028_499n)).toMatchObject({ state: 'expensive' });
    expect(await other('USDT_TRC20', usdt, 13_028_500n)).toMatchObject({ cost: { feeLimit: 13_028_500n } });
    await expect(other('NONE', someone())).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  });
});

describe('a transaction that expires', () => {
  const fate = (signed: Awaited<ReturnType<TronWorld['sign']>>) => world.adapter.fateOf(signed);

  it('is void once a final block of its expiration or later exists, and never mined after', async () => {
    const [payer, to] = [await funded(), someone()];
    const signed = await world.sign(payer, { currency: 'TRX', to, units: 1_000_000n });
    await world.order('fault', { kind: 'dropped' });
    expect(await world.adapter.broadcast(signed.raw)).toEqual({ outcome: 'accepted' });
    await world.mine(20);
    expect(await world.adapter.lookUp(signed.txId)).toEqual({ state: 'unknown' });
    // Its expiration is past, but no final block is of it yet.
    expect(await fate(signed)).toMatchObject({ state: 'open' });
    await world.mine(17);
    expect(await fate(signed)).toMatchObject({ state: 'open' });
    await world.mine(1);
    const proof = await fate(signed);
    const solid = (await world.adapter.finalHeight())!;
    expect(proof).toEqual({ state: 'void', height: solid, blockHash: await world.adapter.blockHash(solid) });
    // Neither the node that forgot it nor one that never heard of it takes it, and no block has it.
    await world.simulator.stop();
    await world.simulator.start();
    await world.adapter.head(); // connections of before are closed
    expect(await world.adapter.broadcast(signed.raw)).toMatchObject({ outcome: 'expired' });
    await world.order('reorganise', { depth: 17 });
    await world.mine(30);
    expect(await fate(signed)).toEqual(proof);
    expect(await world.adapter.holding(to, 'TRX', 'newest')).toBe(0n);
  });

  it('is dropped by the block that it has no place in any more, at the very moment', async () => {
    const [payer, to] = [await funded(), world.addressAt(await funded())];
    const { time } = await world.order('state');
    const signAt = (life: number, units: bigint) =>
      world.sign(payer, { currency: 'TRX', to, units, timestamp: time - 1, expiresAt: time + life });
    const [last, late] = [await signAt(3000, 1n), await signAt(2999, 2n)];
    expect(await world.adapter.broadcast(last.raw)).toEqual({ outcome: 'accepted' });
    expect(await world.adapter.broadcast(late.raw)).toMatchObject({ outcome: 'expired' });
    await world.mine();
    expect((await world.newestBlock()).txIds).toEqual([last.txId]);
    const next = await signAt(6000, 3n);
    await world.adapter.broadcast(next.raw);
    await world.order('reorganise', { depth: 1 });
    await world.mine(2);
    // Its parent is of its expiration.
    expect(await world.adapter.lookUp(next.txId)).toEqual({ state: 'unknown' });
    expect(await world.adapter.lookUp(last.txId)).toEqual({ state: 'unknown' });
  });

  it('is mined when its block is final, also where that is known after its expiration', async () => {
    const [payer, to] = [await funded(), world.addressAt(await funded())];
    const signed = await world.paid(payer, { currency: 'TRX', to, units: 9n });
    const { height, hash } = await world.newestBlock();
    expect(await fate(signed)).toMatchObject({ state: 'open' });
    await world.mine(18);
    expect(await fate(signed)).toEqual({ state: 'mined', height, blockHash: hash });
    await world.mine(100);
    expect(await fate(signed)).toEqual({ state: 'mined', height, blockHash: hash });
  });

  it('is void by its whole life where its reference is not on the final chain', async () => {
    const [payer, to] = [await funded(), someone()];
    await world.mine(5);
    const { height, hash } = await world.newestBlock();
    const signed = await world.sign(payer, { currency: 'TRX', to, units: 5n, reference: hash });
    expect(await fate(signed)).toMatchObject({ state: 'open' });
    await world.order('reorganise', { depth: 3 });
    expect(await world.adapter.broadcast(signed.raw)).toMatchObject({ outcome: 'refused', why: 'other' });
    await world.mine(18);
    // One of two blocks that were final is none: the chain of now has to live through it.
    expect(await fate(signed)).toMatchObject({ state: 'open', isOffChain: true });
    await world.mine(30);
    const end = await fate(signed);
    expect(end).toMatchObject({ state: 'void', isOffChain: true });
    expect((end as { height: number }).height).toBeGreaterThan(height + 15);
  });

  it('is void where its life is over before the chain has come to its reference', async () => {
    const [payer, to] = [await funded(), someone()];
    const { height } = await world.newestBlock();
    const ahead = (height + 1000).toString(16).padStart(16, '0') + 'ab'.repeat(24);
    const signed = await world.sign(payer, { currency: 'TRX', to, units: 6n, reference: ahead });
    await world.mine(18);
    expect(await fate(signed)).toMatchObject({ state: 'open' });
    await world.mine(30);
    expect(await fate(signed)).toMatchObject({ state: 'void', isOffChain: true });
    const window = { from: heightIn(ahead), last: { time: signed.expiresAt } };
    const told = await world.adapter.expiring.fateOf({ txId: signed.txId, window, signedOn: ahead });
    expect(told).toMatchObject({ state: 'absent', isOffChain: true });
    if (told.state === 'absent') expect(faultOfProof({ txId: signed.txId, window }, told.proof)).toBeNull();
  });

  it('has a proof that covers its life, as the transaction manager wants it', async () => {
    const [payer, to] = [await funded(), world.addressAt(await funded())];
    const { expiring } = world.adapter;
    const windowOf = ({ reference, expiresAt }: Awaited<ReturnType<TronWorld['sign']>>) => ({
      from: heightIn(reference),
      last: { time: expiresAt },
    });
    const fateOf = async (signed: Awaited<ReturnType<TronWorld['sign']>>) =>
      expiring.fateOf({ txId: signed.txId, window: windowOf(signed), signedOn: signed.reference });
    const absent = async (signed: Awaited<ReturnType<TronWorld['sign']>>): Promise<string | null> => {
      const told = await fateOf(signed);
      if (told.state !== 'absent') throw new Error(`${signed.txId} is ${told.state}`);
      return faultOfProof({ txId: signed.txId, window: windowOf(signed) }, told.proof);
    };
    const lost = await world.sign(payer, { currency: 'TRX', to, units: 3n });
    expect(lost.reference).toBe((await expiring.finalBlock()).hash);
    const paid = await world.paid(payer, { currency: 'TRX', to, units: 4n });
    const { height, hash } = await world.newestBlock();
    expect(await fateOf(paid)).toMatchObject({ state: 'open' });
    await world.mine(40);
    const { feeUnits } = (await world.adapter.lookUp(paid.txId)) as { feeUnits: bigint };
    const mined = { state: 'mined', isFinal: true, success: true, feeUnits, height, blockHash: hash };
    expect(await fateOf(paid)).toEqual(mined);
    expect(await absent(lost)).toBeNull();
    await expect(
      expiring.fateOf({ txId: lost.txId, window: { ...windowOf(lost), from: 1 }, signedOn: lost.reference }),
    ).rejects.toThrow(RangeError);
    // Signed on a block that a reorganisation took.
    const ahead = await world.sign(payer, {
      currency: 'TRX',
      to,
      units: 5n,
      reference: (await world.newestBlock()).hash,
    });
    await world.order('reorganise', { depth: 1 });
    await world.mine(60);
    expect(await fate(ahead)).toMatchObject({ state: 'void' });
    expect(await absent(ahead)).toBeNull();
  });

  it('says nothing where the node lags, stands still, or contradicts itself', async () => {
    const [payer, to] = [await funded(), someone()];
    await world.mine(30);
    const signed = await world.sign(payer, { currency: 'TRX', to, units: 1_000_000n });
    await world.order('fault', { kind: 'stand-still' });
    await world.mine(60);
    expect(await fate(signed)).toMatchObject({ state: 'open' });
    await world.order('fault', { kind: 'none' });
    await world.mine(38);
    await world.order('fault', { kind: 'lag', blocks: 5 });
    expect(await fate(signed)).toMatchObject({ state: 'open' });
    await world.order('fault', { kind: 'none' });
    expect(await fate(signed)).toMatchObject({ state: 'void' });
    const lost = await world.paid(payer, { currency: 'TRX', to, units: 2_000_000n });
    await world.mine(40);
    const { height } = (await world.adapter.fateOf(lost)) as { height: number };
    await expect(
      world.adapter.fateOf({ ...lost, reference: (await world.adapter.blockHash(height))! }),
    ).rejects.toThrow('contradicts itself');
  });
});

describe('a node', () => {
  it('of another chain is not believed', async () => {
    const other = tronNode(chainOf('0'.repeat(64)), { login: { url: world.url } });
    await expect(other.head()).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
    expect(await world.adapter.head()).toMatchObject({ height: 0 });
    expect(await world.adapter.readBlock(1)).toBeNull();
  });

  it('may have its view of final blocks elsewhere, of the same chain', async () => {
    await world.mine(20);
    const [same, other] = [await TronWorld.start(), await TronWorld.start({ genesisTime: 1_764_201_603_000 })];
    try {
      await same.mine(19);
      const split = (solid: string) => tronNode(world.chain, { login: { url: world.url }, solid: { url: solid } });
      expect(await world.adapter.finalHeight()).toBe(2);
      expect(await split(same.url).finalHeight()).toBe(1);
      expect(await split(same.url).blockHash(20)).toBe(await world.adapter.blockHash(20));
      await expect(split(other.url).finalHeight()).rejects.toThrow('first block');
    } finally {
      await Promise.all([same.stop(), other.stop()]);
    }
  });
});
