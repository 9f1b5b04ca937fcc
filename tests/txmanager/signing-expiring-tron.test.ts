/** @jest-environment node */
import fc from 'fast-check';
import type { TronWorld } from '../chain/tron-world';
import { unlessAway } from './expiring-rows';
import type { ExpiringShop } from './expiring-shop';
import { TronStage } from './tron-stage';

/** The signer itself on TRON, where nothing but its rule keeps a second attempt from paying twice: withdrawals of TRX
 *  with the simulator and the real database. */

let stage: TronStage;
let world: TronWorld;
let shop: ExpiringShop;
let to: string;
beforeAll(async () => {
  stage = await TronStage.start(1_010_000_000n, (on) => ({ [on.addressAt(2)]: 1_000_000n }));
  ({ world } = stage);
  to = world.addressAt(2);
});
beforeEach(async () => {
  shop = await stage.open();
});
afterEach(() => stage.close(shop));
afterAll(() => stage?.end());

const balance = (): Promise<bigint> => world.adapter.holding(to, 'TRX', 'newest');
async function restart(): Promise<void> {
  await world.simulator.stop();
  await world.simulator.start();
  await unlessAway(world.adapter.head()); // connections of before are closed
}

it('signs a withdrawal, which ends ten minutes after the newest final block, and it is booked', async () => {
  const before = await balance();
  const { id, intentId } = await shop.withdraw(to, '5', null);
  const on = await world.adapter.expiring.finalBlock();
  expect(await shop.signer.signOnce(intentId)).toEqual({ state: 'stored' });
  expect(await shop.rows(intentId)).toMatchObject([
    {
      valid_from_height: `${on.height}`,
      valid_from_hash: on.hash,
      valid_to_ms: `${on.time + 600_000}`,
      sequence: null,
    },
  ]);
  await shop.send(intentId);
  await world.mine(25);
  await shop.follow(intentId);
  expect(await shop.statusOf(id)).toBe('completed');
  expect((await balance()) - before).toBe(5_000_000n);
});

it('signs another only when its own node has read every final block of the first', async () => {
  const before = await balance();
  const { id, intentId } = await shop.withdraw(to, '6', null);
  await shop.signer.signOnce(intentId);
  await world.order('fault', { kind: 'dropped' });
  await shop.send(intentId);
  await world.mine(205);
  // Its end is past, and no final block is of it yet.
  expect(await shop.signer.signBump(intentId, 1)).toMatchObject({ state: 'waiting' });
  await world.mine(25);
  expect(await shop.send(intentId)).toMatchObject({ state: 'stuck' });
  expect(await shop.signer.signBump(intentId, 1)).toEqual({ state: 'stored' });
  await shop.send(intentId);
  await world.mine(25);
  await shop.follow(intentId);
  expect(await shop.statusOf(id)).toBe('completed');
  expect((await balance()) - before).toBe(6_000_000n);
});

it('ends what was signed on a block of no final chain by its whole life, tells operators, and pays once', async () => {
  const before = await balance();
  const newest = async () => {
    const { hash, time } = await world.newestBlock();
    return { hash, time: time * 1000, height: parseInt(hash.slice(0, 16), 16) };
  };
  let isWrong = true;
  const { finalBlock } = world.adapter.expiring;
  await shop.stop();
  shop = await stage.open(() => (isWrong ? newest() : finalBlock()));
  const { id, intentId } = await shop.withdraw(to, '8', null);
  await world.mine(1);
  const wrong = await newest();
  expect(await shop.signer.signOnce(intentId)).toEqual({ state: 'stored' });
  await world.order('reorganise', { depth: 3 });
  isWrong = false;
  const told = (): Promise<unknown> =>
    shop.db.query(`SELECT subject_id, details->>'blockHash' AS hash FROM incident WHERE kind = 'signed-off-chain'`);
  await world.mine(30);
  for (let n = 0; n < 2; n += 1)
    expect(await shop.send(intentId)).toMatchObject({
      state: 'waiting',
      reason: expect.stringContaining('is not final'),
    });
  expect(await told()).toEqual([{ subject_id: intentId, hash: wrong.hash }]);
  expect(await shop.signer.signBump(intentId, 1)).toMatchObject({ state: 'waiting' });
  await world.mine(200);
  expect(await shop.send(intentId)).toMatchObject({ state: 'stuck', attempts: 1 });
  expect(await shop.signer.signBump(intentId, 1)).toEqual({ state: 'stored' });
  await shop.send(intentId);
  await world.mine(25);
  await shop.follow(intentId);
  expect(await shop.statusOf(id)).toBe('completed');
  expect((await balance()) - before).toBe(8_000_000n);
  expect(await told()).toHaveLength(1);
});

