import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { DataSource } from 'typeorm';
import { followerActivities } from '../../activities/chains/follower';
import { armFailPoints } from '../../db/fail-point';
import type { Block, ChainAdapter } from '../../domain/chains/chain';
import { parseConfig } from '../../domain/config';
import { connectionsTo, freshDatabase } from '../setup/postgres';
import { bookEnd } from '../book-end';

/** Steps that a killed process leaves half done and tests/faults does not reach: the repeat ends where an undisturbed
 *  run ends. */
const config = parseConfig({ CONFIRMATIONS: 'ethereum=2', ETH_CHAIN_ID: '31337' });
const log = { info: () => undefined, warn: () => undefined };
const ether = 10n ** 18n;
let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;

beforeAll(async () => {
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
  await db.query(
    `INSERT INTO address (network, address, role, key_index) VALUES ('ethereum', 'treasury', 'treasury', 0)`,
  );
  await db.query('INSERT INTO key_epoch (epoch, beat, incarnation) VALUES (0, 0, database_incarnation())');
  armFailPoints(db);
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const arm = (name: string): Promise<unknown> =>
  db.query(`INSERT INTO fail_point (name, action, remaining) VALUES ($1, 'throw', 1)`, [name]);
/** Debits less credits of each account, over all journals. */
const balances = async (): Promise<Record<string, string>> => {
  const rows = (await db.query(
    `SELECT account, trim_scale(sum(amount))::text AS amount
       FROM (SELECT debit AS account, amount FROM posting UNION ALL SELECT credit, -amount FROM posting) AS moves
         GROUP BY account`,
  )) as Array<{ account: string; amount: string }>;
  return Object.fromEntries(rows.map(({ account, amount }) => [account, amount]));
};

describe('the follower', () => {
  /** The blocks that the node has now, from height 10. */
  let chain: Block[] = [];
  const block = (height: number, hash: string, parentHash: string, units?: bigint): Block => ({
    height,
    hash,
    parentHash,
    time: 1_700_000_000 + height,
    transfers: units ? [{ txId: 'in', index: -1, to: 'treasury', currency: 'ETH', units, inputs: [] }] : [],
    txIds: units ? ['in'] : [],
    spent: new Map(),
  });

  /** One look at the chain, by a worker that ends after it or dies in it; says why. */
  async function look(): Promise<string> {
    const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
    const at = (height: number): Block | undefined => chain.find((one) => one.height === height);
    const node: Partial<ChainAdapter> = {
      network: 'ethereum',
      head: async () => chain.at(-1)!,
      blockHash: async (height) => at(height)?.hash ?? null,
      readBlock: async (height) => at(height) ?? null,
      verify: async ({ txId }, hash) =>
        chain.find((one) => one.hash === hash)?.transfers.find((transfer) => transfer.txId === txId)?.units ?? null,
      holding: async () => null,
      estimateFee: async () => {
        environment.cancel();
        return { unitPrice: '1', tipPrice: '1' };
      },
    };
    const { followChain } = followerActivities({ db, adapter: node as ChainAdapter, config, log });
    return environment.run(followChain).then(
      () => 'came to an end',
      (error: Error) => error.message,
    );
  }
  const ended = 'Its worker ends, or Temporal has given it to another';
  const deposit = async () =>
    (
      (await db.query('SELECT status, allocation, height::int FROM deposit')) as Array<{
        status: string;
        allocation: string;
        height: number | null;
      }>
    )[0]!;

  it('credits once, killed after a confirmation', async () => {
    chain = [block(10, 'h10', 'h9')];
    expect(await look()).toBe(ended);
    chain.push(block(11, 'h11', 'h10', ether), block(12, 'h12', 'h11'));
    await arm('follower.afterConfirm');
    expect(await look()).toBe('Fail point follower.afterConfirm');
    const once = { 'A:treasury': '1', 'Q:capital': '-1' };
    for (let again = 0; again < 2; again += 1) {
      expect(await deposit()).toEqual({ status: 'confirmed', allocation: 'capital', height: 11 });
      expect(await balances()).toEqual(once);
      expect(await look()).toBe(ended);
    }
  });

  it('takes back and credits again, killed between the two branches', async () => {
    chain = [block(10, 'h10', 'h9'), block(11, 'b11', 'h10'), block(12, 'b12', 'b11'), block(13, 'b13', 'b12', ether)];
    await arm('follower.afterRewind');
    expect(await look()).toBe('Fail point follower.afterRewind');
    expect(await deposit()).toEqual({ status: 'orphaned', allocation: null, height: null });
    expect(await balances()).toEqual({ 'A:treasury': '0', 'Q:capital': '0' });

    expect(await look()).toBe(ended);
    expect(await deposit()).toMatchObject({ status: 'mined', height: 13 });
    chain.push(block(14, 'b14', 'b13'));
    expect(await look()).toBe(ended);
    expect(await deposit()).toEqual({ status: 'confirmed', allocation: 'capital', height: 13 });
    expect(await balances()).toEqual({ 'A:treasury': '1', 'Q:capital': '-1' });
  });
});

it('books a top-up once, killed before its commit', async () => {
  await db.query(`SELECT post_journal('float', NULL, $1)`, [
    JSON.stringify([{ debit: 'A:gas', credit: 'Q:capital', asset: 'ETH', amount: '2' }]),
  ]);
  const before = await balances();
  const [intent] = (await db.query(
    `INSERT INTO intent (max_unit_price, fee_budget, kind, ref, network, currency, from_address, outputs,
                         status, owner_kind, owner_id)
     VALUES (1, 1e18, 'gas', 'top-up/1', 'ethereum', 'ETH', 'gas', '[{"address":"somewhere","units":null}]',
             'final', 'sweep', '1') RETURNING id`,
  )) as Array<{ id: string }>;
  await db.query(
    `INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, unit_price, max_fee_units, moved_units,
       outputs, status, success, fee_units)
     VALUES ($1, 1, 'ethereum', 'top-up', '0x', 'gas', 1, $2, $3, '[]', 'final', true, $2)`,
    [intent!.id, (ether / 1000n).toString(), (ether / 2n).toString()],
  );
  const isBooked = async (): Promise<boolean> =>
    ((await db.query('SELECT booked FROM intent')) as Array<{ booked: boolean }>)[0]!.booked;

  await arm('finish.beforeCommit');
  await expect(bookEnd(db, intent!.id)).rejects.toThrow('Fail point finish.beforeCommit');
  expect(await isBooked()).toBe(false);
  expect(await balances()).toEqual(before);
  for (let again = 0; again < 2; again += 1) {
    expect(await bookEnd(db, intent!.id)).toEqual({ status: 'final' });
    expect(await isBooked()).toBe(true);
    expect(await balances()).toEqual({ ...before, 'A:gas': '1.499', 'A:deposit': '0.5', 'E:network': '0.001' });
  }
});
