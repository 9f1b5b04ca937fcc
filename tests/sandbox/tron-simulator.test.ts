import { hex } from '@scure/base';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromEvm, hexOf } from '../../chains/tron/address';
import { examples } from '../chain/tron-answers';
import { usdt } from '../chain/tron-vectors';
import { seed, TronWorld } from '../chain/tron-world';

/** The simulator keeps the rules of the network that it claims to keep, and its state over every end. */

let world: TronWorld;
afterEach(() => world.stop());

const someone = fromEvm('77'.repeat(20));
type Said = Readonly<{ result: boolean; code: string; message: string; txid: string; Error?: string }>;
const broadcast = (transaction: string): Promise<Said> => world.ask('/wallet/broadcasthex', { transaction });
const dayMs = 86_400_000;

describe('its chain', () => {
  beforeEach(async () => {
    world = await TronWorld.start();
    await world.fund(world.addressAt(0), 1_000_000_000n, 1_000n);
  });

  it('outlives a stop and a kill, in a file that is whole at any time; the pool does not', async () => {
    const { txId } = await world.paid(0, { currency: 'USDT_TRC20', to: someone, units: 10n });
    const look = async (): Promise<unknown[]> => [
      await world.ask('/wallet/getnowblock'),
      await world.ask('/wallet/gettransactioninfobyid', { value: txId }),
      await world.ask('/wallet/getaccount', { address: hexOf(world.addressAt(0)) }),
      await world.ask('/wallet/getaccountresource', { address: hexOf(world.addressAt(0)) }),
      await world.ask('/wallet/getblockbynum', { num: 1 }),
      await world.ask('/sandbox/state'),
    ];
    for (const end of ['stop', 'kill9'] as const) {
      const before = await look();
      const { raw, txId: waiting } = await world.sign(0, { currency: 'TRX', to: someone, units: 5n });
      await broadcast(raw);
      expect(await world.order('state')).toMatchObject({ pending: [waiting] });
      await world.simulator[end]();
      expect(world.simulator.pid()).toBeUndefined();
      expect(readdirSync(world.dataDir)).toEqual(['tron-chain.json']);
      expect(JSON.parse(readFileSync(`${world.dataDir}/tron-chain.json`, 'utf8'))).toHaveLength(3);
      await world.simulator.start();
      expect(await look()).toEqual(before);
    }
  });

  it('reorganises up to its final blocks and no further; heights never fall', async () => {
    await world.mine(30);
    const { head, solid } = await world.order('state');
    expect(head - solid).toBe(18);
    const [kept, gone] = [await world.adapter.blockHash(solid), await world.adapter.blockHash(solid + 1)];
    await expect(world.order('reorganise', { depth: 19 })).rejects.toThrow('are final');
    const after = await world.order('reorganise', { depth: 18 });
    expect(after).toMatchObject({ head: head + 1, solid: solid + 1 });
    expect(await world.adapter.blockHash(solid)).toBe(kept);
    expect(await world.adapter.blockHash(solid + 1)).not.toBe(gone);
    await world.simulator.stop();
    await world.simulator.start();
    expect(await world.order('state')).toMatchObject(after);
  });

  it('takes back what a block moved, and gives it to the next block or to none', async () => {
    const held = async (): Promise<bigint> => world.adapter.holding(someone, 'USDT_TRC20', 'newest');
    await world.paid(0, { currency: 'USDT_TRC20', to: someone, units: 10n });
    expect(await held()).toBe(10n);
    await world.order('reorganise', { depth: 1 });
    expect(await held()).toBe(0n);
    await world.mine();
    expect(await held()).toBe(10n);
    await world.order('reorganise', { depth: 2, transactions: 'lost' });
    await world.mine(3);
    expect(await held()).toBe(0n);
    // What was given from nowhere is in its block again.
    expect(await world.adapter.holding(world.addressAt(0), 'USDT_TRC20', 'newest')).toBe(1_000n);
  });

  it('shows final blocks alone to its second view, and older ones to a node that lags', async () => {
    await world.mine(40);
    const heightOf = async (view: string): Promise<number> => {
      const block = await world.ask<{ block_header: { raw_data: { number: number } } }>(`/${view}/getnowblock`);
      return block.block_header.raw_data.number;
    };
    expect([await heightOf('wallet'), await heightOf('walletsolidity')]).toEqual([41, 23]);
    expect(await world.ask('/walletsolidity/getblockbynum', { num: 24 })).toEqual({});
    await world.order('fault', { kind: 'lag', blocks: 4 });
    expect([await heightOf('wallet'), await heightOf('walletsolidity')]).toEqual([37, 19]);
    expect(await world.ask('/wallet/getblockbynum', { num: 38 })).toEqual({});
  });
});

