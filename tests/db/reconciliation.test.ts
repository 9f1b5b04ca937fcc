import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import { OwnSums } from '../../db/audit/closed-sums';
import { wholeSums, type Sums } from '../../db/audit/own-sums';
import { post, reverse } from '../../db/ledger/ledger';
import { storePositions, reconcileAssets, type AssetPosition } from '../../db/audit/reconciliation';
import type { ChainAdapter } from '../../domain/chains/chain';
import {
  capitalJournal,
  depositJournal,
  externalSweepJournal,
  feeGoneJournal,
  feeGoneKey,
  settleJournal,
  sweepJournal,
} from '../../domain/ledger/ledger';
import { newId } from '../../domain/ids';
import { add } from '../../domain/money';
import { connectionsTo, freshDatabase } from '../setup/postgres';
import { unguarded } from '../unguarded';
import { insertMerchant } from '../merchant-row';

/** The books against what the chains hold. The nodes are played: they say what the test lets them hold. */

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
const merchantId = newId();
/** Base units, by address and currency; coins by `txid:vout`. */
const chain = new Map<string, bigint>();
let tip = { height: 100, hash: 'b100', time: 0 };
let isAway = false;
const adapters = (['bitcoin', 'ethereum'] as const).map(
  (network) =>
    ({
      network,
      holding: (address: string, currency: string) =>
        isAway ? Promise.reject(new Error('away')) : Promise.resolve(held(`${address} ${currency}`)),
      unspent: (txId: string, vout: number) => Promise.resolve(chain.has(`${txId}:${vout}`)),
      head: () => Promise.resolve(tip),
    }) as Partial<ChainAdapter> as ChainAdapter,
);
/** What comes to a place with each question. */
const drip = new Map<string, bigint>();
const held = (place: string): bigint => {
  chain.set(place, (chain.get(place) ?? 0n) + (drip.get(place) ?? 0n));
  return chain.get(place)!;
};
const look = async () => reconcileAssets(db, adapters, () => 3, 1);
const of = async (currency: string): Promise<AssetPosition> =>
  (await look()).positions.find((one) => one.currency === currency)!;

