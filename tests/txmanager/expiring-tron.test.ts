import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import type { ChainAdapter } from '../../domain/chains/chain';
import { sendIntent, type Sent } from '../../txmanager/send/send';
import { TronWorld, seed } from '../chain/tron-world';
import { connectionsTo, freshDatabase } from '../setup/postgres';
import { anIntent, network, rowsOf, signFor, unlessAway } from './expiring-rows';

/** Sending of transactions that expire, by the simulator of TRON, where nothing but the rule keeps a second attempt
 *  from paying twice, and the real database. */

let world: TronWorld;
let payer: string;
let to: string;
let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
beforeAll(async () => {
  world = await TronWorld.start();
  [payer, to] = [world.addressAt(1), world.addressAt(2)];
  await world.fund(payer, 1_000_000_000n);
  await world.fund(to, 1_000_000n);
  await world.mine(20);
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
  await world.stop();
});

const send = (id: string): Promise<Sent> => {
  const { expiring, broadcast } = world.adapter;
  const adapter = { network, expiring, broadcast } as Partial<ChainAdapter> as ChainAdapter;
  return sendIntent({ db, adapter, log: { info: () => undefined } }, id);
};
const balance = (): Promise<bigint> => world.adapter.holding(to, 'TRX', 'newest');

/** Life: twenty blocks. `units` make the bytes of each intent its own. */
const sign = (id: string, units: bigint): Promise<string | null> =>
  signFor(db, { id, from: payer }, world.adapter.expiring.finalBlock, async ({ hash, time }) => {
    const plan = await world.plan(1, { currency: 'TRX', to, units });
    const expiresAt = Math.max(time, plan.timestamp) + 60_000;
    const { txId, raw } = world.codec.sign(seed, { ...plan, reference: hash, expiresAt });
    return { txId, raw, last: { time: expiresAt }, sequence: null };
  });

async function restart(): Promise<void> {
  await world.simulator.stop();
  await world.simulator.start();
  await unlessAway(world.adapter.head()); // connections of before are closed
}

it('has nothing but the rule between two attempts: both are mined', async () => {
  const before = await balance();
  for (const expiresAfter of [60_000, 61_000]) {
    const plan = await world.plan(1, { currency: 'TRX', to, units: 2n });
    const { raw } = world.codec.sign(seed, { ...plan, expiresAt: plan.timestamp + expiresAfter });
    expect(await world.adapter.broadcast(raw)).toEqual({ outcome: 'accepted' });
  }
  await world.mine(20);
  expect((await balance()) - before).toBe(4n);
});

it('asks for another attempt when final blocks prove the first void, not when the node calls it expired', async () => {
  const id = await anIntent(db, payer);
  const before = await balance();
  await sign(id, 5n);
  await world.order('fault', { kind: 'dropped' });
  expect(await send(id)).toMatchObject({ state: 'waiting' });
  await world.mine(22);
  // The node has forgotten it and takes it no more; no final block is of its end yet.
  await restart();
  expect(await send(id)).toMatchObject({ state: 'waiting', reason: expect.stringContaining('EXPIRATION') });
  // It remembers what it has refused, and calls it known.
  expect(await send(id)).toMatchObject({ state: 'waiting', reason: 'it is in no block yet' });
  expect(await sign(id, 5n)).toMatch(/is open$/);
  await world.mine(20);
  expect(await send(id)).toMatchObject({ state: 'stuck', attempts: 1 });
  expect(await sign(id, 5n)).toBeNull();
  await send(id);
  await world.mine(40);
  expect(await send(id)).toMatchObject({ state: 'waiting', attempts: 2, reason: expect.stringContaining('in block') });
  expect((await balance()) - before).toBe(5n);
});

it('pays once, whatever the node forgets, reorganises, hides and lets expire', async () => {
  const fault = (kind: string, more: object = {}) => world.order('fault', { kind, ...more });
  let units = 10n;
  const deeds: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
    send,
    sign: (id) => sign(id, units),
    mine: () => world.mine(3),
    pass: () => world.mine(25),
    dropped: () => fault('dropped'),
    lag: () => fault('lag', { blocks: 8 }),
    standStill: () => fault('stand-still'),
    none: () => fault('none'),
    reorganise: () => world.order('reorganise', { depth: 6 }),
    restart,
  };
  const usual = ['send', 'sign', 'send', 'mine', 'dropped', 'pass', 'pass', 'none'];
  let most = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...usual, ...Object.keys(deeds)), { minLength: 6, maxLength: 18, size: 'max' }),
      async (done) => {
        await db.query('DELETE FROM attempt');
        units += 1n;
        const id = await anIntent(db, payer);
        const before = await balance();
        for (const deed of done) await unlessAway(deeds[deed]!(id));
        // All is well from now on.
        await fault('none');
        for (let round = 0; round < 20 && (await balance()) === before; round += 1) {
          await unlessAway(sign(id, units));
          await unlessAway(send(id));
          await world.mine(10);
        }
        await world.mine(45);
        expect((await balance()) - before).toBe(units);
        most = Math.max(most, (await rowsOf(db, id)).length);
      },
    ),
    { numRuns: 25 },
  );
  expect(most).toBeGreaterThan(1);
});