describe('its rules', () => {
  beforeEach(async () => {
    world = await TronWorld.start();
    await world.fund(world.addressAt(0), 1_000_000_000n, 1_000n);
  });

  it('refuse signatures of others and none', async () => {
    const { raw } = await world.sign(0, { currency: 'TRX', to: someone, units: 5n });
    const changed = `${raw.slice(0, -10)}${raw.at(-10) === '0' ? '1' : '0'}${raw.slice(-9)}`;
    expect(await broadcast(changed)).toMatchObject({ result: false, code: 'SIGERROR' });
    const plan = await world.plan(0, { currency: 'TRX', to: someone, units: 6n });
    const foreign = world.codec.sign(seed, { ...plan, from: world.addressAt(1), key: { role: 'deposit', index: 1 } });
    const own = world.codec.sign(seed, plan);
    const signature = foreign.raw.slice(-130);
    expect(await broadcast(own.raw.slice(0, -130) + signature)).toMatchObject({ code: 'SIGERROR' });
    const unsigned = own.raw.slice(0, -134);
    expect(await broadcast(unsigned)).toMatchObject({ code: 'DUP_TRANSACTION_ERROR' }); // heard of it, by its id
    const [next] = [world.codec.sign(seed, { ...plan, units: 7n })];
    expect(await broadcast(next.raw.slice(0, -134))).toMatchObject({ code: 'SIGERROR' });
    expect(await broadcast('zz')).toMatchObject({ Error: expect.any(String) as string });
    expect(await broadcast('')).toMatchObject({ Error: expect.any(String) as string });
  });

  it('refuse references that are unknown or of another fork, and take old ones', async () => {
    const { reference, time } = await world.adapter.reference();
    expect(time).toBeGreaterThan(0);
    await world.mine(40);
    const old = await world.sign(0, { currency: 'TRX', to: someone, units: 5n, reference });
    expect(await broadcast(old.raw)).toMatchObject({ code: 'SUCCESS' });
    const { hash } = await world.adapter.head();
    const young = await world.sign(0, { currency: 'TRX', to: someone, units: 6n, reference: hash });
    await world.order('reorganise', { depth: 1 });
    expect(await broadcast(young.raw)).toMatchObject({ code: 'TAPOS_ERROR', message: 'Tapos check error.' });
    const ahead = `${(1000).toString(16).padStart(16, '0')}${hash.slice(16)}`;
    const future = await world.sign(0, { currency: 'TRX', to: someone, units: 7n, reference: ahead });
    expect(await broadcast(future.raw)).toMatchObject({ code: 'TAPOS_ERROR' });
  });

  it('refuse what expires too late', async () => {
    const { time } = await world.order('state');
    const far = { timestamp: time + dayMs, expiresAt: time + dayMs + 1 };
    const late = await world.sign(0, { currency: 'TRX', to: someone, units: 5n, ...far });
    expect(await broadcast(late.raw)).toMatchObject({ code: 'TRANSACTION_EXPIRATION_ERROR' });
    const last = await world.sign(0, {
      currency: 'TRX',
      to: someone,
      units: 5n,
      ...far,
      expiresAt: time + dayMs,
      timestamp: time + dayMs - 1,
    });
    expect(await broadcast(last.raw)).toMatchObject({ code: 'SUCCESS' });
  });

  it('let nobody spend twice what the pool has spent', async () => {
    const first = await world.sign(0, { currency: 'TRX', to: world.addressAt(1), units: 900_000_000n });
    const second = await world.sign(0, { currency: 'TRX', to: world.addressAt(2), units: 900_000_000n });
    expect(await broadcast(first.raw)).toMatchObject({ code: 'SUCCESS' });
    expect(await broadcast(second.raw)).toMatchObject({ code: 'CONTRACT_VALIDATE_ERROR' });
  });

  it('charge for what fails: energy of a revert, and all of the fee limit where energy runs out', async () => {
    const held = (): Promise<bigint> => world.adapter.holding(world.addressAt(0), 'TRX', 'newest');
    let before = await held();
    await world.paid(0, { currency: 'USDT_TRC20', to: someone, units: 1_001n });
    expect(before - (await held())).toBe(350_000n);
    before = await held();
    const { txId } = await world.paid(0, { currency: 'USDT_TRC20', to: someone, units: 1n, feeLimit: 1_000_050n });
    expect(before - (await held())).toBe(344_000n + 1_000_000n);
    expect(await world.ask('/wallet/gettransactioninfobyid', { value: txId })).toMatchObject({
      result: 'FAILED',
      receipt: { result: 'OUT_OF_ENERGY', energy_usage_total: 10_000, energy_fee: 1_000_000, net_fee: 344_000 },
    });
  });

  it('give bandwidth and energy back within a day', async () => {
    const left = async (): Promise<unknown> =>
      world.ask('/wallet/getaccountresource', { address: hexOf(world.addressAt(0)) });
    await world.order('stake', { address: hexOf(world.addressAt(0)), bandwidth: '500', energy: '100000' });
    await world.mine();
    await world.paid(0, { currency: 'USDT_TRC20', to: someone, units: 1n });
    expect(await left()).toMatchObject({ NetUsed: 345, NetLimit: 500, EnergyUsed: 100_000, EnergyLimit: 100_000 });
    await world.mine(1, 14_399);
    expect(await left()).toMatchObject({ NetUsed: 172, EnergyUsed: 50_000 });
    await world.mine(1, 14_399);
    expect(await left()).toEqual({ freeNetLimit: 600, NetLimit: 500, EnergyLimit: 100_000 });
  });
});

