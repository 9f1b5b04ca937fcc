import type { DataSource, EntityManager } from 'typeorm';
import { signingActivities } from '../../activities/txmanager/signing';
import { payoutActivities } from '../../activities/payouts/payouts';
import { queueBatch } from '../../commands/payouts/queue';
import { setLimits } from '../../db/limits/outbound';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { newId } from '../../domain/ids';
import { payoutWindow } from '../../domain/payouts/payout';
import { lockAsked, verdictsOn } from '../../txmanager/sign/facts';
import type { SignVerdict } from '../../txmanager/sign/policy';
import { codecs, richShop, seed, strangers, type RichShop } from './rich-shop';
import { nodes } from './nodes';

/** Payments of a mass payout are signed together or one by one: by the same policy, on the same facts. */

const user = { id: newId(), email: 'ann@shop.example' };
const signer = { codecs, seed };
const size = payoutWindow;
let shop: RichShop;
let db: DataSource;
let batchId: string;
let ids: string[];

beforeAll(async () => {
  shop = await richShop('1000');
  ({ db } = shop);
  const rows = Array.from({ length: size }, (_, n) => ({
    currency: 'ETH',
    amount: '0.01',
    address: codecs.ethereum.derive(strangers, n),
  }));
  for (const { address } of rows)
    await addToWhitelist(db, shop.merchantId, user, { type: 'wallet', currency: 'ETH', address, destinationTag: null });
  const { row } = await db.transaction((tx) =>
    queueBatch(tx, { codecs, rateMaxAgeSeconds: 3600 }, shop.merchantId, user, { rows }),
  );
  batchId = row.id;
  await payoutActivities({ db, nodes }).payoutStep(batchId);
  const intents = await db.query(`SELECT id FROM intent WHERE kind = 'leg' ORDER BY id`);
  ids = intents.map((intent: { id: string }) => intent.id);
  expect(ids).toHaveLength(size);
});
afterAll(() => shop?.stop());

/** What may be wrong with one of them, and what both then say. `$1`: the intent. */
const changes: ReadonlyArray<readonly [sql: string | null, state: SignVerdict['state'], reason?: string]> = [
  [null, 'sign'],
  [`UPDATE intent SET status = 'dead' WHERE id = $1`, 'dropped'],
  [`UPDATE intent SET outputs = jsonb_set(outputs, '{0,units}', '"1"') WHERE id = $1`, 'refused', 'address or amount'],
  [`UPDATE intent SET outputs = jsonb_set(outputs, '{0,address}', '"0xabc"') WHERE id = $1`, 'refused'],
  [`UPDATE intent SET outputs = outputs || outputs WHERE id = $1`, 'refused', 'another output'],
  [`UPDATE intent SET currency = 'USDT_ERC20' WHERE id = $1`, 'refused', 'currency'],
  [
    `UPDATE whitelist_entry SET removed_at = now()
      WHERE address = (SELECT outputs->0->>'address' FROM intent WHERE id = $1)`,
    'dropped',
    'whitelist',
  ],
  [
    `INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, inputs, unit_price,
                          max_fee_units, moved_units, outputs)
     SELECT id, 1, network, 'tx' || id, '0x00', from_address, 0, '{}', 1, 1, 1, '[]' FROM intent WHERE id = $1`,
    'stored',
  ],
];
/** And with all of them. */
const states: ReadonlyArray<readonly [name: string, sql: string | null, state: SignVerdict['state']]> = [
  ['as planned', null, 'sign'],
  ['a treasury that the seed does not derive', `UPDATE address SET key_index = 77 WHERE role = 'treasury'`, 'refused'],
  ['a frozen asset', `INSERT INTO egress_freeze (currency, reason) VALUES ('ETH', 'a test')`, 'waiting'],
  ['everything frozen', `INSERT INTO egress_freeze (currency, reason) VALUES ('*', 'a test')`, 'waiting'],
  ['another asset frozen', `INSERT INTO egress_freeze (currency, reason) VALUES ('BTC', 'a test')`, 'sign'],
  ['an old estimate', `UPDATE network_fee SET taken_at = now() - interval '10 minutes'`, 'refused'],
  ['an estimate that is not old yet', `UPDATE network_fee SET taken_at = now() - interval '599 seconds'`, 'sign'],
  ['no estimate', 'DELETE FROM network_fee', 'refused'],
  ['a released use of the limits', 'UPDATE egress_admission SET released_at = now()', 'refused'],
  ['no use of the limits', 'DELETE FROM egress_admission', 'refused'],
  [
    'a frozen wallet',
    `INSERT INTO wallet_sequence (network, address, frozen_reason)
     SELECT DISTINCT network, from_address, 'a test' FROM intent`,
    'refused',
  ],
];

