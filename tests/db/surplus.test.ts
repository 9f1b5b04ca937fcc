import type { DataSource } from 'typeorm';
import { audit } from '../../db/audit/audit';
import { reconcileAssets, storePositions, type AssetPosition } from '../../db/audit/reconciliation';
import { reverseUnexplained } from '../../db/audit/surplus';
import { ensure, post } from '../../db/ledger/ledger';
import type { ChainAdapter } from '../../domain/chains/chain';
import { newId } from '../../domain/ids';
import { capitalJournal, depositJournal } from '../../domain/ledger/ledger';
import { byTwoOperators } from '../operators';
import { connectionsTo, freshDatabase } from '../setup/postgres';

/** What the chain holds beyond the books. The node is played: it says what the test lets it hold. */

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
/** Base units of ETH by address. */
const chain = new Map<string, bigint>();
const adapter = {
  network: 'ethereum',
  holding: (address: string, currency: string) => Promise.resolve(currency === 'ETH' ? (chain.get(address) ?? 0n) : 0n),
} as Partial<ChainAdapter> as ChainAdapter;
const one = 10n ** 18n;

beforeEach(async () => {
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
  chain.clear();
  await db.query(
    `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
     VALUES ('ethereum', 100, 'e100', 100, now())`,
  );
  await db.query(
    `INSERT INTO chain_block (network, height, hash, block_time)
     SELECT 'ethereum', n, 'e' || n, now() FROM generate_series(80, 120) n`,
  );
  for (const [address, role, index] of [
    ['0xhot', 'treasury', 0],
    ['0xgas', 'gas', 0],
    ['0xpaid', 'deposit', 1],
  ] as const)
    await db.query(`INSERT INTO address (network, address, role, key_index) VALUES ('ethereum', $1, $2, $3)`, [
      address,
      role,
      index,
    ]);
});
afterEach(async () => {
  await db?.destroy();
  await database?.drop();
});

const step = (): Promise<unknown> =>
  db.query(`UPDATE chain_cursor SET height = height + 1, hash = 'e' || (height + 1), head_height = height + 1`);
