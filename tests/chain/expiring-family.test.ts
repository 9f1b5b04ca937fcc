import { mnemonicToSeedSync } from '@scure/bip39';
import { tronCodec } from '../../chains/tron/codec';
import { tronFamily } from '../../chains/tron/expiring-family';
import { xrplCodec } from '../../chains/xrpl/codec';
import { xrplFamily } from '../../chains/xrpl/expiring-family';
import type { ExpiringFamily, ExpiringPlan, ExpiringTransfer } from '../../domain/chains/chain';
import { chainOf, TronWorld } from './tron-world';
import { phrase, usdt } from './tron-vectors';
import { rich, simulatedXrpl, xrp, type SimulatedXrpl } from './xrpl-network';
import { xrplChains } from './expiring-networks';

/** The third kind of plan: what the families whose transactions expire sign for the transaction manager. */

const seed = mnemonicToSeedSync(phrase);
const refused = expect.objectContaining({ code: 'INTENT_MISMATCH' });

/** Every field of a plan is in its bytes, or what makes it. */
function holdsAllFields(family: ExpiringFamily, plan: ExpiringPlan, others: Partial<ExpiringPlan>[]): void {
  const signed = family.sign(seed, plan);
  const { from, currency, to, units, last, sequence, feeLimit } = plan;
  expect(family.read(signed.raw)).toEqual({
    ...{ txId: signed.txId, from, currency, to, tag: plan.tag ?? null, units, last, sequence, feeLimit },
  });
  expect(family.sign(seed, plan)).toEqual(signed);
  for (const other of others) expect(family.sign(seed, { ...plan, ...other }).txId).not.toBe(signed.txId);
}

describe('the XRP Ledger', () => {
  let net: SimulatedXrpl;
  let family: ExpiringFamily;
  let from: string;
  let plan: ExpiringPlan;
  const chain = xrplChains.simulator;
  beforeAll(async () => {
    net = await simulatedXrpl();
    family = xrplFamily(chain, net.node);
    const codec = xrplCodec(chain);
    from = codec.derive(codec.extendedKey(seed, 'treasury'), 0);
    await net.pay(rich, { to: from, drops: xrp(100) });
    await net.close();
    const on = await net.node.expiring.finalBlock();
    plan = {
      ...{ kind: 'expiring', from, key: { role: 'treasury', index: 0 }, currency: 'XRP', to: rich.address, tag: '7' },
      ...{ units: 5n, on, last: { height: on.height + 20 }, sequence: 9, feeLimit: 10n },
    };
  });
  afterAll(() => net.end());

  it('signs all that a plan says, and reads it again', () => {
    const { tag: _, ...untagged } = plan;
    holdsAllFields(family, untagged, [{ units: 6n }, { tag: '1' }]);
    const other = net.person(3).address;
    holdsAllFields(family, plan, [
      ...[{ units: 6n }, { to: other }, { tag: '8' }, { sequence: 10 }, { feeLimit: 11n }],
      { last: { height: plan.on.height + 21 } },
    ]);
  });

  it('refuses what is no payment of it', () => {
    for (const wrong of [
      ...[{ currency: 'BTC' }, { sequence: null }, { last: { time: 5 } }, { last: { height: plan.on.height } }],
      ...[{ to: from }, { units: 0n }, { feeLimit: 0n }, { feeLimit: 1_000_001n }, { tag: 'x' }],
    ] satisfies Partial<ExpiringPlan>[])
      expect(() => family.sign(seed, { ...plan, ...wrong })).toThrow(refused);
    expect(() => family.sign(seed, { ...plan, from: net.person(4).address })).toThrow(/key/);
    expect(() => family.read('00')).toThrow(refused);
  });

  it('takes its terms from the newest validated ledger', async () => {
    const asked: ExpiringTransfer = { from, currency: 'XRP', to: rich.address, units: xrp(5) };
    const account = (await net.node.account(from))!;
    const { height } = await net.node.head();
    expect(await family.node.termsOf(asked)).toMatchObject({
      state: 'done',
      terms: {
        on: { height },
        last: { height: height + 20 },
        sequence: account.sequence,
        feeLimit: 10n,
        mostUnits: 10n,
      },
    });
    const stranger = net.person(5).address;
    for (const [other, state] of [
      [{ units: xrp(99.5) }, 'short'],
      [{ from: stranger }, 'short'],
      [{ to: stranger, units: 1n }, 'fails'],
    ] as const)
      expect(await family.node.termsOf({ ...asked, ...other })).toMatchObject({ state });
    expect(await family.node.termsOf({ ...asked, to: stranger, units: xrp(1) })).toMatchObject({ state: 'done' });
  });
});

