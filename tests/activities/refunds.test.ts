import type { DataSource } from 'typeorm';
import { rollBack } from '../../txmanager/reorganise';
import { refundActivities } from '../../activities/refunds/refunds';
import { signingActivities } from '../../activities/txmanager/signing';
import { audit } from '../../db/audit/audit';
import { approveRefund } from '../../commands/refunds/approve';
import { cancelRefund } from '../../commands/refunds/cancel';
import { openRefund } from '../../commands/refunds/create';
import { newId, newSlug } from '../../domain/ids';
import { codecs, richShop, seed, strangers, type RichShop } from './rich-shop';
import { unguarded } from '../unguarded';
import { anApprover } from '../approver';
import { bookEnd } from '../book-end';
import { heldRefund, type Held } from './held-refund';
import { estimating, nodes } from './nodes';

/** What the signer signs of a refund: what its row says, once somebody has approved it, and nothing else. */

const away = codecs.ethereum.derive(strangers, 0);
const elsewhere = codecs.ethereum.derive(strangers, 1);

let shop: RichShop;
let db: DataSource;
let merchantId: string;
let signer: ReturnType<typeof signingActivities>;
let activities: ReturnType<typeof refundActivities>;
beforeAll(async () => {
  shop = await richShop('1');
  ({ db, merchantId } = shop);
  signer = estimating(db, signingActivities({ db, codecs, seed }));
  activities = refundActivities({ db, nodes });
});
afterAll(() => shop?.stop());

/** A refund that is planned and not signed. */
async function planned(amount = '0.01'): Promise<{ id: string; intentId: string }> {
  const paymentId = newId();
  await unguarded(db, (tx) =>
    tx.query(
      `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
         tolerance_pct, underpaid_policy,
       currency, network, amount, exchange_rate, amount_paid, settlement_address, custody, expires_at, expires_in)
     VALUES ($1, $2, $3, 'SETTLED', 'api', 32, 'USD', 'merchant', 40, 1, 'hold', 'ETH', 'ethereum', 0.01, 3200, 0.01,
       $4, 'platform', now(), 60)`,
      [paymentId, merchantId, newSlug(), shop.hot],
    ),
  );
  const { row } = await db.transaction((tx) =>
    openRefund(
      tx,
      { codecs, rateMaxAgeSeconds: 3600 },
      {
        merchantId,
        paymentId,
        ask: { type: 'partial', amount, address: away },
        by: { userId: newId() },
        idempotencyKey: null,
      },
    ),
  );
  const next = await activities.nextRefundIntent(row.id);
  if (!next || !('id' in next)) throw new Error(`Nothing planned: ${JSON.stringify(next)}`);
  return { id: row.id, intentId: next.id };
}
const plannedHeld = (): Promise<Held> => heldRefund(shop, activities);
const statusOf = async (id: string): Promise<string> =>
  (await db.query('SELECT status FROM refund WHERE id = $1', [id]))[0].status;
const attemptsOf = async (intentId: string): Promise<unknown[]> =>
  db.query('SELECT outputs FROM attempt WHERE intent_id = $1', [intentId]);

