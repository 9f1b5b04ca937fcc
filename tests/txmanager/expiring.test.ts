import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { signPayment } from '../../chains/xrpl/payment';
import { expiringOf } from '../../db/txmanager/expiry';
import type { ChainAdapter } from '../../domain/chains/chain';
import { stateOf } from '../../domain/txmanager/expiry';
import { sendIntent, type Sent } from '../../txmanager/send/send';
import { simulatedXrpl, xrp, type Person, type SimulatedXrpl } from '../chain/xrpl-network';
import { connectionsTo, freshDatabase } from '../setup/postgres';
import { anIntent, network, rowsOf, signFor, unlessAway } from './expiring-rows';
import { xrplChains } from '../chain/expiring-networks';

/** Sending of transactions that expire, by the simulator of the XRP Ledger and the real database. */

let net: SimulatedXrpl;
let wallet: Person;
let payee: Person;
let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
beforeAll(async () => {
  net = await simulatedXrpl();
  wallet = await net.funded(1, xrp(10_000));
  payee = await net.funded(2);
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
});
afterEach(async () => {
  await net.order({ order: 'go_on' });
  await net.close(8);
  await db.query('DELETE FROM attempt');
  await db.query('DELETE FROM intent');
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
  await net.end();
});

const sender = () => ({
  db,
  adapter: {
    network,
    expiring: net.node.expiring,
    broadcast: net.node.broadcast,
  } as Partial<ChainAdapter> as ChainAdapter,
  log: { info: () => undefined },
});
const send = (id: string): Promise<Sent> => sendIntent(sender(), id);
const begin = (): Promise<string> => anIntent(db, wallet.address);
const balance = async (): Promise<bigint> => (await net.node.account(payee.address))!.drops;

const sign = (id: string, drops: bigint, life = 4): Promise<string | null> =>
  signFor(db, { id, from: wallet.address }, net.node.expiring.finalBlock, async ({ height }) => {
    const { sequence } = (await net.node.account(wallet.address))!;
    const plan = { from: wallet.address, key: { role: 'treasury' as const, index: 0 }, to: payee.address, drops };
    const lastLedger = height + life;
    const signed = signPayment(xrplChains.simulator, { ...plan, feeDrops: 10n, sequence, lastLedger }, wallet.pair);
    return { ...signed, last: { height: lastLedger }, sequence };
  });

it('sends what is signed until a ledger has it', async () => {
  const id = await begin();
  const before = await balance();
  expect(await sign(id, 5n)).toBeNull();
  expect(await send(id)).toMatchObject({ state: 'waiting', attempts: 1, reason: 'it is in no block yet' });
  expect(await rowsOf(db, id)).toMatchObject([{ status: 'sent', absence: null }]);
  const height = await net.close();
  expect(await send(id)).toMatchObject({ state: 'waiting', reason: `it is in block ${height}` });
  await net.close(6);
  expect(await send(id)).toMatchObject({ state: 'waiting', reason: `it is in block ${height}` });
  expect(await sign(id, 5n)).toMatch(/is open$/);
  expect((await balance()) - before).toBe(5n);
});

it('asks for another attempt when the first is void, which keeps its sequence', async () => {
  const id = await begin();
  const before = await balance();
  await sign(id, 7n);
  for (let ledgers = 0; ledgers < 4; ledgers += 1) {
    // The network never hears of it, however often it is sent.
    await net.order({ order: 'fault', fault: 'swallow' });
    expect(await send(id)).toMatchObject({ state: 'waiting' });
    expect(await sign(id, 7n)).toMatch(/is open$/);
    await net.close();
  }
  const [first] = await rowsOf(db, id);
  await net.order({ order: 'go_on' });
  const end = parseInt(first!.valid_to_height!, 10);
  expect(await send(id)).toMatchObject({ state: 'stuck', reason: `it expired, and no block through ${end} has it` });
  const [ended] = await rowsOf(db, id);
  expect(ended).toMatchObject({ status: 'expired', absence: { txId: first!.tx_id, through: { height: end } } });
  expect(stateOf(expiringOf(ended!))).toBe('void');
  expect(await send(id)).toMatchObject({ state: 'stuck', attempts: 1 });
  expect(await sign(id, 7n)).toBeNull();
  const [, second] = await rowsOf(db, id);
  expect(second!.sequence).toBe(first!.sequence);
  await send(id);
  await net.close();
  expect(await send(id)).toMatchObject({ state: 'waiting', attempts: 2 });
  // The first bytes, by whatever way, change nothing.
  expect(await net.node.broadcast(first!.raw)).toMatchObject({ outcome: expect.stringMatching(/expired|conflict/) });
  await net.close(2);
  expect((await balance()) - before).toBe(7n);
});