beforeAll(async () => {
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
  await db.query(
    `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
       VALUES ('bitcoin', 100, 'b100', 100, now()), ('ethereum', 100, 'e100', 100, now())`,
  );
  for (const [network, address, role, index] of [
    ['ethereum', '0xhot', 'treasury', 0],
    ['ethereum', '0xgas', 'gas', 0],
    ['ethereum', '0xpaid', 'deposit', 1],
    ['bitcoin', 'bhot', 'treasury', 0],
    ['bitcoin', 'bpaid', 'deposit', 1],
  ] as const)
    await db.query(`INSERT INTO address (network, address, role, key_index) VALUES ($1, $2, $3, $4)`, [
      network,
      address,
      role,
      index,
    ]);
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

let made = 0;
type Arrival = {
  currency: string;
  address: string;
  amount: string;
  height?: number;
  allocation?: string | null;
  units: bigint;
};
/** Money that the chain has, and the row that says so. */
async function arrived({ currency, address, amount, height = 50, allocation = null, units }: Arrival) {
  const txId = (made += 1).toString(16).padStart(64, '0');
  const network = currency === 'BTC' ? 'bitcoin' : 'ethereum';
  await db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
       height, first_seen_at, allocation)
     SELECT $1, $2, 0, $3, role, $4, $5, $5, false, CASE WHEN $6::int > 98 THEN 'mined' ELSE 'confirmed' END, $6, now(),
       $7 FROM address WHERE address = $3`,
    [network, txId, address, currency, amount, height, allocation],
  );
  const key = network === 'bitcoin' ? `${txId}:0` : `${address} ${currency}`;
  chain.set(key, (chain.get(key) ?? 0n) + units);
  return { network, txId, index: 0, currency, amount };
}
const booked = (journal: Parameters<typeof post>[1]) => db.transaction((tx) => post(tx, journal));

it('says where every unit is: in the ledger, waiting for it, or on its way', async () => {
  const own = await arrived({
    currency: 'ETH',
    address: '0xhot',
    amount: '5',
    allocation: 'capital',
    units: 5n * 10n ** 18n,
  });
  await booked(capitalJournal({ ...own, to: 'A:treasury', from: 'Q:capital' }));
  const paid = await arrived({
    currency: 'ETH',
    address: '0xpaid',
    amount: '1',
    allocation: 'unsettled',
    units: 10n ** 18n,
  });
  await booked(depositJournal({ ...paid, merchantId }));
  const coin = await arrived({
    currency: 'BTC',
    address: 'bhot',
    amount: '0.5',
    allocation: 'capital',
    units: 50_000_000n,
  });
  await booked(capitalJournal({ ...coin, to: 'A:treasury', from: 'Q:capital' }));
  // Seen and final, and nobody has claimed it.
  await arrived({ currency: 'ETH', address: '0xpaid', amount: '0.000001', units: 10n ** 12n });
  expect(await of('ETH')).toMatchObject({
    height: 98,
    ledger: '6',
    arriving: '0.000001',
    leaving: '0',
    chain: '6.000001',
    unexplained: '0',
    where: [],
  });
  expect(await of('BTC')).toMatchObject({ height: 100, ledger: '0.5', chain: '0.5', unexplained: '0' });

  // A transaction of ours that is final and not booked: two to somebody, and its fee.
  const [intent] = await db.query(
    `INSERT INTO intent (max_unit_price, fee_budget, kind, ref, network, currency, from_address, outputs,
                         status, owner_kind, owner_id)
     VALUES (1, 42000, 'leg', 'x', 'ethereum', 'ETH', '0xhot',
             '[{"address":"0xaway","units":"2000000000000000000"}]', 'final', 'payout-batch', '1') RETURNING id`,
  );
  await db.query(
    `INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, unit_price, max_fee_units,
       moved_units, outputs, status, height, success, fee_units)
     VALUES ($1, 1, 'ethereum', '0xout', '', '0xhot', 0, 1, 42000, 2000000000000000000,
       '[{"address":"0xaway","units":"2000000000000000000"}]', 'final', 90, true, 21000)`,
    [intent.id],
  );
  chain.set('0xhot ETH', 3n * 10n ** 18n - 21_000n);
  expect(await of('ETH')).toMatchObject({ leaving: '2.000000000000021', chain: '4.000000999999979', unexplained: '0' });
});

it('a sweep of many payments leaves the books payment by payment', async () => {
  const payments = [newId(), newId()];
  await insertMerchant(db, merchantId);
  await unguarded(db, (tx) =>
    tx.query(
      `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
         tolerance_pct, underpaid_policy, expires_at, expires_in)
     SELECT id, $2, right(id, 20), 'SETTLED', 'api', 1, 'USD', 'merchant', 0, 1, 'hold', now(), 600
       FROM unnest($1::text[]) id`,
      [payments, merchantId],
    ),
  );
  const before = await of('BTC');
  const coin = await arrived({
    currency: 'BTC',
    address: 'bpaid',
    amount: '0.3',
    allocation: 'unsettled',
    units: 30_000_000n,
  });
  await booked(depositJournal({ ...coin, merchantId }));
  const [intent] = await db.query(
    `INSERT INTO intent (max_unit_price, fee_budget, kind, ref, network, currency, from_address, outputs,
                         status, owner_kind, owner_id, booked)
     VALUES (1, 1500, 'sweep', 'batch', 'bitcoin', 'BTC', 'bpaid', '[]', 'final', 'sweep-batch', '1', true)
     RETURNING id`,
  );
  await db.query(
    `INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, unit_price, max_fee_units, moved_units,
       outputs, status, height, success, fee_units)
     VALUES ($1, 1, 'bitcoin', $2, '', 'bpaid', 1, 1500, 30000000,
       '[{"address":"bhot","units":"19998500"},{"address":"baway","units":"10000000"}]', 'final', 90, true, 1500)`,
    [intent.id, 'a'.repeat(64)],
  );
  // What the chain has of it now: a coin of the hot wallet's.
  await db.query(`UPDATE deposit SET spent_by_tx = $1 WHERE tx_id = $2`, ['a'.repeat(64), coin.txId]);
  chain.delete(`${coin.txId}:0`);
  await arrived({ currency: 'BTC', address: 'bhot', amount: '0.199985', allocation: 'own', units: 19_998_500n });
  await db.query(
    `INSERT INTO sweep_share (intent_id, payment_id, position, deposit_ids, brought_units, net_units, fee_units)
     VALUES ($1, $2, 0, '{}', 20000000, NULL, 1000), ($1, $3, 1, '{}', 10000500, 10000000, 500)`,
    [intent.id, ...payments],
  );
  expect(await of('BTC')).toMatchObject({ leaving: '0.100015', unexplained: before.unexplained });
  const part = { currency: 'BTC', native: 'BTC' };
  const [ours, external] = payments.map((id) => `${intent.id}/${id}`);
  await booked(sweepJournal({ ...part, ref: ours!, moved: '0.19999', chainFee: '0.00001' }));
  expect(await of('BTC')).toMatchObject({ leaving: '0.100005', unexplained: '0' });
  const settled = { paymentId: payments[1]!, merchantId, currency: 'BTC', net: '0.1', commission: '0', network: '0' };
  await booked(settleJournal(settled));
  await booked(
    externalSweepJournal({
      ...part,
      ref: external!,
      paymentId: newId(),
      merchantId,
      net: '0.1',
      feePart: '0',
      chainFee: '0.000005',
    }),
  );
  expect(await of('BTC')).toMatchObject({ leaving: '0', unexplained: '0' });
});

it('a sweep leaves the books once: with its settlement, before or after its own end is booked', async () => {
  const before = await of('ETH');
  const coin = await arrived({
    currency: 'ETH',
    address: '0xpaid',
    amount: '2',
    allocation: 'unsettled',
    units: 2n * 10n ** 18n,
  });
  await booked(depositJournal({ ...coin, merchantId }));
  const [intent] = await db.query(
    `INSERT INTO intent (max_unit_price, fee_budget, kind, ref, network, currency, from_address, outputs,
                         status, owner_kind, owner_id)
     VALUES (1, 42000, 'sweep', 'alone', 'ethereum', 'ETH', '0xpaid', '[]', 'final', 'sweep', '1') RETURNING id`,
  );
  const moved = 2n * 10n ** 18n - 21_000n;
  await db.query(
    `INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, unit_price, max_fee_units,
       moved_units, outputs, status, height, success, fee_units)
     VALUES ($1, 1, 'ethereum', '0xswept', '', '0xpaid', 0, 1, 42000, $2, $3, 'final', 90, true, 21000)`,
    [intent.id, String(moved), JSON.stringify([{ address: '0xhot', units: String(moved) }])],
  );
  chain.set('0xpaid ETH', chain.get('0xpaid ETH')! - 2n * 10n ** 18n);
  await arrived({
    currency: 'ETH',
    address: '0xhot',
    amount: '1.999999999999979',
    allocation: 'own',
    units: moved,
  });
  const leaves = async (more: string): Promise<void> =>
    expect(await of('ETH')).toMatchObject({
      leaving: add(before.leaving, more),
      unexplained: before.unexplained,
      where: before.where,
    });
  const fee = '0.000000000000021';
  await leaves(fee);
  const sweep = { currency: 'ETH', native: 'ETH', ref: intent.id, moved: '1.999999999999979', chainFee: fee };
  await booked(sweepJournal(sweep));
  await leaves('0');
  await db.query('UPDATE intent SET booked = true WHERE id = $1', [intent.id]);
  await leaves('0');
  // A reorganisation takes it back: the settlement stays, its fee is none any more, and the end is not booked.
  const gone = { of: `sweep/${intent.id}`, native: 'ETH', chainFee: fee, from: 'A:deposit' } as const;
  await booked(feeGoneJournal(gone));
  await db.query('UPDATE intent SET booked = false WHERE id = $1', [intent.id]);
  await leaves(fee);
  await db.transaction((tx) => reverse(tx, feeGoneKey(gone.of)));
  await db.query('UPDATE intent SET booked = true WHERE id = $1', [intent.id]);
  await leaves('0');
});

it('knows nothing while a node is away, or its tip moves', async () => {
  isAway = true;
  expect((await look()).unknown).toEqual(['ethereum']);
  isAway = false;
  tip = { height: 101, hash: 'b101', time: 0 };
  expect((await look()).unknown).toEqual(['bitcoin']);
  tip = { height: 100, hash: 'b100', time: 0 };
  expect((await look()).unknown).toEqual([]);
});

it('a double credit stops the asset, and only it, and pages once', async () => {
  const again = { network: 'ethereum', txId: 'f'.repeat(64), index: 0, currency: 'ETH', amount: '1', merchantId };
  await booked(depositJournal(again));
  for (let n = 0; n < 2; n += 1) {
    const { positions } = await look();
    expect(positions.find((one) => one.currency === 'ETH')).toMatchObject({ unexplained: '-1', where: [] });
    expect(await storePositions(db, positions)).toEqual(n ? [] : ['ETH']);
  }
  const frozen = await db.query('SELECT currency, reason FROM egress_freeze');
  expect(frozen).toEqual([{ currency: 'ETH', reason: 'The books and the chain differ by -1 ETH at block 98' }]);
  expect(await db.query(`SELECT kind, subject_kind, subject_id FROM incident`)).toEqual([
    { kind: 'unreconciled', subject_kind: 'asset', subject_id: 'ETH' },
  ]);
  const rows = await db.query(
    `SELECT currency, trim_scale(unexplained)::text AS unexplained FROM reconciliation ORDER BY currency`,
  );
  expect(rows).toEqual([
    { currency: 'BTC', unexplained: '0' },
    { currency: 'ETH', unexplained: '-1' },
    { currency: 'USDC_ERC20', unexplained: '0' },
    { currency: 'USDT_ERC20', unexplained: '0' },
  ]);
});

it('reconciles the other assets of a network where one never looks the same twice', async () => {
  drip.set('0xhot USDT_ERC20', 1n);
  const { positions, unknown, unclear } = await look();
  expect(unknown).toEqual([]);
  expect(unclear).toEqual(['USDT_ERC20']);
  expect(positions.map(({ currency }) => currency).sort()).toEqual(['BTC', 'ETH', 'USDC_ERC20']);
  expect(positions.find(({ currency }) => currency === 'ETH')).toMatchObject({ unexplained: '-1' });
  drip.clear();
  chain.delete('0xhot USDT_ERC20');
  expect(await look()).toMatchObject({ unclear: [], unknown: [] });
});

it('names the coin that is gone', async () => {
  const [gone] = [...chain.keys()].filter((key) => key.endsWith(':0'));
  chain.delete(gone!);
  expect(await of('BTC')).toMatchObject({ unexplained: '-0.5', where: [`${gone}: chain 0, rows 0.5`] });
});

describe('the ledger, asked again and again', () => {
  const read = (own: OwnSums): Promise<Sums> => db.transaction('REPEATABLE READ', (tx) => own.read(tx));
  const whole = (): Promise<Sums> => db.transaction('REPEATABLE READ', wholeSums);
  const capital = (tx: EntityManager): Promise<unknown> =>
    post(
      tx,
      capitalJournal({
        ...{ network: 'ethereum', txId: newId(), index: 0, currency: 'ETH', amount: '0.5' },
        ...{ to: 'A:treasury', from: 'Q:capital' },
      }),
    );

  it('is summed from what was posted since, and is whole also where an earlier posting commits late', async () => {
    const own = new OwnSums();
    const late = db.createQueryRunner();
    await late.startTransaction();
    await capital(late.manager); // has its ids before those that are seen
    try {
      for (let n = 0; n < 4; n += 1) {
        await db.transaction(capital);
        expect(await read(own)).toEqual(await whole());
      }
      await late.commitTransaction();
    } finally {
      await late.release();
    }
    for (let n = 0; n < 4; n += 1) {
      expect(await read(own)).toEqual(await whole());
      await db.transaction(capital);
    }
  });

  it('reads no posting twice that is closed, unless it has to forget', async () => {
    const own = new OwnSums();
    await db.transaction(capital);
    const [first] = await db.query<Array<{ id: string }>>(
      `SELECT min(id)::text AS id FROM posting WHERE debit = 'A:treasury'`,
    );
    // Nobody can do that: it shows what is read. Transactions of other tests on this server may delay that it closes.
    const change = (by: number) =>
      unguarded(db, (tx) => tx.query('UPDATE posting SET amount = amount + $1 WHERE id = $2', [by, first!.id]));
    const isReadAgain = async (): Promise<boolean> => {
      const before = await read(own);
      await change(1);
      const after = await read(own);
      await change(-1);
      return JSON.stringify(after) !== JSON.stringify(before);
    };
    const untilMs = Date.now() + 60_000;
    let isAgain = await isReadAgain();
    while (isAgain && Date.now() < untilMs) {
      own.forget(); // what was closed while it was changed
      for (let n = 0; n < 3; n += 1) await read(own);
      await sleep(50);
      isAgain = await isReadAgain();
    }
    expect(isAgain).toBe(false);
    expect(await read(own)).toEqual(await whole());
    await change(1);
    expect(await read(own)).not.toEqual(await whole());
    own.forget();
    expect(await read(own)).toEqual(await whole());
    await change(-1);
  });

  it('does not find money missing by what it remembers: the second look reads all', async () => {
    const own = new OwnSums();
    const clean = await reconcileAssets(db, adapters, () => 3, 1, own);
    const again = await reconcileAssets(db, adapters, () => 3, 1, own);
    expect(again.positions.map(({ ledger }) => ledger)).toEqual(clean.positions.map(({ ledger }) => ledger));
    const forgot = jest.spyOn(own, 'forget');
    chain.set('0xhot ETH', (chain.get('0xhot ETH') ?? 0n) + 1n);
    await reconcileAssets(db, adapters, () => 3, 1, own);
    expect(forgot).toHaveBeenCalled();
    chain.set('0xhot ETH', chain.get('0xhot ETH')! - 1n);
  });
});