it('is on its way again when a reorganisation takes its transaction, and arrives again at another price', async () => {
  const { id, intentId } = await planned('0.002');
  await signer.signOnce(intentId);
  const [{ tx_id }] = await db.query('SELECT tx_id FROM attempt WHERE intent_id = $1', [intentId]);
  await db.query(
    `UPDATE refund SET status = 'broadcast', state_version = state_version + 1, tx_id = $2 WHERE id = $1`,
    [id, tx_id],
  );
  const mine = async (blockHash: string, feeUnits: string): Promise<void> => {
    await db.query(
      `UPDATE attempt SET status = 'final', success = true, block_hash = $2, height = 50, fee_units = $3
         WHERE intent_id = $1`,
      [intentId, blockHash, feeUnits],
    );
    await db.query(`UPDATE intent SET status = 'final' WHERE id = $1`, [intentId]);
    await bookEnd(db, intentId);
    await bookEnd(db, intentId);
  };
  const reorganise = async (): Promise<void> => {
    await db.query(
      `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
         VALUES ('ethereum', 60, 'x', 60, now())
       ON CONFLICT (network) DO UPDATE SET height = 60, hash = 'x'`,
    );
    await db.transaction((tx) => rollBack(tx, 'ethereum', { height: 60, hash: 'x' }, { height: 40, hash: 'y' }));
  };
  const row = async () =>
    (await db.query('SELECT status, tx_id, completed_at IS NOT NULL AS done FROM refund WHERE id = $1', [id]))[0];
  /** What this refund has done to an account. */
  const moved = async (account: string): Promise<string> =>
    (
      await db.query(
        `SELECT trim_scale(coalesce(sum(CASE WHEN p.debit = $1 THEN p.amount ELSE -p.amount END), 0))::text AS sum
           FROM posting p JOIN journal j ON j.id = p.journal_id
          WHERE $1 IN (p.debit, p.credit) AND (j.key LIKE 'hold/refund/' || $2 || '%' OR j.key LIKE 'fee/%'
            OR j.key LIKE 'reversal/%')`,
        [account, id],
      )
    )[0].sum;
  const clean = async () =>
    (await audit(db, { settleMs: 1 })).filter(({ invariant }) => ['I1', 'I2', 'I3', 'I7', 'I9'].includes(invariant));

  await mine('0xa', '21000000000000');
  expect(await row()).toEqual({ status: 'completed', tx_id, done: true });
  expect(await moved('E:network')).toBe('0.000021');
  for (const [block, fee, cost] of [
    ['0xb', '25000000000000', '0.000025'],
    ['0xc', '19000000000000', '0.000019'],
    ['0xa', '21000000000000', '0.000021'],
    ['0xb', '25000000000000', '0.000025'],
  ] as const) {
    await reorganise();
    expect(await row()).toEqual({ status: 'broadcast', tx_id, done: false });
    expect(await moved('E:network')).toBe('0');
    expect(await clean()).toEqual([]);
    await mine(block, fee);
    expect(await row()).toEqual({ status: 'completed', tx_id, done: true });
    expect(await moved('E:network')).toBe(cost);
    expect(await clean()).toEqual([]);
  }
  const events = await db.query('SELECT type FROM event WHERE entity_id = $1 ORDER BY seq', [id]);
  expect(events.map((event: { type: string }) => event.type).slice(-3)).toEqual([
    'refund.completed',
    'refund.broadcast',
    'refund.completed',
  ]);
  await expect(
    db.query(`UPDATE refund SET status = 'processing', state_version = state_version + 1 WHERE id = $1`, [id]),
  ).rejects.toThrow('may not go from completed to processing');
});

/** The chain no longer has the block of height 2000. */
async function takenBack(): Promise<void> {
  await db.query(
    `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
       VALUES ('ethereum', 2000, 'x', 2000, now())
     ON CONFLICT (network) DO UPDATE SET height = 2000, hash = 'x'`,
  );
  await db.transaction((tx) => rollBack(tx, 'ethereum', { height: 2000, hash: 'x' }, { height: 1999, hash: 'y' }));
}

it.each([
  ['from the balance', true],
  ['from the balance', false],
  ['from where it came to', true],
  ['from where it came to', false],
] as const)(
  '%s: ends otherwise after a reorganisation, as often as it comes; arrived at first: %s',
  async (source, first) => {
    const { id, intentId } = await (source === 'from the balance' ? planned('0.002') : plannedHeld());
    await signer.signOnce(intentId);
    const amounts = async (): Promise<unknown> =>
      db.query(
        `SELECT account, trim_scale(amount)::text AS amount FROM balance WHERE account LIKE 'L:%:' || $1
           AND asset = 'ETH' ORDER BY account`,
        [merchantId],
      );
    const held = await amounts();
    for (const success of [first, !first, first, !first]) {
      await db.query(
        `UPDATE attempt SET status = 'final', success = $2, block_hash = '0xa', height = 2000, fee_units = 21000
           WHERE intent_id = $1`,
        [intentId, success],
      );
      await db.query(`UPDATE intent SET status = $2 WHERE id = $1`, [intentId, success ? 'final' : 'failed']);
      await bookEnd(db, intentId);
      expect(await statusOf(id)).toBe(success ? 'completed' : 'failed');
      await takenBack();
      expect([await statusOf(id), await amounts()]).toEqual(['broadcast', held]);
      expect(
        (await audit(db, { settleMs: 1 })).filter(({ invariant }) =>
          ['I1', 'I2', 'I3', 'I7', 'I9'].includes(invariant),
        ),
      ).toEqual([]);
    }
  },
);

it('what went back to where it was, and is in other hands since, stays failed', async () => {
  const { id, intentId } = await plannedHeld();
  await signer.signOnce(intentId);
  await db.query(
    `UPDATE attempt SET status = 'final', success = false, block_hash = '0xa', height = 2000, fee_units = 21000
       WHERE intent_id = $1`,
    [intentId],
  );
  await db.query(`UPDATE intent SET status = 'failed' WHERE id = $1`, [intentId]);
  await bookEnd(db, intentId);
  await db.query(
    `UPDATE deposit SET allocation = 'unsettled' WHERE id = ANY(SELECT unnest(deposit_ids) FROM refund WHERE id = $1)`,
    [id],
  );
  await takenBack();
  expect(await statusOf(id)).toBe('failed');
  expect(await db.query('SELECT kind FROM incident WHERE key = $1', [`hold-gone/refund/${id}`])).toHaveLength(1);
});

