import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { ensure, captureOrRelease, post, reverse } from '../../db/ledger/ledger';
import type { DatabaseRole } from '../../db/roles/roles';
import { adjustment } from '../../domain/ledger/entry';
import * as differing from '../../domain/ledger/differing';
import * as journals from '../../domain/ledger/ledger';
import * as lightning from '../../domain/ledger/lightning';
import * as onAccount from '../../domain/ledger/on-account';
import * as lost from '../../domain/ledger/lost';
import * as fees from '../../domain/ledger/network-fees';
import * as unclaimed from '../../domain/ledger/unclaimed';
import * as unexplained from '../../domain/ledger/unexplained';
import { connectionsTo, freshDatabase, urlFor, type Database } from '../setup/postgres';
import { byOthers, cases, exchange, hold, other, shared, shop, type Case, type Journal } from './worker-journal-cases';
import { putRows, unguarded } from './worker-rows';

/** Every journal that a worker posts: with its rows as they are when it is due, and before; and what a thief would make
 *  of it. What is refused wrongly is money of a merchant that nobody moves. */

const refused = { code: 'CP014' };
let database: Database;
let owner: Client;
const workers: Partial<Record<DatabaseRole, DataSource>> = {};

beforeAll(async () => {
  database = await freshDatabase();
  owner = new Client({ connectionString: database.url });
  await owner.connect();
  for (const role of ['payments', 'chain', 'signer'] as const)
    workers[role] = await connectionsTo(urlFor(database.url, role)).initialize();
  await putRows(owner);
  // Where the money of each journal is taken from, there is some.
  const accounts = ['available', 'reserved', 'unsettled', 'unallocated', 'transit'].map((kind) => `L:${kind}:${shop}`);
  await owner.query('SELECT post_journal($1, $2, $3)', [
    'seed',
    adjustment,
    JSON.stringify(
      [...accounts, 'L:unallocated:unclaimed'].flatMap((credit) =>
        ['ETH', 'USDT_ERC20', 'BTC'].map((asset) => ({ debit: 'A:treasury', credit, asset, amount: '1000000' })),
      ),
    ),
  ]);
});
afterAll(async () => {
  for (const one of Object.values(workers)) await one.destroy();
  await owner?.end();
  await database?.drop();
});

/** What a thief would make of it: each posting to another merchant, and more where a merchant is credited. */
const forgeries = ({ journal }: Case): Journal[] =>
  journal.postings.flatMap((one, n) => {
    const withOne = (changed: object): Journal => ({
      ...journal,
      entry: journal.entry ?? adjustment,
      postings: journal.postings.with(n, { ...one, ...changed }),
    });
    const isCredit = one.credit.startsWith('L:');
    return [
      withOne({ credit: `L:available:${other}` }),
      ...(isCredit ? [withOne({ amount: `${Number.parseInt(one.amount, 10) + 1000}` })] : []),
    ];
  });

describe('A10: what workers book', () => {
  it('is in this table, all of it', () => {
    const modules = {
      ...journals,
      ...lost,
      ...differing,
      ...fees,
      ...lightning,
      ...onAccount,
      ...unclaimed,
      ...unexplained,
    };
    const made = Object.keys(modules).filter((name) => name.endsWith('Journal'));
    expect([...new Set(cases.map(({ name }) => name)), ...byOthers].sort()).toEqual(made.sort());
  });

  it.each(cases.map((one) => [`${one.name} ${one.journal.key}`, one] as const))(
    '%s: is posted when it is due, goes when that is gone, and is nothing else',
    async (_name, one) => {
      const by = workers[one.by]!;
      const { key } = one.journal;
      const isPosted = async (of: string): Promise<boolean> =>
        (await owner.query('SELECT FROM journal WHERE key = $1', [of])).rowCount === 1;
      // An end after another that a reorganisation has taken back has a key of its own.
      const at = (await isPosted(key)) ? journals.otherEndKey(key) : key;
      const put = /^hold.*end$/.test(key) ? captureOrRelease : ensure;
      const postIt = (): Promise<unknown> => by.transaction((tx) => put(tx, one.journal));
      const undo = (): Promise<unknown> => by.transaction((tx) => reverse(tx, at));
      if (one.due !== null) {
        await expect(postIt()).rejects.toMatchObject(refused);
        await unguarded(owner, one.due);
      }
      for (const forged of forgeries(one))
        await expect(by.transaction((tx) => post(tx, { ...forged, key: at }))).rejects.toMatchObject(refused);
      await postIt();
      expect(await isPosted(at)).toBe(true);
      if (one.gone === null || one.isThere) await expect(undo()).rejects.toMatchObject(refused);
      if (one.gone === null) return;
      await unguarded(owner, one.gone);
      await undo();
      if (one.due !== null) {
        await expect(postIt()).rejects.toMatchObject(refused);
        await unguarded(owner, one.due);
      }
      await postIt();
      await unguarded(owner, one.gone);
      await undo();
    },
  );

  it('is no conversion inside: that is the API’s', async () => {
    const inside = journals.internalConversionJournal({ ...exchange, out: '6' });
    for (const by of Object.values(workers))
      await expect(by.transaction((tx) => post(tx, inside))).rejects.toMatchObject(refused);
  });
});

describe('A10: a line of a payout that shares its transaction', () => {
  it('stays with it once that is signed: no money that may arrive is returned', async () => {
    const thief = workers.payments!;
    await expect(
      thief.query(`UPDATE payout_leg SET intent_id = NULL, status = 'failed', state_version = 2 WHERE id = $1`, [
        shared,
      ]),
    ).rejects.toMatchObject({ code: 'CP012' });
    await thief.query(`UPDATE payout_leg SET status = 'failed', state_version = 2 WHERE id = $1`, [shared]);
    await expect(thief.query('UPDATE payout_leg SET intent_id = NULL WHERE id = $1', [shared])).rejects.toMatchObject({
      code: 'CP012',
    });
    const release = journals.releaseJournal({ ...hold('leg'), id: shared });
    await expect(thief.transaction((tx) => post(tx, release))).rejects.toMatchObject(refused);
  });
});