describe('TRON', () => {
  const chain = chainOf('00'.repeat(32));
  const codec = tronCodec(chain);
  const [from, to, other] = [0, 1, 2].map((index) => codec.derive(codec.extendedKey(seed, 'treasury'), index));
  const nowhere = {
    ...{ costOf: () => Promise.reject(new Error('no node')), expiring: undefined as never, head: undefined as never },
  };
  const family = tronFamily(chain, nowhere);
  const id = (last: string): string => `${'0'.repeat(13)}123${last.repeat(48)}`;
  const plan: ExpiringPlan = {
    ...{ kind: 'expiring', from: from!, key: { role: 'treasury', index: 0 }, currency: 'USDT_TRC20', to: to! },
    ...{ units: 5n, on: { height: 0x123, hash: id('a'), time: 1_000_000 }, last: { time: 1_600_000 } },
    ...{ sequence: null, feeLimit: 9n },
  };

  it('signs all that a plan says, and reads it again', () => {
    holdsAllFields(family, { ...plan, currency: 'TRX', feeLimit: 0n }, [{ units: 6n }]);
    holdsAllFields(family, plan, [
      ...[{ units: 6n }, { to: other! }, { feeLimit: 10n }, { last: { time: 1_600_001 } }],
      ...[{ on: { ...plan.on, hash: id('b') } }, { on: { ...plan.on, time: 1_000_001 } }],
    ]);
  });

  it('refuses what is no transfer of it', () => {
    for (const wrong of [
      ...[{ currency: 'BTC' }, { sequence: 1 }, { last: { height: 5 } }, { last: { time: plan.on.time } }],
      ...[{ last: { time: plan.on.time + 3_600_001 } }, { to: usdt }, { units: 0n }, { feeLimit: 0n }, { tag: '7' }],
      { on: { ...plan.on, hash: 'ff' } },
    ] satisfies Partial<ExpiringPlan>[])
      expect(() => family.sign(seed, { ...plan, ...wrong })).toThrow(refused);
    expect(() => family.sign(seed, { ...plan, from: other! })).toThrow(/key|Key/);
  });

  it('takes its terms from the newest final block and what the node says of its cost', async () => {
    const world = await TronWorld.start();
    try {
      const [payer, payee] = [world.addressAt(1), world.addressAt(2)];
      await world.fund(payer, 100_000_000n, 1_000n);
      await world.fund(payee, 1n);
      await world.mine(25);
      const own = tronFamily(world.chain, world.adapter);
      const on = await world.adapter.expiring.finalBlock();
      const asked: ExpiringTransfer = { from: payer, currency: 'USDT_TRC20', to: payee, units: 7n };
      const answer = await own.node.termsOf(asked);
      expect(answer).toMatchObject({ state: 'done', terms: { on, last: { time: on.time + 600_000 }, sequence: null } });
      const { feeLimit, mostUnits } = (answer as Extract<typeof answer, { state: 'done' }>).terms;
      expect(feeLimit).toBeGreaterThan(0n);
      expect(mostUnits).toBeGreaterThanOrEqual(feeLimit);
      expect(await own.node.termsOf({ ...asked, units: 1_001n })).toMatchObject({ state: 'short' });
      expect(await own.node.termsOf({ ...asked, from: payee })).toMatchObject({ state: 'short' });
    } finally {
      await world.stop();
    }
  });

  it('says nothing to sign while final blocks lag so far that no block would take it', async () => {
    const world = await TronWorld.start({ solidLag: 165 });
    try {
      const payer = world.addressAt(1);
      await world.fund(payer, 100_000_000n);
      const asked: ExpiringTransfer = { from: payer, currency: 'TRX', to: world.addressAt(2), units: 7n };
      const { node } = tronFamily(world.chain, world.adapter);
      await world.mine(150);
      expect(await node.termsOf(asked)).toMatchObject({ state: 'done' });
      await world.mine(150);
      const reason = expect.stringMatching(/^final blocks are 49\d seconds behind the newest one$/);
      expect(await node.termsOf(asked)).toEqual({ state: 'unclear', reason });
    } finally {
      await world.stop();
    }
  });
});
