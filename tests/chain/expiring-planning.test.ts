import { fromEvm } from '../../chains/tron/address';
import { tronNode } from '../../chains/tron/node';
import { mostBytes, priceOf, tronPlanning } from '../../chains/tron/planning';
import { xrplFamily } from '../../chains/xrpl/expiring-family';
import { xrplPlanning } from '../../chains/xrpl/planning';
import { signFields } from '../../chains/xrpl/signing';
import type { AskedTransfer } from '../../domain/chains/chain';
import { tronNetwork, xrplChains, xrplNetwork } from './expiring-networks';
import { brokenToken, chainOf, TronWorld } from './tron-world';
import { rich, simulatedXrpl, xrp, type Person, type SimulatedXrpl } from './xrpl-network';

/** What plans are told by the nodes of networks whose fee is neither gas nor bytes, with their simulators. */

describe('the XRP Ledger', () => {
  let net: SimulatedXrpl;
  let planning: ReturnType<typeof xrplPlanning>;
  let from: string;
  beforeAll(async () => {
    net = await simulatedXrpl();
    planning = xrplPlanning(xrplNetwork, net.node);
    ({ address: from } = await net.funded(1, xrp(20)));
  });
  afterAll(() => net.end());
  const [requireDest, depositAuth] = [1, 9];
  /** Sets one of the flags of an account. */
  async function set(flag: number, { address, pair }: Person): Promise<void> {
    const { account_data: account } = await net.call('account_info', { account: address });
    const fields = {
      ...{ TransactionType: 'AccountSet', Account: address, SetFlag: flag, Fee: '10', NetworkID: 55_555 },
      Sequence: (account as { Sequence: number }).Sequence,
    };
    expect((await net.node.submit(signFields(fields, pair.privateKey).raw)).result).toBe('tesSUCCESS');
    await net.close();
  }
  const asked = (over: Partial<AskedTransfer>): AskedTransfer => ({
    ...{ from, to: rich.address, currency: 'XRP', units: xrp(1), ceiling: 1n },
    ...over,
  });

  it('prices a payment by the fee that the next ledger takes, in drops, up to our cap', async () => {
    expect(await planning.estimateFee()).toEqual({ unitPrice: '10', tipPrice: '0' });
    const at = (open: bigint, least: bigint) =>
      xrplPlanning(xrplNetwork, { ...net.node, fees: () => Promise.resolve({ base: 10n, open, least }) }).estimateFee();
    expect(await at(5000n, 10n)).toMatchObject({ unitPrice: '5000' });
    expect(await at(10n, 12n)).toMatchObject({ unitPrice: '12' });
    expect(await at(10_000_000n, 10n)).toMatchObject({ unitPrice: '100000' });
  });

  it('counts each payment as one', async () => {
    expect(await planning.estimateGas(asked({}))).toEqual({ state: 'done', gas: 1n });
  });

  it('knows what an account can spend: its reserve stays', async () => {
    const { base, perOwned } = await net.node.reserves();
    expect(await planning.reserveOf(from)).toBe(base);
    const free = xrp(20) - base;
    expect(await planning.estimateGas(asked({ units: free }))).toMatchObject({ state: 'done' });
    expect(await planning.estimateGas(asked({ units: free + 1n }))).toMatchObject({ state: 'short' });
    await net.order({ order: 'owns', account: from, count: 3 });
    await net.close();
    expect(await planning.reserveOf(from)).toBe(base + 3n * perOwned);
    expect(await planning.estimateGas(asked({ units: free }))).toMatchObject({ state: 'short' });
    await net.order({ order: 'owns', account: from, count: 0 });
    await net.close();
    const { address: nobody } = net.person(7);
    expect(await planning.reserveOf(nobody)).toBe(base);
    expect(await planning.estimateGas(asked({ from: nobody }))).toMatchObject({ state: 'short' });
  });

  it('refuses what would cost its fee and move nothing', async () => {
    const { base } = await net.node.reserves();
    const { address: to } = net.person(8);
    const least = asked({ to, units: base });
    expect(await planning.estimateGas(least)).toMatchObject({ state: 'done' });
    expect(await planning.estimateGas({ ...least, units: base - 1n })).toMatchObject({ state: 'reverts' });
    const picky = await net.funded(9);
    await set(requireDest, picky);
    expect(await planning.estimateGas(asked({ to: picky.address }))).toMatchObject({ state: 'reverts' });
    expect(await planning.estimateGas(asked({ to: picky.address, tag: '0' }))).toMatchObject({ state: 'done' });
  });

  it('refuses payments to an account that takes none of ours, as the ledger does', async () => {
    const { base } = await net.node.reserves();
    const [shy, payer] = [await net.funded(10, base + 5n), await net.funded(11)];
    await set(depositAuth, shy);
    const to = shy.address;
    const family = xrplFamily(xrplChains.simulator, net.node);
    const states = async (units: bigint): Promise<string[]> => {
      const ask = { ...asked({ from: payer.address, to, units }), tag: '5' };
      const [estimate, terms] = [await planning.estimateGas(ask), await family.node.termsOf({ ...ask, isAll: false })];
      const { txId } = await net.pay(payer, { to, drops: units, tag: '5' });
      await net.close();
      const result = ((await net.call('tx', { transaction: txId })).meta as { TransactionResult: string })
        .TransactionResult;
      return [estimate!.state, terms.state, result];
    };
    const taken = ['done', 'done', 'tesSUCCESS'];
    const refused = ['reverts', 'fails', 'tecNO_PERMISSION'];
    // Its fee has left it no more than the reserve, so that it takes as much from anybody, once.
    expect((await net.node.account(to))!.drops).toBeLessThanOrEqual(base);
    expect(await states(base + 1n)).toEqual(refused);
    expect(await states(base)).toEqual(taken);
    expect(await states(1n)).toEqual(refused);
    await net.order({ order: 'preauthorize', account: payer.address, by: to });
    expect(await states(xrp(2))).toEqual(taken);
    expect(await planning.estimateGas(asked({ to }))).toMatchObject({
      state: 'reverts',
      reason: expect.stringContaining('takes only what it has agreed to'),
    });
  });
});

