import { randomInt } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { noLog } from '../shared/no-log';
import { broadcastActivities } from '../../activities/txmanager/broadcast';
import { audit } from '../../db/audit/audit';
import { spendableAt } from '../../db/txmanager/intents';
import { freeCoins, treasurySources } from '../../db/treasury/treasury';
import type { ChainAdapter } from '../../domain/chains/chain';
import { connectionsTo, freshDatabase } from '../setup/postgres';
import { rowsRead } from './plans';

/** What is read of a hot wallet does not grow with what it has sent and got, and says what its whole history says. */

const hot = 'hot';
const at = { network: 'ethereum', address: hot, native: 'ETH' };
let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;

beforeAll(async () => {
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
  await db.runMigrations();
  await db.query(
    `INSERT INTO address (network, address, role, key_index, currency) VALUES ('ethereum', $1, 'treasury', 0, 'ETH'),
       ('bitcoin', $1, 'treasury', 0, 'BTC')`,
    [hot],
  );
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

let made = 0;
const deposits = (network: string, currency: string, status: string, count: number): Promise<unknown> =>
  db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
       first_seen_at, allocation, spent_by_tx)
     SELECT $1, $5 || '/' || n, 0, $2, 'treasury', $3, 10, 10, false, $4, now(), 'own', CASE WHEN $1 = 'bitcoin'
       THEN 'spent' END
       FROM generate_series(1, $6::int) n`,
    [network, hot, currency, status, `${(made += 1)}`, count],
  );
/** Transfers of the hot wallet, from this nonce on. */
const transfers = (currency: string, status: string, count: number, first: number, isSent = true): Promise<unknown> =>
  db.query(
    `WITH i AS (INSERT INTO intent (max_unit_price, fee_budget, kind, ref, network, currency, from_address, outputs,
                         status, owner_kind, owner_id)
       SELECT 1, 300, 'leg', $6 || '/' || n, 'ethereum', $1, $2, '[]', CASE $3 WHEN 'final' THEN 'final'
         ELSE 'sent' END, 'payout-batch', 'x'
         FROM generate_series(0, $4::int - 1) n RETURNING id, ref)
     INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, unit_price, max_fee_units,
       moved_units, outputs, status, success, fee_units, sent_at)
     SELECT id, 1, 'ethereum', ref, '', $2, $5 + split_part(ref, '/', 2)::int, 1, 300, 7, '[]', $3,
            CASE WHEN $3 = 'final' THEN split_part(ref, '/', 2)::int % 10 > 0 END, CASE WHEN $3 = 'final' THEN 200 END,
              CASE WHEN $7 THEN now() END FROM i`,
    [currency, hot, status, count, first, `many${(made += 1)}`, isSent],
  );
/** By all that ever came and went. */
async function byHistory(currency: string): Promise<{ arrived: string; goneUnits: string }> {
  const [row] = await db.query(
    `SELECT coalesce((SELECT sum(amount) FROM deposit WHERE network = 'ethereum' AND address = $1 AND currency = $2
       AND status = 'confirmed'), 0)::text AS arrived,
            coalesce((SELECT sum(CASE WHEN one.currency = $2 AND one.success IS DISTINCT FROM false THEN one.moved_units
              ELSE 0 END
                               + CASE WHEN $2 = 'ETH' THEN coalesce(one.fee_units, one.max_fee_units) ELSE 0 END)
              FROM (SELECT DISTINCT ON (a.intent_id) a.*, i.currency FROM attempt a JOIN intent i ON i.id = a.intent_id
                     WHERE a.network = 'ethereum' AND a.from_address = $1 AND a.status <> 'replaced'
                     ORDER BY a.intent_id, a.status IN ('mined', 'final') DESC, a.n DESC) one),
              0)::text AS "goneUnits"`,
    [hot, currency],
  );
  return row;
}
const isSame = async (): Promise<void> => {
  for (const currency of ['ETH', 'USDT_ERC20']) {
    const [is, was] = [await spendableAt(db.manager, { ...at, currency }), await byHistory(currency)];
    expect([Number(is.arrived), is.goneUnits]).toEqual([Number(was.arrived), was.goneUnits]);
  }
};

it('says what the whole history says, whatever becomes of it', async () => {
  await deposits('ethereum', 'ETH', 'confirmed', 20);
  await deposits('ethereum', 'USDT_ERC20', 'mined', 20);
  await transfers('ETH', 'sent', 20, 0);
  await transfers('USDT_ERC20', 'final', 20, 20);
  await isSame();
  const changes = [
    `UPDATE deposit SET status = 'confirmed', amount = 9 WHERE id = $1`,
    `UPDATE deposit SET status = 'orphaned' WHERE id = $1`,
    `UPDATE deposit SET amount = 8 WHERE id = $1`,
    `UPDATE attempt SET status = 'mined', success = NULL, fee_units = NULL WHERE id = $1 AND status = 'sent'`,
    `UPDATE attempt SET status = 'final', success = true, fee_units = 150 WHERE id = $1 AND status = 'mined'`,
    `UPDATE attempt SET status = 'final', success = false, fee_units = 90 WHERE id = $1 AND status = 'mined'`,
    `UPDATE attempt SET status = 'sent', success = NULL, fee_units = NULL WHERE id = $1
       AND status IN ('mined', 'final')`,
    `UPDATE attempt SET fee_units = 77 WHERE id = $1 AND status = 'final'`,
    `INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, unit_price, max_fee_units,
       moved_units, outputs, status)
       SELECT intent_id, n + 1, network, tx_id || '+', '', from_address, nonce, 2, 400, moved_units, '[]', 'sent'
         FROM attempt a
        WHERE id = $1 AND status = 'sent' AND NOT EXISTS (SELECT FROM attempt b WHERE b.intent_id = a.intent_id
          AND b.n > a.n)`,
  ];
  for (let n = 0; n < 300; n += 1) {
    const id = randomInt(1, 41);
    const change = changes[randomInt(changes.length)]!;
    await db.query(change, [id]);
    if (change.includes("'final', success"))
      await db.query(
        `UPDATE attempt a SET status = 'replaced' FROM attempt b WHERE b.id = $1 AND b.status = 'final'
           AND a.intent_id = b.intent_id AND a.id <> b.id`,
        [id],
      );
    if (n % 10 === 0) await isSame();
  }
  await isSame();
  await db.query('DELETE FROM attempt WHERE id % 3 = 0');
  await db.query('DELETE FROM deposit WHERE id % 3 = 0');
  await isSame();
  const isAudited = async (): Promise<number> =>
    (await audit(db, { settleMs: 1 })).filter(({ what }) => what.includes('come to a wallet')).length;
  expect(await isAudited()).toBe(0);
  await db.query(`UPDATE wallet_total SET moved = moved + 1 WHERE currency = 'ETH'`);
  expect(await isAudited()).toBe(1);
});

it('reads no more rows when ten thousand transfers more are final', async () => {
  const asked: Array<readonly [string, () => Promise<unknown>]> = [
    ['spendableAt', () => spendableAt(db.manager, { ...at, currency: 'ETH' })],
    ['treasurySources', () => treasurySources(db.manager, 'USDT_ERC20')],
    ['freeCoins', () => freeCoins(db.manager, 'bitcoin')],
    ['isUsedByOthers', () => sending()],
  ];
  const sending = () =>
    broadcastActivities({
      db,
      log: noLog,
      adapter: {
        network: 'ethereum',
        broadcast: () => Promise.resolve({ outcome: 'accepted' }),
        lookUp: () => Promise.resolve({ state: 'pool' }),
        nextNonce: () => Promise.resolve(1_000_000),
      } as Partial<ChainAdapter> as ChainAdapter,
    }).sendPayouts('y');
  await db.query('ALTER TABLE deposit_change DISABLE TRIGGER USER');
  await db.query('TRUNCATE deposit, attempt, intent CASCADE');
  await db.query(
    `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
       VALUES ('ethereum', 1, 'e', 1, 'infinity')`,
  );
  await transfers('ETH', 'stored', 5, 900_000, false);
  const measure = async (): Promise<Record<string, number>> => {
    await db.query('ANALYZE');
    await db.query(`UPDATE attempt SET status = 'stored', sent_at = NULL WHERE nonce >= 900000`);
    await db.query(`UPDATE intent SET status = 'stored', owner_id = 'y' WHERE status <> 'final'`);
    const read: Record<string, number> = {};
    for (const [name, act] of asked) read[name] = await rowsRead(act);
    return read;
  };
  await transfers('ETH', 'final', 1000, 0);
  await deposits('ethereum', 'ETH', 'confirmed', 1000);
  await deposits('bitcoin', 'BTC', 'confirmed', 1000);
  const few = await measure();
  // Not in one go: a transaction that changes one row ten thousand times takes longer than statements may.
  for (let n = 1; n <= 10; n += 1) {
    await transfers('ETH', 'final', 1000, n * 1000);
    await deposits('ethereum', 'ETH', 'confirmed', 1000);
    await deposits('bitcoin', 'BTC', 'confirmed', 1000);
  }
  const many = await measure();
  for (const [name] of asked) expect([name, many[name]]).toEqual([name, Math.min(many[name]!, few[name]! + 20)]);
  expect(Math.max(...Object.values(many))).toBeLessThan(200);
});