it('signs it once, and the row says so', async () => {
  const { id, intentId } = await planned();
  expect(await activities.nextRefundIntent(id)).toMatchObject({ id: intentId });
  const all = await Promise.all([1, 2, 3].map(() => signer.signOnce(intentId)));
  expect(all).toEqual(all.map(() => ({ state: 'stored' })));
  expect(await attemptsOf(intentId)).toEqual([{ outputs: [{ address: away, units: '10000000000000000' }] }]);
  expect(await statusOf(id)).toBe('processing');
  await expect(db.transaction((tx) => cancelRefund(tx, merchantId, id))).rejects.toThrow('not in a state');
});

it.each<[string, string]>([
  ['another address', `UPDATE refund SET address = '${elsewhere}' WHERE id = $1`],
  [
    'another amount',
    `UPDATE refund SET net_amount = net_amount - 0.001, gross_amount = gross_amount - 0.001, amount = amount - 0.001
       WHERE id = $1`,
  ],
  ['no approval', `UPDATE refund SET approved_at = NULL WHERE id = $1`],
  ['an approval still to come', `UPDATE refund SET status = 'awaiting_approval', state_version = 2 WHERE id = $1`],
  [
    'an intent to another address',
    `UPDATE intent SET outputs = jsonb_set(outputs, '{0,address}', '"${elsewhere}"') WHERE ref = $1`,
  ],
  [
    'an intent with another amount',
    `UPDATE intent SET outputs = jsonb_set(outputs, '{0,units}', '"1"') WHERE ref = $1`,
  ],
  [
    'an intent with another output',
    `UPDATE intent SET outputs = outputs || '[{"address":"${elsewhere}","units":"1"}]' WHERE ref = $1`,
  ],
  ['an intent of nobody', `UPDATE intent SET owner_id = 'none' WHERE ref = $1`],
])('signs nothing with %s', async (_what, change) => {
  const { id, intentId } = await planned();
  await unguarded(db, (tx) => tx.query(change, [id]));
  await expect(signer.signOnce(intentId)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
  expect(await attemptsOf(intentId)).toEqual([]);
});

it("signs nothing from a payer's deposit address", async () => {
  const deposit = codecs.ethereum.derive(codecs.ethereum.extendedKey(seed, 'deposit'), 0);
  await db.query(
    `INSERT INTO address (network, address, role, key_index, merchant_id) VALUES ('ethereum', $1, 'deposit', 0, $2)`,
    [deposit, merchantId],
  );
  const { id, intentId } = await planned();
  await db.query('UPDATE intent SET from_address = $2 WHERE ref = $1', [id, deposit]);
  await expect(signer.signOnce(intentId)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
});

it('signs nothing that was cancelled, and frees its plan', async () => {
  const { id, intentId } = await planned();
  await db.transaction((tx) => cancelRefund(tx, merchantId, id));
  expect(await signer.signOnce(intentId)).toEqual({ state: 'dropped' });
  expect(await activities.nextRefundIntent(id)).toBeNull();
  await expect(db.transaction((tx) => approveRefund(tx, merchantId, id, anApprover()))).rejects.toThrow(
    'not in a state',
  );
});

it('cancelling and signing exclude each other', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { id, intentId } = await planned('0.001');
    const [signed, cancelled] = await Promise.allSettled([
      signer.signOnce(intentId),
      db.transaction((tx) => cancelRefund(tx, merchantId, id)),
    ]);
    const isSigned = signed.status === 'fulfilled' && signed.value.state === 'stored';
    expect(isSigned).toBe(cancelled.status === 'rejected');
    expect(await statusOf(id)).toBe(isSigned ? 'processing' : 'cancelled');
    expect(await attemptsOf(intentId)).toHaveLength(isSigned ? 1 : 0);
  }
});

it('waits where the address no longer holds enough', async () => {
  const { intentId } = await planned();
  await db.query(`UPDATE deposit SET amount = 0.0001 WHERE tx_id = '0x01'`);
  expect(await signer.signOnce(intentId)).toMatchObject({ state: 'waiting' });
  await db.query(`UPDATE deposit SET amount = 1 WHERE tx_id = '0x01'`);
  expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
});
