import type { DataSource } from 'typeorm';
import { treasuryMaintenanceActivities } from '../../activities/treasury/maintenance';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { validateRows } from '../../commands/payouts/validate';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { post } from '../../db/ledger/ledger';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { utxoOf, utxoWork } from '../../domain/chains/costs';
import { parseConfig } from '../../domain/config';
import { newId } from '../../domain/ids';
import { adjustment } from '../../domain/ledger/entry';
import { fromUnits } from '../../domain/money';
import { nodes } from './nodes';
import { codecs, richShop, seed, type RichShop } from './rich-shop';

/** What a Bitcoin withdrawal is charged follows the coins that pay it. */

const ann = { id: newId(), email: 'ann@shop.example' };
const deps = { codecs, rateMaxAgeSeconds: 3600 };
const bitcoiners = codecs.bitcoin.extendedKey(Buffer.alloc(64, 9), 'deposit');
const price = 50n;
const feeOf = (inputs: number, outputs = 2): string =>
  fromUnits(price * utxoWork(utxoOf('BTC'), { inputs, outputs }), 8);

let shop: RichShop;
let db: DataSource;
let address: string;
beforeEach(async () => {
  shop = await richShop('1');
  ({ db } = shop);
  const hot = codecs.bitcoin.derive(codecs.bitcoin.extendedKey(seed, 'treasury'), 0);
  await db.query(`INSERT INTO address (network, address, role, key_index) VALUES ('bitcoin', $1, 'treasury', 0)`, [
    hot,
  ]);
  await db.query(
    `INSERT INTO network_fee (network, unit_price, tip_price, taken_at) VALUES ('bitcoin', $1, 0, now())`,
    [price.toString()],
  );
  await db.query(
    `WITH r AS (INSERT INTO rate (currency, fiat, value, sources, taken_at)
                VALUES ('BTC', 'USD', 64000, '[]', now()) RETURNING *)
     INSERT INTO rate_latest (currency, fiat, rate_id, value, taken_at)
     SELECT currency, fiat, id, value, taken_at FROM r`,
  );
  // Sixty coins of 0.001 BTC.
  await db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
                          first_seen_at, allocation)
     SELECT 'bitcoin', repeat('ab', 32), n, $1, 'treasury', 'BTC', 0.001, 0.001, false, 'confirmed', now(), 'own'
       FROM generate_series(1, 60) n`,
    [hot],
  );
  await db.transaction((tx) =>
    post(tx, {
      key: 'coins',
      entry: adjustment,
      postings: [{ debit: 'A:treasury', credit: `L:available:${shop.merchantId}`, asset: 'BTC', amount: '0.06' }],
    }),
  );
  address = codecs.bitcoin.derive(bitcoiners, 1);
  await addToWhitelist(db, shop.merchantId, ann, { type: 'wallet', currency: 'BTC', address, destinationTag: null });
});
afterEach(() => shop.stop());

const opened = async (amount: string): Promise<{ id: string; network_fee: string }> =>
  (
    await db.transaction((tx) =>
      openWithdrawal(tx, deps, shop.merchantId, { currency: 'BTC', amount, feeMode: 'add', address }, ann, newId()),
    )
  ).row;
const inputsOf = async (id: string): Promise<number> => {
  await withdrawalActivities({ db, nodes }).nextWithdrawalIntent(id);
  const [row] = (await db.query('SELECT cardinality(deposit_ids) AS n FROM intent WHERE owner_id = $1', [id])) as [
    { n: number },
  ];
  return row.n;
};

describe('A6: the charge follows the coins', () => {
  it('of a withdrawal, and of the next one beside it', async () => {
    const [first, second] = [await opened('0.005'), await opened('0.005')];
    for (const { id, network_fee } of [first, second]) {
      const inputs = await inputsOf(id);
      expect(inputs).toBeGreaterThan(5);
      expect(Number(network_fee)).toBe(Number(feeOf(inputs)));
    }
  });

  it('of one that the largest coin pays: that of the usual transaction', async () => {
    expect(Number((await opened('0.0005')).network_fee)).toBe(Number(feeOf(1)));
  });

  it('of a mass payout, all of whose rows one transaction pays', async () => {
    const rows = Array.from({ length: 3 }, () => ({ currency: 'BTC', address, amount: '0.004' }));
    const { feeByCurrency } = await validateRows(db, deps, shop.merchantId, rows);
    expect(Number(feeByCurrency.BTC)).toBeGreaterThanOrEqual(Number(feeOf(13, 4)));
  });
});

it('A6: an estimate that is too old is an incident, until there is a new one', async () => {
  const config = parseConfig({});
  const { maintainTreasury } = treasuryMaintenanceActivities({ db, config });
  await db.query(`INSERT INTO address (network, address, role, key_index) VALUES ('ethereum', $1, 'gas', 0)`, [
    codecs.ethereum.derive(codecs.ethereum.extendedKey(seed, 'gas'), 0),
  ]);
  const open = async (): Promise<unknown[]> =>
    db.query(`SELECT subject_id FROM incident WHERE kind = 'fee-estimate-missing' AND resolved_at IS NULL`);
  await maintainTreasury();
  expect(await open()).toEqual([]);
  await db.query(`UPDATE network_fee SET taken_at = now() - interval '11 minutes' WHERE network = 'bitcoin'`);
  await maintainTreasury();
  expect(await open()).toEqual([{ subject_id: 'bitcoin' }]);
  await expect(opened('0.001')).rejects.toMatchObject({ code: 'RATE_UNAVAILABLE' });
  await db.query(`UPDATE network_fee SET taken_at = now()`);
  await maintainTreasury();
  expect(await open()).toEqual([]);
  // Of a network that is off no estimate is asked for.
  await db.query(`UPDATE network_fee SET taken_at = now() - interval '11 minutes' WHERE network = 'bitcoin'`);
  await treasuryMaintenanceActivities({ db, config: { networks: ['ethereum'] } }).maintainTreasury();
  expect(await open()).toEqual([]);
});
