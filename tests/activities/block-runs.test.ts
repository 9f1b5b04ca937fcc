import type { DataSource, EntityManager } from 'typeorm';
import { catchUp } from '../../activities/chains/catch-up';
import type { FollowerDeps } from '../../activities/chains/deps';
import { CursorLost, readCursor, type Cursor } from '../../db/chains/cursor';
import { armFailPoints, disarmFailPoints } from '../../db/fail-point';
import { networks, type NetworkId } from '../../domain/chains/assets';
import type { Block, ChainAdapter, Traces, Transfer } from '../../domain/chains/chain';
import { parseConfig } from '../../domain/config';
import { connectionsTo, freshDatabase } from '../setup/postgres';

/** Blocks that a follower reads together and takes in their order. The node is played: it has the blocks that a test
 *  gives it. */

const config = parseConfig({ CONFIRMATIONS: 'ethereum=2', ETH_CHAIN_ID: '31337' });
const log = { info: () => undefined, warn: () => undefined };
let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
/** What the node has, from block 10. */
let chain: Block[];
/** Heights that it was asked for, and what happens then. */
let read: number[];
let reading: (height: number) => unknown;

beforeEach(async () => {
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
  chain = [];
  read = [];
  reading = () => undefined;
  grow(1);
});
afterEach(async () => {
  disarmFailPoints();
  await db?.destroy();
  await database?.drop();
});

/** The node has so many blocks more, which hold nothing. */
function grow(count: number, branch = 'a'): void {
  for (let n = 0; n < count; n += 1) add({}, branch);
}
function add(over: Partial<Block> = {}, branch = 'a'): Block {
  const before = chain.at(-1);
  const height = before ? before.height + 1 : 10;
  const block: Block = {
    height,
    hash: `${branch}${height}`,
    parentHash: before?.hash ?? 'a9',
    time: 1_700_000_000 + height,
    transfers: [],
    txIds: [],
    spent: new Map(),
    ...over,
  };
  chain.push(block);
  return block;
}
/** The chain leaves its blocks from this height on, and has as many others, and one more. */
function fork(height: number): void {
  const gone = chain.filter((block) => block.height >= height).length;
  chain = chain.filter((block) => block.height < height);
  grow(gone + 1, 'b');
}
const at = (height: number): Block | undefined => chain.find((block) => block.height === height);

const transfer = (txId: string, to: string, over: Partial<Transfer> = {}): Transfer => ({
  txId,
  index: 0,
  to,
  currency: 'ETH',
  units: 10n ** 18n,
  inputs: [],
  ...over,
});
const paying = (txId: string, to: string, over: Partial<Transfer> = {}): Partial<Block> => ({
  transfers: [transfer(txId, to, over)],
  txIds: [txId],
});

let indexes = 0;
const watch = (address: string, network: NetworkId = 'ethereum'): Promise<unknown> =>
  db.query(`INSERT INTO address (network, address, role, key_index) VALUES ($1, $2, 'treasury', $3)`, [
    network,
    address,
    (indexes += 1),
  ]);

function deps(network: NetworkId = 'ethereum', on: DataSource = db): FollowerDeps {
  const adapter: Partial<ChainAdapter> = {
    network,
    blockHash: async (height) => at(height)?.hash ?? null,
    readBlock: async (height) => {
      read.push(height);
      await reading(height);
      return at(height) ?? null;
    },
  };
  return { db: on, adapter: adapter as ChainAdapter, config, log };
}
const follow = (network: NetworkId = 'ethereum', on: DataSource = db): Promise<Cursor> =>
  catchUp(deps(network, on), chain.at(-1)!, () => undefined);
const cursor = (network: NetworkId = 'ethereum'): Promise<Cursor | null> => readCursor(db.manager, network);
const tip = (): Cursor => ({ height: chain.at(-1)!.height, hash: chain.at(-1)!.hash });

const deposits = (): Promise<Array<{ txId: string; status: string; height: number | null; spentBy: string | null }>> =>
  db.query(`SELECT tx_id AS "txId", status, height::int AS height, spent_by_tx AS "spentBy" FROM deposit ORDER BY id`);
const remembered = async (): Promise<number[]> =>
  (await db.query<Array<{ height: number }>>('SELECT height::int AS height FROM chain_block ORDER BY height')).map(
    ({ height }) => height,
  );
const openIncidents = async (): Promise<string[]> =>
  (await db.query<Array<{ kind: string }>>('SELECT kind FROM incident WHERE resolved_at IS NULL ORDER BY id')).map(
    ({ kind }) => kind,
  );