/** A comparison of the block that the follower stands on. */
async function compareNow(bound = '0.01'): Promise<{ stopped: string[]; now: Pick<AssetPosition, 'unexplained'> }> {
  const { positions } = await reconcileAssets(db, [adapter], () => 3, 1);
  const stopped = await storePositions(db, positions, { ETH: bound });
  const [now] = await db.query(
    `SELECT trim_scale(unexplained)::text AS unexplained FROM reconciliation WHERE currency = 'ETH'`,
  );
  return { stopped, now };
}
/** The next block, and a comparison of it. */
async function look(bound?: string): ReturnType<typeof compareNow> {
  await step();
  return compareNow(bound);
}
/** The follower learns only now of a transfer to the hot wallet in a block long past, and books it. */
async function identify(txId: string, amount: string, height: number): Promise<void> {
  await db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
       height, first_seen_at, allocation)
     VALUES ('ethereum', $1, 0, '0xhot', 'treasury', 'ETH', $2, $2, false, 'confirmed', $3, now(), 'capital')`,
    [txId, amount, height],
  );
  const deposit = { network: 'ethereum', txId, index: 0, currency: 'ETH', amount };
  await db.transaction(async (tx) => {
    await reverseUnexplained(tx, 'ETH', height);
    await ensure(tx, capitalJournal({ ...deposit, to: 'A:treasury', from: 'Q:capital' }));
  });
}
const inBooks = async (): Promise<string> =>
  (
    await db.query(
      `SELECT trim_scale(coalesce(sum(CASE WHEN credit = 'Q:unexplained' THEN amount ELSE -amount END), 0))::text
                AS amount
         FROM posting WHERE 'Q:unexplained' IN (credit, debit)`,
    )
  )[0].amount;
const count = async (table: string): Promise<number> =>
  (await db.query(`SELECT count(*)::int AS n FROM ${table}`))[0].n;
const isClean = async (): Promise<void> => {
  const wrong = await audit(db, { settleMs: 1 });
  expect(wrong.filter(({ invariant }) => ['I1', 'I2', 'I3', 'I4', 'I5', 'I6'].includes(invariant))).toEqual([]);
};

describe('B7: a surplus', () => {
  it('on our own wallet is booked, and freezes nothing', async () => {
    chain.set('0xhot', 1n);
    expect(await look()).toEqual({ stopped: [], now: { unexplained: '0' } });
    expect(await inBooks()).toBe('0.000000000000000001');
    expect(await look()).toEqual({ stopped: [], now: { unexplained: '0' } });
    expect([await inBooks(), await count('egress_freeze'), await count('incident')]).toEqual([
      '0.000000000000000001',
      0,
      0,
    ]);
    await isClean();
  });

  it('is booked up to the bound, over all bookings; what is above it pages and freezes nothing', async () => {
    chain.set('0xgas', one / 200n);
    expect((await look()).now.unexplained).toBe('0');
    chain.set('0xgas', one / 50n);
    expect(await look()).toEqual({ stopped: [], now: { unexplained: '0.015' } });
    expect([await inBooks(), await count('egress_freeze'), await count('incident')]).toEqual(['0.005', 0, 1]);
    await isClean();
  });

  it('on a deposit address is a deposit there', async () => {
    // An address on which nothing has come yet is not asked here: the follower's look at balances does.
    await db.query(
      `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
         height, first_seen_at)
       VALUES ('ethereum', '0xseen', 0, '0xpaid', 'deposit', 'ETH', 1, 1, false, 'confirmed', 90, now())`,
    );
    chain.set('0xpaid', 2n * one);
    expect(await look()).toEqual({ stopped: [], now: { unexplained: '0' } });
    expect(
      await db.query(
        `SELECT address, trim_scale(amount)::text AS amount, status FROM deposit WHERE found_by = 'balance'`,
      ),
    ).toEqual([{ address: '0xpaid', amount: '1', status: 'mined' }]);
    expect(await look()).toEqual({ stopped: [], now: { unexplained: '0' } });
    expect([await count('deposit'), await inBooks()]).toEqual([2, '0']);
  });

  it.each([
    ['all of it', '0.004', '0'],
    ['a part of it', '0.003', '0.001'],
  ])('is taken back when %s is identified', async (_what, amount, left) => {
    chain.set('0xhot', one / 250n);
    await look();
    await identify('0xfound', amount, 90);
    expect(await inBooks()).toBe('0');
    expect(await look()).toEqual({ stopped: [], now: { unexplained: '0' } });
    expect([await inBooks(), await count('egress_freeze')]).toEqual([left, 0]);
    await isClean();
  });

  it('that operators have booked is taken back too when it is identified; the rest is theirs again', async () => {
    chain.set('0xhot', one);
    expect(await look()).toEqual({ stopped: [], now: { unexplained: '1' } });
    await byTwoOperators(db, 'book-difference', { currency: 'ETH', amount: '1' });
    expect(await inBooks()).toBe('1');
    expect(await look()).toEqual({ stopped: [], now: { unexplained: '0' } });
    await identify('0xlate', '0.75', 90);
    expect(await inBooks()).toBe('0');
    expect(await look()).toEqual({ stopped: [], now: { unexplained: '0.25' } });
    expect(await count('egress_freeze')).toBe(0);
    await isClean();
  });

  it('is not booked where a deposit has come since the comparison, which may be this money', async () => {
    chain.set('0xhot', one / 250n);
    await step();
    const { positions } = await reconcileAssets(db, [adapter], () => 3, 1);
    await identify('0xlate', '0.004', 90);
    await storePositions(db, positions, { ETH: '0.01' });
    expect(await inBooks()).toBe('0');
    expect(await look()).toEqual({ stopped: [], now: { unexplained: '0' } });
    expect([await inBooks(), await count('egress_freeze')]).toEqual(['0', 0]);
    await isClean();
  });

  it('is booked again where its booking was taken back at the same block', async () => {
    chain.set('0xhot', one / 250n);
    expect(await look()).toEqual({ stopped: [], now: { unexplained: '0' } });
    await db.transaction((tx) => reverseUnexplained(tx, 'ETH', 90));
    expect(await inBooks()).toBe('0');
    expect(await compareNow()).toEqual({ stopped: [], now: { unexplained: '0' } });
    expect(await inBooks()).toBe('0.004');
    await isClean();
  });

  it('that no wallet holds is a fault in the books: it pages, and is not booked', async () => {
    chain.set('0xhot', one);
    await db.query(
      `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
         height, first_seen_at, allocation)
       VALUES ('ethereum', '0xown', 0, '0xhot', 'treasury', 'ETH', 1, 1, false, 'confirmed', 90, now(), 'capital')`,
    );
    expect(await look('5')).toEqual({ stopped: [], now: { unexplained: '1' } });
    expect([await inBooks(), await count('incident')]).toEqual(['0', 1]);
  });
});

it('B7: a deficit freezes', async () => {
  const credited = { network: 'ethereum', txId: 'f'.repeat(64), index: 0, currency: 'ETH', amount: '1' };
  await db.transaction((tx) => post(tx, depositJournal({ ...credited, merchantId: newId() })));
  expect(await look()).toEqual({ stopped: ['ETH'], now: { unexplained: '-1' } });
  expect([await count('egress_freeze'), await count('incident')]).toEqual([1, 1]);
});
