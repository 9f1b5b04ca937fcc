import type { DataSource } from 'typeorm';
import { applyBlock } from '../../db/chains/blocks';
import { applyMempool, payingUs } from '../../db/chains/mempool';
import { rewind } from '../../db/chains/rewind';
import { confirmDeposit, maturingDeposits } from '../../db/chains/arrivals';
import { CursorLost, readCursor, startCursor } from '../../db/chains/cursor';
import type { Block, Transfer } from '../../domain/chains/chain';
import { newId } from '../../domain/ids';
import { connectionsTo, freshDatabase } from '../setup/postgres';
import { insertMerchant } from '../merchant-row';

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
const merchantId = newId();
const paymentId = newId();

beforeAll(async () => {
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
  await insertMerchant(db, merchantId);
  await db.query(
    `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
       tolerance_pct, underpaid_policy,
       currency, network, amount, expires_at, expires_in) VALUES ($1, $2, 's', 'WAITING', 'api', 10, 'USD', 'merchant',
         40, 1, 'hold', 'BTC', 'bitcoin', 0.001, now() + interval '1 hour', 3600)`,
    [paymentId, merchantId],
  );
  await db.query(
    `INSERT INTO address (network, address, role, key_index, currency, merchant_id, payment_id)
       VALUES ('bitcoin', 'ours', 'deposit', 0, 'BTC', $1, $2),
       ('bitcoin', 'treasury', 'treasury', 0, NULL, NULL, NULL)`,
    [merchantId, paymentId],
  );
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const pay = (txId: string, over: Partial<Transfer> = {}): Transfer => ({
  txId,
  index: 0,
  to: 'ours',
  currency: 'BTC',
  units: 100_000n,
  inputs: [`in-${txId}:0`],
  ...over,
});
const block = (
  height: number,
  hash: string,
  parentHash: string,
  transfers: Transfer[] = [],
  spent: Array<[string, string]> = [],
): Block => ({
  height,
  hash,
  parentHash,
  time: 1_700_000_000 + height,
  transfers,
  txIds: transfers.map((transfer) => transfer.txId),
  spent: new Map(spent),
});
const apply = (next: Block) =>
  db.transaction(async (tx) => {
    const from = await readCursor(tx, 'bitcoin');
    await applyBlock(tx, 'bitcoin', from!, next, 100);
  });
const deposits = () =>
  db.query(`SELECT tx_id, status, amount::text, is_dust, height::int FROM deposit ORDER BY id`) as Promise<
    Array<{ tx_id: string; status: string; is_dust: boolean; height: number | null }>
  >;
const signals = async (): Promise<number> =>
  ((await db.query('SELECT count(*)::int AS n FROM temporal_request')) as Array<{ n: number }>)[0]!.n;

it('follows blocks, mempool, reorganisations and conflicts, and tells a payment only what is new', async () => {
  await startCursor(db.manager, 'bitcoin', { height: 10, hash: 'h10' });

  await db.transaction((tx) =>
    applyMempool(tx, 'bitcoin', { ids: new Set(['t1']), transfers: [pay('t1')], since: new Map() }, 600),
  );
  expect(await deposits()).toMatchObject([{ tx_id: 't1', status: 'pool' }]);
  expect(await signals()).toBe(1);

  await apply(block(11, 'h11', 'h10', [pay('t1'), pay('stranger', { to: 'theirs' }), pay('dust', { units: 10n })]));
  expect(await deposits()).toMatchObject([
    { tx_id: 't1', status: 'mined', height: 11 },
    { tx_id: 'dust', is_dust: true },
  ]);
  expect(await signals()).toBe(1);

  await expect(
    db.transaction((tx) => applyBlock(tx, 'bitcoin', { height: 10, hash: 'h10' }, block(11, 'h11', 'h10'), 100)),
  ).rejects.toThrow(CursorLost);

  await db.transaction((tx) => rewind(tx, 'bitcoin', { height: 11, hash: 'h11' }, { height: 10, hash: 'h10' }));
  expect((await deposits())[0]).toMatchObject({ status: 'orphaned', height: null });
  expect(await signals()).toBe(2);

  await apply(block(11, 'h11b', 'h10', [pay('t1')]));
  expect((await deposits())[0]).toMatchObject({ status: 'mined', height: 11 });
  expect(await signals()).toBe(3);

  const [ripe] = await maturingDeposits(db.manager, 'bitcoin', 11);
  expect(await db.transaction((tx) => confirmDeposit(tx, ripe!, '0.001'))).toBe(true);
  expect(await db.transaction((tx) => confirmDeposit(tx, ripe!, '0.001'))).toBe(false);
  expect(await signals()).toBe(4);
});

it('drops an unconfirmed deposit whose coin another transaction takes', async () => {
  await db.transaction((tx) =>
    applyMempool(
      tx,
      'bitcoin',
      { ids: new Set(['rbf']), transfers: [pay('rbf', { inputs: ['coin:0'] })], since: new Map() },
      600,
    ),
  );
  await db.transaction((tx) =>
    applyMempool(
      tx,
      'bitcoin',
      { ids: new Set(['other']), transfers: [pay('other', { to: 'theirs', inputs: ['coin:0'] })], since: new Map() },
      600,
    ),
  );
  expect((await deposits()).find((row) => row.tx_id === 'rbf')).toMatchObject({ status: 'replaced' });
});

it('counts an unconfirmed deposit from when its node had it', async () => {
  const transfers = [pay('early'), pay('late')];
  const since = new Map([['early', 1_700_000_000]]);
  expect(await payingUs(db, 'bitcoin', [...transfers, pay('stranger', { to: 'theirs' })])).toEqual(['early', 'late']);
  await db.transaction((tx) => applyMempool(tx, 'bitcoin', { ids: new Set(['early', 'late']), transfers, since }, 600));
  const rows = await db.query(
    `SELECT tx_id, first_seen_at > now() - interval '1 minute' AS "isNow" FROM deposit WHERE tx_id IN ('early', 'late')
       ORDER BY tx_id`,
  );
  expect(rows).toEqual([
    { tx_id: 'early', isNow: false },
    { tx_id: 'late', isNow: true },
  ]);
  expect(await db.query(`SELECT first_seen_at FROM deposit WHERE tx_id = 'early'`)).toEqual([
    { first_seen_at: new Date(1_700_000_000_000) },
  ]);
});

describe('what replaces an unconfirmed deposit', () => {
  const look = (transfers: Transfer[], since = new Map<string, number>()) =>
    db.transaction((tx) =>
      applyMempool(tx, 'bitcoin', { ids: new Set(transfers.map(({ txId }) => txId)), transfers, since }, 600),
    );
  const seen = async (txId: string) =>
    (
      await db.query(
        `SELECT status, first_seen_at AS at, first_seen_height::int AS height
          FROM deposit WHERE tx_id = $1 ORDER BY id LIMIT 1`,
        [txId],
      )
    )[0];
  const at = new Date(1_700_000_000_000);
  const first = (coin: string) =>
    look([pay(`first-${coin}`, { inputs: [coin] })], new Map([[`first-${coin}`, at.getTime() / 1000]]));

  it('was first seen when that was, where it pays the same address at least as much', async () => {
    await first('bump:0');
    expect(await seen('first-bump:0')).toMatchObject({ status: 'pool', at, height: 11 });
    const halves = [0, 1].map((index) => pay('second', { index, units: 50_000n, inputs: ['bump:0', 'more:0'] }));
    await look(halves);
    expect(await seen('first-bump:0')).toMatchObject({ status: 'replaced' });
    expect(await seen('second')).toMatchObject({ status: 'pool', at, height: 11 });
    // And what replaces that.
    await look([pay('third', { units: 100_000n, inputs: ['more:0'] })]);
    expect(await seen('third')).toMatchObject({ status: 'pool', at, height: 11 });
    expect(await parts('third')).toEqual([{ index: 0, amount: '0.0005', at, height: 11 }]);
  });

  const parts = (txId: string) =>
    db.query<Array<{ index: number; amount: string; at: Date; height: number }>>(
      `SELECT d.out_index AS index, trim_scale(p.amount)::text AS amount, p.first_seen_at AS at,
              p.first_seen_height::int AS height FROM deposit_part p JOIN deposit d ON d.id = p.deposit_id
                WHERE d.tx_id = $1 ORDER BY d.id, p.n`,
      [txId],
    );
  const isNew = async (txId: string) => (await seen(txId)).at.getTime() > Date.now() - 60_000;

  it('B2: inherits the amount that it replaces, and no more; and so does what replaces that', async () => {
    await first('grows:0');
    await look([pay('grown', { units: 300_000n, inputs: ['grows:0'] })]);
    expect(await isNew('grown')).toBe(true);
    expect(await parts('grown')).toEqual([{ index: 0, amount: '0.001', at, height: 11 }]);
    const { at: later } = await seen('grown');
    await look([pay('as-much', { units: 300_000n, inputs: ['grows:0'] })]);
    expect(await seen('as-much')).toMatchObject({ at: later });
    expect(await parts('as-much')).toEqual([{ index: 0, amount: '0.001', at, height: 11 }]);
    const outputs = [50_000n, 270_000n].map((units, index) => pay('split', { index, units, inputs: ['grows:0'] }));
    await look(outputs);
    expect(await seen('split')).toMatchObject({ at });
    expect(await parts('split')).toEqual([
      { index: 1, amount: '0.0005', at, height: 11 },
      { index: 1, amount: '0.002', at: later, height: 11 },
    ]);
  });

  it('B2: inherits from each of those that it replaces, as far as it pays their amounts', async () => {
    await first('one:0');
    await first('two:0');
    await look([pay('both', { units: 250_000n, inputs: ['one:0', 'two:0'] })]);
    expect(await parts('both')).toMatchObject([{ amount: '0.001' }, { amount: '0.001' }]);
    await first('three:0');
    await first('four:0');
    await look([pay('either', { units: 199_999n, inputs: ['three:0', 'four:0'] })]);
    expect(await parts('either')).toMatchObject([{ amount: '0.001' }]);
  });

  it('B2: leaves nothing to a second transaction that takes the rest of the coins in the same look', async () => {
    const inputs = ['broad:0', 'broad:1'];
    await look([pay('wide', { inputs })], new Map([['wide', at.getTime() / 1000]]));
    await look(inputs.map((input, n) => pay(`narrow-${n}`, { inputs: [input] })));
    expect(await seen('narrow-0')).toMatchObject({ at });
    expect(await isNew('narrow-1')).toBe(true);
    expect(await parts('narrow-1')).toEqual([]);
  });

  it('was first seen when it came, where it pays less, or one output of it was read twice', async () => {
    await first('lesser:0');
    const less = pay('less', { units: 99_999n, inputs: ['lesser:0'] });
    await look([less, less]);
    expect(await seen('first-lesser:0')).toMatchObject({ status: 'replaced' });
    expect((await seen('less')).at.getTime()).toBeGreaterThan(Date.now() - 60_000);
  });

  it('was first seen when it came, where what it replaces was gone already', async () => {
    await first('gone:0');
    await look([pay('away', { to: 'theirs', inputs: ['gone:0'] })]);
    await look([pay('again', { inputs: ['gone:0'] })]);
    expect((await seen('again')).at.getTime()).toBeGreaterThan(Date.now() - 60_000);
  });
});

it('keeps one row per output however often it is read', async () => {
  const again = pay('twice');
  await apply(block(12, 'h12', 'h11b', [again, again]));
  expect((await deposits()).filter((row) => row.tx_id === 'twice')).toHaveLength(1);
});

it('notices a coin of ours that somebody else spends, unconfirmed or in a block', async () => {
  const look = (inputs: string[]) =>
    db.transaction((tx) =>
      applyMempool(
        tx,
        'bitcoin',
        { ids: new Set(['x']), transfers: [pay('x', { to: 'theirs', inputs })], since: new Map() },
        600,
      ),
    );
  await look(['coin:7']);
  expect(await db.query(`SELECT FROM incident`)).toEqual([]);
  await look(['coin:7', 'twice:0']);
  expect(await db.query(`SELECT details->>'spender' AS by FROM incident`)).toEqual([{ by: 'x' }]);
  expect(await db.query(`SELECT currency FROM egress_freeze`)).toEqual([{ currency: 'BTC' }]);
  await db.query('DELETE FROM incident');
  await db.query('DELETE FROM egress_freeze');
  await apply(block(13, 'h13', 'h12', [], [['twice:0', 'foreign']]));
  expect(await db.query(`SELECT kind FROM incident`)).toEqual([{ kind: 'foreign-spend' }]);
  expect(await db.query(`SELECT currency FROM egress_freeze`)).toEqual([{ currency: 'BTC' }]);
});