/** The same database; `before` happens ahead of each statement. */
function interrupted(before: (sql: string) => Promise<unknown>): DataSource {
  const heard = (tx: EntityManager): EntityManager =>
    new Proxy(tx, {
      get: (target, key) =>
        key === 'query'
          ? async (sql: string, values?: unknown[]) => {
              await before(sql);
              return target.query(sql, values);
            }
          : Reflect.get(target, key),
    });
  return new Proxy(db, {
    get: (target, key) =>
      key === 'transaction'
        ? (act: (tx: EntityManager) => Promise<unknown>) => target.transaction((tx) => act(heard(tx)))
        : Reflect.get(target, key),
  });
}

describe('a run of blocks', () => {
  it('brings each deposit at its own block, and remembers that and the one before it', async () => {
    await watch('ours');
    await follow();
    grow(400);
    const first = add(paying('first', 'ours'));
    grow(3);
    const second = add(paying('second', 'ours'));
    add(paying('strangers', 'theirs'));
    add(paying('nothing', 'ours', { units: 0n }));
    grow(400);
    expect(await follow()).toEqual(tip());
    expect(await cursor()).toEqual(tip());
    expect(await deposits()).toMatchObject([
      { txId: 'first', status: 'mined', height: first.height },
      { txId: 'second', status: 'mined', height: second.height },
    ]);
    expect(await db.query('SELECT mined_at AS at FROM deposit ORDER BY id')).toEqual(
      [first, second].map(({ time }) => ({ at: new Date(time * 1000) })),
    );
    grow(1);
    await follow();
    expect(await cursor()).toEqual(tip());
  });

  it('leaves few blocks remembered: all of the last ones, and one older than any reorganisation', async () => {
    await follow();
    grow(2000);
    await follow();
    const heights = await remembered();
    const { height } = tip();
    expect(heights.length).toBeLessThan(40);
    expect(heights.slice(-20)).toEqual(Array.from({ length: 20 }, (_, n) => height - 19 + n));
    const old = heights.filter((one) => one <= height - networks.ethereum.reorgWindow);
    expect(old).toHaveLength(1);
    // As it was where each block is taken for itself.
    for (let n = 0; n < 400; n += 1) {
      grow(1);
      await follow();
    }
    expect(await remembered()).toEqual(Array.from({ length: 301 }, (_, n) => tip().height - 300 + n));
  });

  it('notices what an earlier block of it makes possible: a coin of ours that a stranger spends', async () => {
    await watch('ours', 'bitcoin');
    await follow('bitcoin');
    grow(5);
    add(paying('coin', 'ours', { currency: 'BTC', units: 100_000n, inputs: ['their:0'] }));
    grow(5);
    const spending = add({ txIds: ['thief'], spent: new Map([['coin:0', 'thief']]) });
    grow(5);
    await follow('bitcoin');
    expect(await deposits()).toMatchObject([{ txId: 'coin', spentBy: 'thief' }]);
    expect(await db.query('SELECT spent_height::int AS height FROM deposit')).toEqual([{ height: spending.height }]);
    expect(await openIncidents()).toEqual(['foreign-spend']);
  });

  it('notices what takes the coins of an unconfirmed deposit, and transactions of ours', async () => {
    await watch('ours', 'bitcoin');
    await follow('bitcoin');
    await db.query(
      `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
                            inputs, first_seen_at)
       VALUES ('bitcoin', 'waits', 0, 'ours', 'treasury', 'BTC', 1, 1, false, 'pool', '{their:1}', now())`,
    );
    await db.query(
      `WITH i AS (INSERT INTO intent (max_unit_price, fee_budget, kind, ref, network, currency, from_address, outputs,
                                      status, owner_kind, owner_id)
         VALUES (1, 1, 'consolidation', 'c/1', 'bitcoin', 'BTC', 'ours', '[]', 'sent', 'sweep', '1') RETURNING id)
       INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, unit_price, max_fee_units, moved_units,
                            outputs, status)
       SELECT id, 1, 'bitcoin', 'sent', '00', 'ours', 1, 1, 0, '[]', 'sent' FROM i`,
    );
    grow(5);
    add({ txIds: ['rival'], spent: new Map([['their:1', 'rival']]) });
    grow(5);
    const { height } = add({ txIds: ['other', 'sent'] });
    grow(5);
    await follow('bitcoin');
    expect(await deposits()).toMatchObject([{ txId: 'waits', status: 'replaced' }]);
    expect(await db.query('SELECT status, height::int AS height FROM attempt')).toEqual([{ status: 'mined', height }]);
  });

  it('takes what is before a block that cannot be read, and goes on there', async () => {
    await watch('ours');
    await follow();
    grow(3);
    add(paying('before', 'ours'));
    grow(3);
    const bad = add(paying('after', 'ours')).height;
    grow(3);
    reading = (height) => {
      if (height === bad) throw new Error('No receipt yet');
    };
    await expect(follow()).rejects.toThrow('No receipt yet');
    expect(await deposits()).toMatchObject([{ txId: 'before' }]);
    expect(await cursor()).toMatchObject({ height: bad - 1 });
    reading = () => undefined;
    expect(await follow()).toEqual(tip());
    expect(await deposits()).toMatchObject([{ txId: 'before' }, { txId: 'after' }]);
  });

  it('holds few heavy blocks, and reads them one after the other', async () => {
    await follow();
    for (let n = 0; n < 30; n += 1)
      add({ transfers: Array.from({ length: 1000 }, (_, index) => transfer(`heavy-${n}`, `to-${index}`, { index })) });
    let open = 0;
    let most = 0;
    let ahead = 0;
    reading = async (height) => {
      open += 1;
      most = Math.max(most, open);
      ahead = Math.max(ahead, height - (await cursor())!.height);
      open -= 1;
    };
    expect(await follow()).toEqual(tip());
    expect(most).toBe(1);
    expect(ahead).toBeLessThanOrEqual(6);
  });
});