describe('its answers', () => {
  /** Names of all fields, also of those inside. */
  const namesIn = (value: unknown): string[] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, one]) => [
          ...(Array.isArray(value) ? [] : [name]),
          ...namesIn(one).map((inner) => (Array.isArray(value) ? inner : `${name}.${inner}`)),
        ])
      : [];

  it('have the fields of the documented examples', async () => {
    world = await TronWorld.start();
    await world.fund(world.addressAt(0), 1_000_000_000n, 1_000n);
    const signed = await world.sign(0, { currency: 'USDT_TRC20', to: someone, units: 10n });
    const bodies: Record<string, object> = {
      '/wallet/broadcasthex': { transaction: signed.raw },
      '/wallet/getaccount': { address: hexOf(world.addressAt(0)) },
      '/wallet/getaccountresource': { address: hexOf(world.addressAt(0)) },
      '/wallet/gettransactioninfobyid': { value: signed.txId },
      '/wallet/triggerconstantcontract': {
        owner_address: hexOf(world.addressAt(0)),
        contract_address: hexOf(usdt),
        data: `70a08231${hexOf(someone).slice(2).padStart(64, '0')}`,
      },
    };
    await broadcast((await world.sign(0, { currency: 'TRX', to: someone, units: 1n })).raw);
    expect(await world.ask('/wallet/broadcasthex', bodies['/wallet/broadcasthex'])).toMatchObject({ code: 'SUCCESS' });
    await world.mine();
    for (const [path, example] of Object.entries(examples)) {
      const names = namesIn(await world.ask(path, bodies[path]));
      expect([path, names]).toEqual([path, expect.arrayContaining(namesIn(example)) as string[]]);
    }
    expect(await world.ask('/wallet/getaccount', { address: `41${'99'.repeat(20)}` })).toEqual({});
    expect(await world.ask('/wallet/getaccount', { address: 'x' })).toMatchObject({
      Error: expect.any(String) as string,
    });
    expect((await fetch(`${world.url}/wallet/none`, { method: 'POST' })).status).toBe(404);
  });

  it('write amounts that no JavaScript number carries', async () => {
    world = await TronWorld.start();
    await world.fund(world.addressAt(0), 90_071_992_547_409_931n);
    const answer = await fetch(`${world.url}/wallet/getaccount`, {
      method: 'POST',
      body: JSON.stringify({ address: hexOf(world.addressAt(0)) }),
    });
    expect(await answer.text()).toContain('"balance":90071992547409931,');
    expect(await world.adapter.holding(world.addressAt(0), 'TRX', 'newest')).toBe(90_071_992_547_409_931n);
  });

  it('to orders that are wrong say why', async () => {
    world = await TronWorld.start();
    const address = hexOf(someone);
    for (const [name, body, why] of [
      ['mine', { blocks: -1 }, 'whole number'],
      ['fund', { address, units: '1e3' }, 'decimal string'],
      ['fund', { address, units: '1', contract: hexOf(someone) }, 'No contract'],
      ['fund', { address: someone, units: '1' }, 'in hex'],
      ['fault', { kind: 'rain' }, 'kind is none of'],
      ['reorganise', { depth: 0 }, 'cannot be taken back'],
    ] as const)
      await expect(world.order(name, body)).rejects.toThrow(why);
  });
});

it('makes blocks by itself, at the time of day, until it is told to stand still', async () => {
  world = await TronWorld.start({ everyMs: 20, genesisTime: Date.now() - 60_000, solidLag: 2 });
  const headOf = async (): Promise<number> => (await world.order('state')).head;
  while ((await headOf()) < 4) await sleep(10);
  expect(Math.abs((await world.order('state')).time - Date.now())).toBeLessThan(5000);
  await world.order('fault', { kind: 'stand-still' });
  const head = await headOf();
  await sleep(100);
  expect(await headOf()).toBe(head);
  expect(hex.decode((await world.adapter.head()).hash)).toHaveLength(32);
});