it('asks for another where a node remembers the first, which no ledger took, and pays once', async () => {
  const id = await begin();
  const before = await balance();
  await sign(id, 11n);
  // The node is cut off while it is given the bytes.
  await net.order({ order: 'fault', fault: 'swallow' });
  await send(id);
  const [first] = await rowsOf(db, id);
  await net.close(6);
  expect(await net.call('tx', { transaction: first!.tx_id })).toMatchObject({ validated: false });
  expect(await send(id)).toMatchObject({ state: 'stuck' });
  expect(await sign(id, 11n)).toBeNull();
  await send(id);
  await net.close(6);
  expect((await balance()) - before).toBe(11n);
  expect(await rowsOf(db, id)).toMatchObject([{ status: 'expired' }, { status: 'sent' }]);
});

it('holds nothing for void by a node that lags, or by what it says of the bytes', async () => {
  const id = await begin();
  const before = await balance();
  await sign(id, 9n, 2);
  await net.order({ order: 'lag', ledgers: 6 });
  await send(id);
  await net.close(5);
  expect(await send(id)).toMatchObject({ state: 'waiting' });
  expect(await sign(id, 9n)).toMatch(/is open$/);
  await net.order({ order: 'go_on' });
  expect(await send(id)).toMatchObject({ state: expect.stringMatching(/waiting|stuck/) });
  const paid = (await balance()) - before;
  const [row] = await rowsOf(db, id);
  expect(row!.status === 'expired').toBe(paid === 0n);
});

it('tells of a failure that cost its fee, which is an end', async () => {
  const id = await begin();
  await sign(id, xrp(1_000_000));
  expect(await send(id)).toMatchObject({ state: 'waiting' });
  const height = await net.close();
  const [row] = await rowsOf(db, id);
  const { txId, window } = expiringOf(row!);
  expect(await net.node.expiring.fateOf({ txId, window, signedOn: row!.valid_from_hash! })).toMatchObject({
    ...{ state: 'mined', isFinal: true, success: false, feeUnits: 10n, height },
  });
  expect(await send(id)).toMatchObject({ state: 'waiting', reason: `it is in block ${height}` });
  await net.close(6);
  expect(await sign(id, 1n)).toMatch(/is open$/);
});

it('pays once, whatever answers are lost, nodes lag and transactions expire', async () => {
  const deeds: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
    send,
    sign: (id) => sign(id, 3n),
    close: () => net.close(),
    pass: () => net.close(5),
    swallow: () => net.order({ order: 'fault', fault: 'swallow' }),
    loseAnswer: () => net.order({ order: 'fault', fault: 'lose_answer' }),
    cut: () => net.order({ order: 'fault', fault: 'cut' }),
    duplicate: () => net.order({ order: 'fault', fault: 'duplicate' }),
    lag: () => net.order({ order: 'lag', ledgers: 2 }),
    standStill: () => net.order({ order: 'stand_still' }),
    goOn: () => net.order({ order: 'go_on' }),
    restart: () => net.restart(),
  };
  const usual = ['send', 'sign', 'send', 'close', 'swallow', 'pass'];
  let most = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...usual, ...Object.keys(deeds)), { minLength: 6, maxLength: 16, size: 'max' }),
      async (done) => {
        const id = await begin();
        const before = await balance();
        for (const deed of done) await unlessAway(deeds[deed]!(id));
        // All is well from now on. Faults that were ordered are used up by the calls.
        await net.order({ order: 'go_on' });
        for (let round = 0; round < 40 && (await balance()) === before; round += 1) {
          await unlessAway(sign(id, 3n));
          await unlessAway(send(id));
          await net.close();
        }
        await net.close(6);
        expect((await balance()) - before).toBe(3n);
        most = Math.max(most, (await rowsOf(db, id)).length);
        await db.query('DELETE FROM attempt');
      },
    ),
    { numRuns: 25 },
  );
  expect(most).toBeGreaterThan(1);
});
