import type { DataSource } from 'typeorm';
import { refundActivities } from '../../activities/refunds/refunds';
import { signingActivities } from '../../activities/txmanager/signing';
import { cancelRefund } from '../../commands/refunds/cancel';
import { reopenRefunds } from '../../commands/refunds/reopen';
import { audit } from '../../db/audit/audit';
import { post } from '../../db/ledger/ledger';
import { changedRows } from '../../db/query';
import { adjustment } from '../../domain/ledger/entry';
import { subtract } from '../../domain/money';
import { bookEnd } from '../book-end';
import { unguarded } from '../unguarded';
import { askHeld, heldRefund, intentOf, type Held } from './held-refund';
import { estimating, nodes } from './nodes';
import { taking } from './outgoing-rows';
import { codecs, richShop, seed, type RichShop } from './rich-shop';

/** What was never credited goes back from where it came to, after an earlier try was reverted. What that has burned is
 *  gone from the deposits. */

let shop: RichShop;
let db: DataSource;
let signer: ReturnType<typeof signingActivities>;
let activities: ReturnType<typeof refundActivities>;
beforeAll(async () => {
  shop = await richShop('1');
  ({ db } = shop);
  signer = estimating(db, signingActivities({ db, codecs, seed }));
  activities = refundActivities({ db, nodes });
});
afterAll(() => shop?.stop());

const burned = '0.000042';
const spendable = async (): Promise<string> =>
  (
    await db.query(`SELECT trim_scale(amount)::text AS amount FROM balance WHERE account = $1 AND asset = 'ETH'`, [
      `L:available:${shop.merchantId}`,
    ])
  )[0].amount;
async function ended(intentId: string, success: boolean, height: number): Promise<void> {
  await db.query(
    `UPDATE attempt SET status = 'final', success = $2, block_hash = '0xa', height = $3,
            fee_units = CASE WHEN $2 THEN max_fee_units ELSE 42000000000000 END
       WHERE intent_id = $1`,
    [intentId, success, height],
  );
  await db.query(`UPDATE intent SET status = $2 WHERE id = $1`, [intentId, success ? 'final' : 'failed']);
  await bookEnd(db, intentId);
}
/** A refund whose transaction was reverted. */
async function reverted(height = 1500): Promise<Held> {
  const first = await heldRefund(shop, activities);
  expect(await signer.signOnce(first.intentId)).toEqual({ state: 'stored' });
  await ended(first.intentId, false, height);
  expect(await statusOf(first.id)).toBe('failed');
  return first;
}
const statusOf = async (id: string): Promise<string> =>
  (await db.query('SELECT status FROM refund WHERE id = $1', [id]))[0].status;
const clean = async (): Promise<unknown[]> =>
  (await audit(db, { settleMs: 1 })).filter(({ invariant }) => ['I1', 'I2', 'I3', 'I7', 'I9'].includes(invariant));

it('goes out for less by what an earlier try has burned, which its merchant does not pay as well', async () => {
  const had = await spendable();
  const first = await reverted();
  expect(subtract(had, await spendable())).toBe(burned);
  const [before] = await db.query('SELECT net_amount FROM refund WHERE id = $1', [first.id]);
  const row = await askHeld(shop, first.paymentId);
  expect(subtract(before.net_amount, row.net_amount)).toBe(burned);
  const intentId = await intentOf(activities, row.id);
  const [[was], [is]] = await Promise.all(
    [first.intentId, intentId].map((id) =>
      db.query('SELECT max_unit_price, fee_budget FROM intent WHERE id = $1', [id]),
    ),
  );
  expect(is).toEqual(was);
  expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
  // Its payer has borne it when he has got less.
  expect(subtract(had, await spendable())).toBe(burned);
  await ended(intentId, true, 1501);
  expect(await statusOf(row.id)).toBe('completed');
  expect(await spendable()).toBe(had);
  await bookEnd(db, intentId);
  expect(await spendable()).toBe(had);
  expect(await clean()).toEqual([]);
});

