import type { DataSource } from 'typeorm';
import { parseTransaction, type Hex } from 'viem';
import { signingActivities } from '../../activities/txmanager/signing';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { newId } from '../../domain/ids';
import { estimating, nodes } from './nodes';
import { codecs, richShop, seed, strangers, type RichShop } from './rich-shop';

/** A part of the price pays for data on another chain: it is kept, counted everywhere, and offered nowhere. */

const gwei = 10n ** 9n;
const by = { id: newId(), email: 'ann@shop.example' };
let shop: RichShop;
let db: DataSource;
let signer: ReturnType<typeof signingActivities>;
beforeEach(async () => {
  shop = await richShop('1000');
  ({ db } = shop);
  signer = estimating(db, signingActivities({ db, codecs, seed }));
  await db.query(
    `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
     VALUES ('ethereum', 100, 'e', 100, 'infinity')`,
  );
});
afterEach(() => shop.stop());

const prices = (unit: bigint, data: bigint): Promise<unknown> =>
  db.query(
    `UPDATE network_fee SET unit_price = $1, tip_price = 1000000, data_part = $2, taken_at = now()
      WHERE network = 'ethereum'`,
    [unit.toString(), data.toString()],
  );
async function planned(): Promise<string> {
  const address = codecs.ethereum.derive(strangers, 1);
  await addToWhitelist(db, shop.merchantId, by, { type: 'wallet', currency: 'ETH', address, destinationTag: null });
  const ask = { currency: 'ETH', amount: '1', feeMode: 'add' as const, address };
  const { row } = await db.transaction((tx) =>
    openWithdrawal(tx, { codecs, rateMaxAgeSeconds: 3600 }, shop.merchantId, ask, by, newId()),
  );
  await withdrawalActivities({ db, nodes }).nextWithdrawalIntent(row.id);
  const [intent] = await db.query('SELECT id FROM intent WHERE owner_id = $1', [row.id]);
  return intent.id;
}
type Attempt = { unit: string; data: string; most: string; raw: Hex };
async function attempts(intentId: string): Promise<Array<Attempt & { offered: bigint; gas: bigint }>> {
  const rows = await db.query<Attempt[]>(
    `SELECT trim_scale(unit_price)::text AS unit, trim_scale(data_part)::text AS data, max_fee_units::text AS most, raw
       FROM attempt WHERE intent_id = $1 ORDER BY n`,
    [intentId],
  );
  return rows.map((row) => {
    const { maxFeePerGas, gas } = parseTransaction(row.raw);
    return { ...row, offered: maxFeePerGas!, gas: gas! };
  });
}

it('is no part of what a transaction offers, and part of what it may cost', async () => {
  await prices(3n * gwei, gwei);
  const intentId = await planned();
  expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
  const [first] = await attempts(intentId);
  expect(first).toMatchObject({ unit: String(3n * gwei), data: String(gwei), offered: 2n * gwei });
  expect(BigInt(first!.most)).toBe(first!.gas * 3n * gwei);
});

it.each([
  ['as much as the price', gwei, gwei],
  ['more than the price', gwei, 2n * gwei],
])('that takes %s leaves nothing to offer: nothing is signed', async (_, unit, data) => {
  await prices(3n * gwei, 0n);
  const intentId = await planned();
  await prices(unit, data);
  expect((await signer.signOnce(intentId)).state).not.toBe('stored');
  expect(await attempts(intentId)).toEqual([]);
});

it.each([
  ['higher', 3n * gwei],
  ['cheaper', 0n],
])('that became %s leaves a replacement an eighth more to offer', async (_, data) => {
  await prices(3n * gwei, gwei);
  const intentId = await planned();
  await signer.signOnce(intentId);
  await db.query(`UPDATE attempt SET status = 'sent', sent_at = now() - interval '6 hours'`);
  await db.query(`UPDATE intent SET status = 'sent'`);
  await prices(2n * gwei + data, data);
  await signer.signBump(intentId, 1);
  const [first, second] = await attempts(intentId);
  expect(second!.offered * 8n >= first!.offered * 9n).toBe(true);
  expect([second!.data, BigInt(second!.unit) - second!.offered]).toEqual([String(data), data]);
});
