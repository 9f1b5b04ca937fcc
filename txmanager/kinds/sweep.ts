import type { EntityManager } from 'typeorm';
import type { FinalAttempt } from '../../db/chains/attempts';
import { notifyPayment } from '../../db/chains/notify';
import { bookFeeChange, ensure, reverse, type Mined } from '../../db/ledger/ledger';
import { depositsById } from '../../db/payments/deposits';
import { disband } from '../../db/sweeps/sweeps';
import {
  accountsOf,
  dropShares,
  sharesOf,
  type AttemptRow,
  type IntentRow,
  type ShareRow,
} from '../../db/txmanager/intents';
import { sweptPayments } from '../../db/txmanager/sign-facts';
import { assetOf, networkOf, type Currency } from '../../domain/chains/assets';
import { feeGoneJournal, feeGoneKey, type FeePayer } from '../../domain/ledger/ledger';
import { fromUnits } from '../../domain/money';
import { feeCapacityOf, shareOut } from '../../domain/sweeps/sweep-batch';
import type { InsideFacts } from '../obligation';
import { invoicesOf } from './invoices';
import { transferText, type Booking, type OutgoingKind } from './kind';

/** Does the gas wallet pay for it? */
const isTokenBatch = (intent: IntentRow): boolean =>
  intent.payment_id === null && networkOf(intent.currency).kind === 'account';

/** Moves a confirmed payment's money, or that of many, to the settlement address. */
export const sweep: OutgoingKind = {
  kind: 'sweep',
  summary: async (tx, intent) => transferText('Sweep', intent) + (await invoicesOf(tx, intent)),
  owner: null,
  obligation: null,
  inside: sweepFacts,
  book: bookSweep,
  isGasPaid: isTokenBatch,
  taken: noteBroadcast,
  reverted: tellOfFailure,
  unbook: unbookSweep,
  openRows: [
    {
      workflow: 'sweep',
      sql: `SELECT DISTINCT i.payment_id AS id, jsonb_build_object('MerchantId', i.merchant_id,
                     'PaymentId', i.payment_id) AS attributes
              FROM intent i WHERE NOT i.booked AND i.status <> 'dead' AND i.payment_id IS NOT NULL
               AND i.created_at < now() - interval '60 seconds'`,
    },
    {
      workflow: 'sweepBatch',
      sql: `SELECT i.owner_id AS id,
                   jsonb_build_object('MerchantId', i.merchant_id) AS attributes
              FROM intent i WHERE i.owner_kind = 'sweep-batch' AND NOT i.booked AND i.status <> 'dead'
               AND i.created_at < now() - interval '60 seconds'`,
    },
  ],
  shortfallEnds: null,
};

/** Its payments say that it is sent. */
function noteBroadcast(tx: EntityManager, intent: IntentRow, txId: string): Promise<unknown> {
  return tx.query(
    `UPDATE payment SET sweep_state = 'broadcast', sweep_tx_id = $2 WHERE sweep_state = 'queued' AND id = ANY(ARRAY(
       SELECT $1::char(24) UNION ALL SELECT payment_id FROM sweep_share WHERE intent_id = $3 AND dropped_at IS NULL))`,
    [intent.payment_id, txId, intent.id],
  );
}

/** A sweep was reverted: its payment is notified and plans again. Other sweeps that were planned from the same address
 *  end unsigned, because the gas that was brought for all of them is used. */
async function tellOfFailure(tx: EntityManager, intent: IntentRow): Promise<void> {
  const { id, payment_id: paymentId, owner_id: ownerId, from_address: from } = intent;
  await disband(tx, id, 'its transaction was reverted');
  // A repeat finds what was planned since, which stays.
  if (paymentId === null || intent.booked) return;
  await tx.query(
    `UPDATE intent SET status = 'dead', updated_at = now()
      WHERE owner_kind = 'sweep' AND owner_id = $1 AND status = 'planned'
        AND (from_address = $2 OR outputs->0->>'address' = $2)`,
    [ownerId, from],
  );
  await notifyPayment(tx, paymentId);
}

/** A sweep goes to the merchant's own address where its payments settle there, or to our treasury. */
async function sweepFacts(tx: EntityManager, intents: readonly IntentRow[]): Promise<ReadonlyMap<string, InsideFacts>> {
  const payments = await sweptPayments(
    tx,
    intents.map((intent) => intent.id),
  );
  return new Map(
    intents.map(({ id }) => {
      const swept = payments.filter((one) => one.intent_id === id);
      return [
        id,
        {
          merchantIds: [...new Set(swept.map((one) => one.merchant_id))],
          roles: ['treasury'],
          addresses: swept.flatMap(({ address, custody }) => (custody === 'external' && address ? [address] : [])),
          movesDeposits: true,
          isForOthers: false,
        },
      ];
    }),
  );
}