it('bears what its address takes by the price of this try', async () => {
  const first = await reverted();
  const { id, network_fee: fee } = await askHeld(shop, first.paymentId);
  const usual = subtract(fee, burned);
  await intentOf(refundActivities({ db, nodes: [taking(42_000)] }), id);
  const [{ added }] = await db.query('SELECT trim_scale(added_fee)::text AS added FROM refund WHERE id = $1', [id]);
  // Twice the work of the usual one.
  expect(added).toBe(usual);
});

it('costs its merchant what an earlier try has burned where a reorganisation takes it', async () => {
  const had = await spendable();
  const first = await reverted(1600);
  const { id } = await askHeld(shop, first.paymentId);
  const intentId = await intentOf(activities, id);
  expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
  await ended(intentId, true, 1601);
  expect(await spendable()).toBe(had);
  const reorganised = (): Promise<void> => db.transaction((tx) => reopenRefunds(tx, 'ethereum', 1600));
  await reorganised();
  expect(await statusOf(id)).toBe('broadcast');
  expect(subtract(had, await spendable())).toBe(burned);
  await bookEnd(db, intentId);
  expect([await statusOf(id), await spendable()]).toEqual(['completed', had]);
  // Where the merchant has spent it, the blocks are taken back all the same.
  const spent = subtract(had, '0.00001');
  const moved = (debit: string, credit: string, key: string) =>
    db.transaction((tx) =>
      post(tx, {
        key: `adjustment/${key}`,
        entry: adjustment,
        postings: [{ debit, credit, asset: 'ETH', amount: spent }] as never,
      }),
    );
  const available = `L:available:${shop.merchantId}`;
  await moved(available, 'Q:capital', 'spent');
  await reorganised();
  expect([await statusOf(id), await spendable()]).toEqual(['broadcast', '0.00001']);
  await moved('Q:capital', available, 'back');
  await bookEnd(db, intentId);
  expect([await statusOf(id), await spendable()]).toEqual(['completed', had]);
});

it('stays charged while its deposits are on their way again, whatever a reorganisation takes', async () => {
  const had = await spendable();
  const first = await reverted(1700);
  const { id } = await askHeld(shop, first.paymentId);
  await db.transaction((tx) => reopenRefunds(tx, 'ethereum', 1699));
  expect([await statusOf(first.id), subtract(had, await spendable())]).toEqual(['failed', burned]);
  await db.transaction((tx) => cancelRefund(tx, shop.merchantId, id));
});

it('is swept, where it is credited after all, with what is left of it', async () => {
  const { paymentId, address } = await reverted();
  await unguarded(db, (tx) => tx.query(`UPDATE payment SET status = 'SWEEP_QUEUED' WHERE id = $1`, [paymentId]));
  const [deposit] = await changedRows<{ id: string }>(
    db,
    `UPDATE deposit SET allocation = 'unsettled' WHERE payment_id = $1 RETURNING id`,
    [paymentId],
  );
  const [{ id: intentId }] = await db.query(
    `INSERT INTO intent (max_unit_price, fee_budget, kind, ref, network, currency, from_address, outputs,
                         deposit_ids, payment_id, merchant_id, owner_kind, owner_id, status)
     VALUES (8000000000, 1000000000000000, 'sweep', $1 || '/1', 'ethereum', 'ETH', $2,
             jsonb_build_array(jsonb_build_object('address', $3::text, 'units', NULL)),
             ARRAY[$4::bigint], $1, $5, 'sweep', $1, 'planned') RETURNING id`,
    [paymentId, address, shop.hot, deposit!.id, shop.merchantId],
  );
  expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
  const [{ needed }] = await db.query(
    'SELECT (moved_units + max_fee_units)::text AS needed FROM attempt WHERE intent_id = $1',
    [intentId],
  );
  // More is not there, and no node would take it.
  expect(needed).toBe('9958000000000000');
});