describe('TRON', () => {
  let world: TronWorld;
  let planning: ReturnType<typeof tronPlanning>;
  let used = 0;
  const [ceiling, ofToken] = [tronNetwork.work.ceiling.native, tronNetwork.work.ceiling.token];
  beforeAll(async () => {
    world = await TronWorld.start();
    planning = tronPlanning(tronNetwork, world.adapter);
  });
  afterAll(() => world.stop());
  const someone = (): string => fromEvm((1000 + (used += 1)).toString(16).padStart(40, '0'));
  const funded = async (sun: bigint, units = 0n): Promise<number> => {
    await world.fund(world.addressAt((used += 1)), sun, units);
    return used;
  };
  const gasOf = async (asked: AskedTransfer): Promise<bigint> => {
    const answer = await planning.estimateGas(asked);
    if (answer?.state !== 'done') throw new Error(JSON.stringify(answer));
    return answer.gas;
  };
  const burnt = async (txId: string): Promise<bigint> => {
    const found = await world.adapter.lookUp(txId);
    if (found.state !== 'mined') throw new Error(`${txId} is ${found.state}`);
    return found.feeUnits;
  };
  /** Uses up what is free in a day. */
  async function useFree(from: number): Promise<void> {
    const { address } = { address: someone() };
    await world.fund(address, 1n);
    for (let n = 0; n < 2; n += 1) await world.paid(from, { currency: 'TRX', to: address, units: 1n + BigInt(n) });
  }

  it('prices energy by its chain parameters, or higher where bytes would not be paid for', async () => {
    expect(await planning.estimateFee()).toEqual({ unitPrice: '100', tipPrice: '0' });
    expect(priceOf(tronNetwork, { energy: 210n, byte: 1000n })).toBe(210n);
    const dear = priceOf(tronNetwork, { energy: 50n, byte: 1000n });
    expect(dear * tronNetwork.work.native).toBeGreaterThanOrEqual(mostBytes * 1000n);
    expect((dear - 1n) * tronNetwork.work.native).toBeLessThan(mostBytes * 1000n);
    expect(priceOf(tronNetwork, { energy: 5000n, byte: 1000n })).toBe(1000n);
  });

  it('counts what TRX burn at the most, and what makes an account', async () => {
    const from = await funded(1_000_000_000n);
    await useFree(from);
    const to = someone();
    const asked = { from: world.addressAt(from), to, currency: 'TRX', units: 5_000_000n, ceiling };
    const making = await gasOf(asked);
    expect(making).toBeGreaterThan(tronNetwork.work.native);
    const { txId } = await world.paid(from, asked);
    expect(making * 100n).toBe(await burnt(txId));
    const usual = await gasOf({ ...asked, units: 1n });
    expect(usual).toBeLessThanOrEqual(tronNetwork.work.native);
    const again = await world.paid(from, { ...asked, units: 7_000_000_000n / 10n });
    expect(usual * 100n).toBeGreaterThanOrEqual(await burnt(again.txId));
    expect(usual * 100n).toBeLessThan((await burnt(again.txId)) + 10_000n);
  });

  it('counts the energy of a token with its margin, whatever its sender has for it', async () => {
    const from = await funded(0n, 50_000_000n);
    const holder = await funded(0n, 1n);
    const asked = { from: world.addressAt(from), currency: 'USDT_TRC20', units: 20_000_000n, ceiling: ofToken };
    const toHolder = await gasOf({ ...asked, to: world.addressAt(holder) });
    const toStranger = await gasOf({ ...asked, to: someone() });
    expect(toHolder).toBeLessThanOrEqual(tronNetwork.work.token);
    expect(toStranger).toBeGreaterThan(tronNetwork.work.token);
    expect(toStranger).toBeLessThanOrEqual(ofToken);
    // What is brought for it has no margin: what it does not take would be left there. Others may use its free bytes.
    expect(await gasOf({ ...asked, to: world.addressAt(holder), topUp: 'own' })).toBe(64_285n);
    expect(await gasOf({ ...asked, to: world.addressAt(holder), topUp: 'shared' })).toBe(64_285n + 3450n);
    // What the plan counts is what the signer asks for, once nothing is free.
    await world.fund(asked.from, 100_000_000n);
    await useFree(from);
    const cost = await world.adapter.costOf({ ...asked, to: world.addressAt(holder) });
    if (cost.state !== 'done') throw new Error(cost.state);
    expect(toHolder * 100n).toBeGreaterThanOrEqual(cost.cost.most);
    expect(toHolder * 100n).toBeLessThan(cost.cost.most + 100n);
    expect(cost.cost.bandwidth).toBeLessThanOrEqual(mostBytes);
  });

  it('refuses what reverts and what takes more than it may, and waits for what is not there', async () => {
    const from = await funded(100_000_000n, 5n);
    const asked = { from: world.addressAt(from), to: someone(), currency: 'USDT_TRC20', units: 5n, ceiling: ofToken };
    expect(await planning.estimateGas({ ...asked, units: 6n })).toMatchObject({ state: 'short' });
    expect(await planning.estimateGas({ ...asked, ceiling: 100_000n })).toMatchObject({ state: 'reverts' });
    await world.fund(asked.from, 0n, 5n, brokenToken);
    const chain = chainOf(world.chain.genesis, { BROKEN: brokenToken });
    const other = tronPlanning(tronNetwork, tronNode(chain, { login: { url: world.url } }));
    expect(await other.estimateGas({ ...asked, currency: 'BROKEN' })).toMatchObject({ state: 'reverts' });
  });
});