describe('an address', () => {
  it('that is made while a run is read is found, also in blocks that were read before', async () => {
    await follow();
    grow(5);
    const paid = add(paying('early', 'new'));
    grow(20);
    const last = tip().height;
    reading = async (height) => height === last && watch('new');
    await follow();
    expect(await deposits()).toMatchObject([{ txId: 'early', height: paid.height }]);
  });

  it('that is made while a run is taken is found in the blocks that are not', async () => {
    await watch('ours');
    await follow();
    grow(5);
    add(paying('passed', 'new'));
    add(paying('first', 'ours'));
    grow(5);
    const paid = add(paying('later', 'new'));
    grow(5);
    let made = false;
    const on = interrupted(async (sql) => {
      if (!made && sql.includes('INSERT INTO deposit ')) {
        made = true;
        await watch('new');
      }
    });
    await follow('ethereum', on);
    expect(made).toBe(true);
    expect(await deposits()).toMatchObject([{ txId: 'first' }, { txId: 'later', height: paid.height }]);
    expect(await cursor()).toEqual(tip());
  });

  it('is found until the transaction that passes its block has looked', async () => {
    await follow();
    grow(5);
    const paid = add(paying('just', 'new'));
    grow(5);
    let made = false;
    const on = interrupted(async (sql) => {
      if (!made && sql.includes("SELECT 'receiver'")) {
        made = true;
        await watch('new');
      }
    });
    await follow('ethereum', on);
    expect(await deposits()).toMatchObject([{ txId: 'just', height: paid.height }]);
  });
});

describe('a reorganisation', () => {
  it('inside a run ends it, and what was taken of the branch that is gone is taken back', async () => {
    await watch('ours');
    await follow();
    grow(10);
    add(paying('stays', 'ours'));
    grow(5);
    const gone = add(paying('gone', 'ours'));
    grow(30);
    let forked = false;
    reading = (height) => {
      if (forked || height !== gone.height + 5) return;
      forked = true;
      fork(gone.height);
      chain[chain.length - 1] = { ...chain.at(-1)!, ...paying('came', 'ours') };
    };
    const head = chain.at(-1)!;
    await catchUp(deps(), head, () => undefined);
    expect(forked).toBe(true);
    await follow();
    expect(await cursor()).toEqual(tip());
    expect(await deposits()).toMatchObject([
      { txId: 'stays', status: 'mined' },
      { txId: 'gone', status: 'orphaned', height: null },
      { txId: 'came', status: 'mined', height: tip().height },
    ]);
  });

  it.each([3, 25, 100, 290])('of %i blocks takes back no row whose block is still there', async (depth) => {
    await watch('ours');
    await follow();
    add(paying('old', 'ours'));
    grow(900);
    const before = add(paying('before', 'ours'));
    grow(depth + 150);
    await follow();
    fork(tip().height - depth + 1);
    expect(await follow()).toEqual(tip());
    expect(await deposits()).toMatchObject([
      { txId: 'old', status: 'mined', height: 11 },
      { txId: 'before', status: 'mined', height: before.height },
    ]);
    expect(await db.query(`SELECT FROM deposit WHERE status = 'orphaned'`)).toEqual([]);
  });

  it.each([3, 100])('is none where a node has lost its last %i blocks', async (lost) => {
    await watch('ours');
    await follow();
    grow(500);
    await follow();
    const whole = chain;
    chain = chain.slice(0, -lost);
    expect(await follow()).toMatchObject({ height: whole.at(-1)!.height });
    expect(await cursor()).toMatchObject({ height: whole.at(-1)!.height });
    expect((await remembered()).at(-1)).toBe(whole.at(-1)!.height);
    chain = whole;
    add(paying('next', 'ours'));
    expect(await follow()).toEqual(tip());
    expect(await deposits()).toMatchObject([{ txId: 'next' }]);
  });
});