type Asked = readonly string[];
const verdictsIn = async (tx: EntityManager, asked: Asked): Promise<SignVerdict[]> =>
  (await verdictsOn(signer, tx, await lockAsked(tx, asked, 'first'), 'first')).map(({ verdict }) => verdict);

/** What is done in a transaction that is rolled back after it. */
async function undone<T>(act: (tx: EntityManager) => Promise<T>): Promise<T> {
  const runner = db.createQueryRunner();
  await runner.startTransaction();
  try {
    return await act(runner.manager);
  } finally {
    await runner.rollbackTransaction();
    await runner.release();
  }
}

/** The verdicts on each, asked about together or one by one. */
const verdicts = (prepare: (tx: EntityManager) => Promise<unknown>, apart: boolean): Promise<SignVerdict[]> =>
  undone(async (tx) => {
    await prepare(tx);
    if (!apart) return verdictsIn(tx, ids);
    const all: SignVerdict[] = [];
    for (const id of ids) {
      await tx.query('SAVEPOINT one');
      all.push(...(await verdictsIn(tx, [id])));
      await tx.query('ROLLBACK TO SAVEPOINT one');
    }
    return all;
  });

const both = async (prepare: (tx: EntityManager) => Promise<unknown>): Promise<SignVerdict[]> => {
  const [together, apart] = [await verdicts(prepare, false), await verdicts(prepare, true)];
  expect(together).toEqual(apart);
  return together;
};

it.each(states)('%s: the same of many as of each', async (_name, sql, state) => {
  const all = await both(async (tx) => sql !== null && tx.query(sql));
  expect(all.map((one) => one.state)).toEqual(ids.map(() => state));
});

it('the same of many as of each, whatever is wrong with which', async () => {
  for (let round = 0; round < changes.length; round += 1) {
    const own = ids.map((_, n) => changes[(round * (n + 1) + n) % changes.length]!);
    const all = await both(async (tx) => {
      for (const [n, [sql]] of own.entries()) if (sql !== null) await tx.query(sql, [ids[n]]);
    });
    expect(all.map((one) => one.state)).toEqual(own.map(([, state]) => state));
    for (const [n, [, , reason]] of own.entries())
      if (reason) expect(all[n]).toMatchObject({ reason: expect.stringContaining(reason) });
  }
});

it('the same over a limit, and without an approval', async () => {
  await setLimits(db, shop.merchantId, { dailyUsd: '1', hourlyCount: null, approvalUsd: null }, user.id, 0);
  const over = await both(() => Promise.resolve());
  expect(over).toEqual(
    ids.map(() => ({ state: 'waiting', reason: expect.stringContaining('daily limit'), cause: 'limit' })),
  );
  await db.query('DELETE FROM egress_limit WHERE scope = $1', [shop.merchantId]);
  const unapproved = await both((tx) => tx.query('UPDATE payout_batch SET approved_at = NULL, approved_by = NULL'));
  expect(unapproved.map((one) => one.state)).toEqual(ids.map(() => 'refused'));
});

/** Counts what is asked of the database, prepared or not. */
async function statementsFor(asked: Asked, prepare?: (tx: EntityManager) => Promise<unknown>): Promise<number> {
  return undone(async (tx) => {
    await prepare?.(tx);
    const connection = (await tx.queryRunner!.connect()) as Readonly<{ query: (...given: unknown[]) => unknown }>;
    const asking = jest.spyOn(connection, 'query');
    expect((await verdictsIn(tx, asked)).map(({ state }) => state)).toEqual(asked.map(() => 'sign'));
    const count = asking.mock.calls.length;
    asking.mockRestore();
    return count;
  });
}

it('asks the database as often for many as for one', async () => {
  const one = await statementsFor(ids.slice(0, 1));
  expect(await statementsFor(ids)).toBe(one);
  // Each further one costs a mass payout time: the rows, the whitelist, stops and freezes, the facts, the limits, the
  // wallet, and two that make the row of a wallet which is new.
  expect(one).toBeLessThanOrEqual(13);
  const limits = (tx: EntityManager): Promise<unknown> =>
    setLimits(tx, shop.merchantId, { dailyUsd: '100000', hourlyCount: null, approvalUsd: null }, user.id, 0);
  const limited = await statementsFor(ids.slice(0, 1), limits);
  expect(await statementsFor(ids, limits)).toBe(limited);
});

it('signs together what the policy lets, and not the others', async () => {
  await db.query(`UPDATE intent SET outputs = jsonb_set(outputs, '{0,units}', '"1"') WHERE id = $1`, [ids[1]]);
  const { stored, reason } = await signingActivities({ db, ...signer }).signPayouts(batchId);
  expect([stored, reason]).toEqual([size - 1, expect.stringContaining('address or amount')]);
  const attempts = await db.query('SELECT intent_id FROM attempt ORDER BY nonce');
  expect(attempts.map((one: { intent_id: string }) => one.intent_id)).toEqual(ids.filter((id) => id !== ids[1]));
});