it('gives back after two what no block takes as it is, and holds its wallet no longer', async () => {
  const { id, intentId } = await shop.withdraw(to, '7', null);
  for (const n of [0, 1]) {
    const signed = n ? shop.signer.signBump(intentId, n) : shop.signer.signOnce(intentId);
    expect(await signed).toEqual({ state: 'stored' });
    await world.order('fault', { kind: 'invalid' });
    expect(await shop.send(intentId)).toMatchObject({ state: 'waiting', reason: expect.stringContaining('VALIDATE') });
    await world.mine(230);
    expect(await shop.send(intentId)).toMatchObject({ state: 'stuck' });
  }
  expect(await shop.signer.signBump(intentId, 2)).toMatchObject({ state: 'dropped' });
  expect(await shop.statusOf(id)).toBe('failed');
});

it('pays once or gives back, and never both, whatever fails in which order', async () => {
  const fault = (kind: string, more: object = {}) => world.order('fault', { kind, ...more });
  const forge = (id: string): Promise<unknown> =>
    // What a thief of the chain worker's role would write to have it signed twice.
    shop.db.query(
      `UPDATE attempt SET status = 'expired', absence = jsonb_build_object('txId', tx_id, 'from', 1, 'finalHeight',
         1000000000, 'through', jsonb_build_object('height', 1000000000, 'hash', 'x', 'time', valid_to_ms))
        WHERE intent_id = $1 AND status = 'sent' AND n = 1`,
      [id],
    );
  const ages = (id: string): Promise<unknown> =>
    shop.db.query(
      `UPDATE signer.validity v SET signed_at = signed_at - interval '13 hours' FROM intent i
        WHERE i.id = $1 AND v.kind = i.kind AND v.ref = i.ref`,
      [id],
    );
  let seen = 1;
  const again = async (id: string): Promise<unknown> => {
    seen = (await shop.rows(id)).length;
    return seen ? shop.signer.signBump(id, seen) : shop.signer.signOnce(id);
  };
  const deeds: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
    ...{ send: shop.send, again, forge, ages, restart },
    together: (id) => Promise.all([again(id), again(id), shop.send(id)]),
    follow: (id) => shop.follow(id),
    mine: () => world.mine(3),
    pass: () => world.mine(230),
    dropped: () => fault('dropped'),
    lag: () => fault('lag', { blocks: 8 }),
    none: () => fault('none'),
    reorganise: () => world.order('reorganise', { depth: 6 }),
  };
  const usual = ['again', 'send', 'dropped', 'send', 'pass', 'none', 'follow', 'again'];
  const ends = { completed: 0, failed: 0, again: 0 };
  let units = 1_000_000n;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...usual, ...Object.keys(deeds)), { minLength: 6, maxLength: 16, size: 'max' }),
      async (done) => {
        units += 1n;
        const before = await balance();
        const { id, intentId } = await shop.withdraw(to, `1.${units.toString().slice(1)}`, null);
        for (const deed of done) await unlessAway(deeds[deed]!(intentId));
        // All is well from now on, and operators have put right what the thief wrote.
        await fault('none');
        await shop.db.query(
          `UPDATE attempt SET status = 'sent', absence = NULL
            WHERE absence->'through'->>'hash' = 'x' AND intent_id = $1`,
          [intentId],
        );
        const isOver = async (): Promise<boolean> => ['completed', 'failed'].includes(await shop.statusOf(id));
        for (let round = 0; round < 12 && !(await isOver()); round += 1) {
          await unlessAway(shop.send(intentId));
          await unlessAway(again(intentId));
          await world.mine(40);
          await unlessAway(shop.follow(intentId));
        }
        await world.mine(230);
        const status = (await shop.statusOf(id)) as 'completed' | 'failed';
        const paid = (await balance()) - before;
        expect([status, paid]).toEqual([status, status === 'completed' ? units : 0n]);
        ends[status] += 1;
        if ((await shop.rows(intentId)).length > 1) ends.again += 1;
      },
    ),
    { numRuns: 20 },
  );
  expect(ends.completed).toBeGreaterThan(0);
  expect(ends.again).toBeGreaterThan(0);
});