describe('traces of the blocks of a run', () => {
  const traced = (traces: Traces): Partial<Block> => ({ txIds: [`traced-${chain.length}`], traces });
  const off: Traces = { state: 'off', reason: 'no such method' };

  it('that failed are noted, each of them', async () => {
    await follow();
    grow(4);
    const failed = [
      add(traced({ state: 'failed', reason: 'no state' })),
      add(traced({ state: 'failed', reason: 'no' })),
    ];
    grow(4);
    await follow();
    expect(await db.query('SELECT height::int AS height, reason FROM untraced_block ORDER BY height')).toEqual([
      { height: failed[0]!.height, reason: 'no state' },
      { height: failed[1]!.height, reason: 'no' },
    ]);
    expect(await openIncidents()).toEqual(['untraced-block']);
    expect(await cursor()).toEqual(tip());
  });

  it('that are off and come back are noted in their order, and blocks without them are all remembered', async () => {
    await follow();
    grow(4);
    const without = Array.from({ length: 60 }, () => add(traced(off)).height);
    grow(50);
    await follow();
    expect(await openIncidents()).toEqual(['traces-off']);
    expect(await remembered()).toEqual(expect.arrayContaining(without));
    const back = add(traced({ state: 'read' }));
    add(traced({ state: 'read' }));
    grow(4);
    await follow();
    expect(await openIncidents()).toEqual([]);
    expect(await db.query('SELECT height::int AS height FROM balance_scan')).toEqual([{ height: back.height }]);
  });
});

describe('a second follower by accident', () => {
  it('stops at its first block, and nothing of its run is kept', async () => {
    await watch('ours');
    await follow();
    grow(5);
    add(paying('once', 'ours'));
    grow(5);
    const last = tip().height;
    let isFirst = true;
    reading = async (height) => {
      if (!isFirst || height !== last) return;
      isFirst = false;
      await follow();
    };
    await expect(follow()).rejects.toThrow(CursorLost);
    expect(await cursor()).toEqual(tip());
    expect(await deposits()).toMatchObject([{ txId: 'once', status: 'mined' }]);
  });
});

describe('a worker that dies', () => {
  const whole = [
    { txId: 'one', status: 'mined', height: 16 },
    { txId: 'two', status: 'mined', height: 22 },
  ];
  beforeEach(async () => {
    await watch('ours');
    await follow();
    grow(5);
    add(paying('one', 'ours'));
    grow(5);
    add(paying('two', 'ours'));
    grow(5);
  });

  it.each(['follower.beforeCommit', 'follower.afterCommit'])('at %s goes on from there', async (point) => {
    armFailPoints(db);
    await db.query(`INSERT INTO fail_point (name, action, remaining) VALUES ($1, 'throw', 1)`, [point]);
    await expect(follow()).rejects.toThrow(`Fail point ${point}`);
    expect(await cursor()).toMatchObject({ height: point === 'follower.afterCommit' ? 15 : 10 });
    expect(await follow()).toEqual(tip());
    expect(await deposits()).toMatchObject(whole);
  });

  it('before any statement loses nothing, and takes nothing twice', async () => {
    let died = 0;
    for (let dies = true; dies; died += 1) {
      await db.query('DELETE FROM deposit');
      await db.query('DELETE FROM chain_block WHERE height > 10');
      await db.query(`UPDATE chain_cursor SET height = 10, hash = 'a10'`);
      let said = 0;
      const on = interrupted(() => {
        said += 1;
        return said > died ? Promise.reject(new Error('killed')) : Promise.resolve();
      });
      dies = await follow('ethereum', on).then(
        () => false,
        () => true,
      );
      const { height } = (await cursor())!;
      expect(await deposits()).toMatchObject(whole.filter((one) => one.height <= height));
      expect((await remembered()).at(-1)).toBe(height);
      expect(await follow()).toEqual(tip());
      expect(await deposits()).toMatchObject(whole);
    }
    expect(died).toBeGreaterThan(20);
  });
});