/** The settlement of its payments books what a sweep moves: here is what a second transaction of it costs besides.
 *  Notifies the payments. */
async function bookSweep(tx: EntityManager, { intent, mined, paid }: Booking): Promise<void> {
  await reverse(tx, feeGoneKey(`sweep/${intent.id}`));
  await bookFeeChange(tx, `sweep/${intent.id}`, { ...paid, from: 'A:deposit' });
  const paymentIds = intent.payment_id ? [intent.payment_id] : await shareFee(tx, intent, mined, paid);
  await tx.query(
    `UPDATE payment SET sweep_state = 'confirmed', sweep_tx_id = $2 WHERE id = ANY($1) AND status = 'SWEEP_QUEUED'`,
    [paymentIds, mined.tx_id],
  );
  for (const paymentId of paymentIds) await notifyPayment(tx, paymentId);
}

/** Takes back the fees that its settlements had booked; the settlements stay. */
async function unbookSweep(tx: EntityManager, { intentId }: FinalAttempt): Promise<void> {
  const fees = await tx.query<Array<{ of: string; native: Currency; chainFee: string; from: FeePayer }>>(
    `SELECT j.key AS of, p.asset AS native, trim_scale(p.amount)::text AS "chainFee", p.credit AS "from"
       FROM journal j JOIN posting p ON p.journal_id = j.id
      WHERE p.debit = 'E:network' AND j.key IN (SELECT 'sweep/' || $1::text UNION ALL
        SELECT 'sweep/' || intent_id || '/' || payment_id FROM sweep_share WHERE intent_id = $1::bigint)`,
    [intentId],
  );
  for (const fee of fees) await ensure(tx, feeGoneJournal(fee));
}

/** Books each payment's part of what a batch's transaction cost, and drops the payments whose coins it did not
 *  spend. Returns the payments that it moved. */
async function shareFee(
  tx: EntityManager,
  intent: IntentRow,
  mined: AttemptRow,
  paid: Omit<Mined, 'from'>,
): Promise<string[]> {
  const shares = await sharesOf(tx, intent.id);
  const deposits = await depositsById(tx, intent.deposit_ids);
  const spent = new Set([
    ...deposits.filter((one) => mined.inputs.includes(`${one.tx_id}:${one.out_index}`)).map((one) => one.id),
    ...(await accountsOf(tx, mined.id)).flatMap((account) => account.deposit_ids),
  ]);
  const isIn = (share: ShareRow): boolean => share.deposit_ids.every((id) => spent.has(id));
  const members = shares.filter(isIn);
  const fee = BigInt(mined.fee_units ?? '0');
  const parts = shareOut(
    fee,
    members.map((share) => ({
      workShare: BigInt(share.deposit_ids.length),
      // Tokens do not bear their gas in what they are: their settlement charges it.
      feeCapacity: isTokenBatch(intent) ? fee : capacityOfShare(share),
    })),
  );
  for (const [index, share] of members.entries())
    await tx.query('UPDATE sweep_share SET fee_units = $3 WHERE intent_id = $1 AND payment_id = $2', [
      intent.id,
      share.payment_id,
      parts[index]!.toString(),
    ]);
  const booked = await tx.query<Array<{ key: string }>>('SELECT key FROM journal WHERE key = ANY($1)', [
    members.map((share) => `sweep/${intent.id}/${share.payment_id}`),
  ]);
  for (const { key } of booked) await reverse(tx, feeGoneKey(key));
  const isBooked = (share: ShareRow): boolean => booked.some(({ key }) => key.endsWith(`/${share.payment_id}`));
  const again = parts.filter((_, index) => isBooked(members[index]!)).reduce((sum, part) => sum + part, 0n);
  await bookFeeChange(
    tx,
    booked.map(({ key }) => key),
    {
      ...paid,
      chainFee: fromUnits(again, assetOf(paid.native).decimals),
      from: isTokenBatch(intent) ? 'A:gas' : 'A:deposit',
    },
  );
  const left = shares.filter((share) => !isIn(share));
  await dropShares(tx, left, 'its deposits were not there when the batch was sent');
  for (const share of left) await notifyPayment(tx, share.payment_id);
  return members.map((share) => share.payment_id);
}
const capacityOfShare = (share: ShareRow): bigint =>
  feeCapacityOf({
    broughtUnits: BigInt(share.brought_units),
    netUnits: share.net_units === null ? null : BigInt(share.net_units),
  });
