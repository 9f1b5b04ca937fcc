import { lockBatch, legsOf } from '../../db/payouts/payouts';
import { unlistedAmong } from '../../db/wallets/whitelist';
import { failPoint } from '../../db/fail-point';
import { heldUpWallets } from '../../db/treasury/lanes';
import { refreshBatch } from '../../commands/payouts/refresh';
import { bookIntent } from '../book';
import type { EntityManager } from 'typeorm';
import { networkOf, type NetworkId } from '../../domain/chains/assets';
import { destinationOf } from '../../domain/chains/tags';
import { completeLegs, failUnlisted, unitsOf } from './payout-line';
import { leaveHeldUpWallets } from '../leave-wallet';
import { planEgress } from '../plan-outgoing';
import { type BatchRow, type LegRow, payoutWindow } from '../../domain/payouts/payout';

/** What a batch needs next. */

export type PayoutStep = Readonly<{
  /** Something is planned and not signed. */
  sign: boolean;
  /** Where something is to be signed or sent, or not mined yet. */
  networks: readonly NetworkId[];
  lookAgainInMs: number;
  summary: string;
}>;
/** Recipients of one transaction, where a transaction pays many. */
const perTransaction = 100;
/** Ends booked in one transaction. */
const perBooking = 64;
/** Whether there was something to book. First what has arrived, then, in another transaction, what was reverted: each locks the balances
 *  currency by currency. */
export async function bookEnded(tx: EntityManager, batchId: string): Promise<boolean> {
  const batch = await lockBatch(tx, batchId);
  if (!batch) throw new Error(`No payout ${batchId}`);
  const ended = await tx.query<Array<{ id: string; currency: string; is_paid: boolean }>>(
    `SELECT id, currency, kind = 'leg' AND status = 'final' AS is_paid FROM intent WHERE owner_kind = 'payout-batch' AND owner_id = $1 AND NOT booked AND status IN ('final', 'failed')
      ORDER BY id LIMIT $2 FOR UPDATE`,
    [batchId, perBooking],
  );
  const paid = ended.filter((intent) => intent.is_paid).map((intent) => intent.id);
  if (paid.length) await bookPaid(tx, batchId, paid);
  else
    for (const { id } of ended.toSorted((a, b) => (a.currency < b.currency ? -1 : a.currency > b.currency ? 1 : 0)))
      await bookIntent(tx, id);
  if (ended.length) await refreshBatch(tx, batch);
  if (ended.length) await failPoint('payout.beforeBooked');
  return ended.length > 0;
}

/** The ends of payments that have arrived, many at a time. */
async function bookPaid(tx: EntityManager, batchId: string, ids: readonly string[]): Promise<void> {
  const mined = await tx.query<Array<{ intent_id: string; tx_id: string; fee_units: string; block_hash: string }>>(
    `SELECT intent_id, tx_id, fee_units::text, block_hash FROM attempt WHERE intent_id = ANY($1::bigint[]) AND status = 'final' ORDER BY intent_id`,
    [ids],
  );
  const legs = await legsOf(tx, batchId);
  await completeLegs(
    tx,
    mined.map((one) => ({ mined: one, legs: legs.filter((leg) => leg.intent_id === one.intent_id) })),
  );
  await tx.query('UPDATE intent SET booked = true, updated_at = now() WHERE id = ANY($1::bigint[])', [ids]);
}
/** Plans the payments that nothing is planned for, as many as may be under way. Why others wait; null where none is left. */
export async function planPending(tx: EntityManager, batchId: string): Promise<string[] | null> {
  const batch = await lockBatch(tx, batchId);
  if (!batch?.approved_at) return null;
  await leaveHeldUpWallets(tx, { kind: 'payout-batch', id: batchId });
  const pending = await legsOf(tx, batchId, ['pending']);
  if (!pending.length) return null;
  const unlisted = await unlistedAmong(tx, pending);
  if (unlisted.length) {
    await failUnlisted(tx, unlisted);
    await refreshBatch(tx, batch);
  }
  const planned = new Set(
    (
      await tx.query<Array<{ id: string }>>(
        `SELECT id FROM intent WHERE owner_kind = 'payout-batch' AND owner_id = $1 AND status <> 'dead'`,
        [batchId],
      )
    ).map((row) => row.id),
  );
  const gone = new Set(unlisted.map((leg) => leg.id));
  const left = pending.filter((leg) => !gone.has(leg.id) && (leg.intent_id === null || !planned.has(leg.intent_id)));
  const reasons: string[] = [];
  for (const currency of [...new Set(left.map((leg) => leg.currency))].sort()) {
    const reason = await planCurrency(
      tx,
      batch,
      left.filter((leg) => leg.currency === currency),
    );
    if (reason) reasons.push(reason);
  }
  return reasons;
}

async function planCurrency(tx: EntityManager, batch: BatchRow, legs: readonly LegRow[]): Promise<string | null> {
  const { currency, network } = legs[0]!;
  const isUtxo = networkOf(currency).kind === 'utxo';
  // What waits in a lane that is held up keeps nothing out of the others.
  const [known] = await tx.query<Array<{ all: number; open: number }>>(
    `SELECT count(*)::int AS all,
            (count(*) FILTER (WHERE status IN ('planned', 'stored', 'sent') AND NOT from_address = ANY($3)))::int
              AS open
       FROM intent WHERE owner_kind = 'payout-batch' AND owner_id = $1 AND kind = 'leg' AND network = $2`,
    [batch.id, network, isUtxo ? [] : await heldUpWallets(tx, network)],
  );
  const room = isUtxo ? perTransaction : payoutWindow - known!.open;
  if (room <= 0) return null;
  const ref = isUtxo ? `${batch.id}/${known!.all + 1}` : batch.id;
  const some = legs.slice(0, room);
  const plan = await planEgress(tx, {
    kind: 'leg',
    ref,
    currency,
    outputs: some.map((leg) => ({ ref: leg.id, ...destinationOf(leg), units: unitsOf(leg) })),
    merchantId: batch.merchant_id,
    owner: { kind: 'payout-batch', id: batch.id },
  });
  await tx.query(
    `UPDATE payout_leg l SET intent_id = i.id FROM intent i
      WHERE l.id = ANY($1) AND l.status = 'pending' AND i.kind = 'leg' AND i.ref = coalesce($2, l.id)`,
    [plan.planned, isUtxo ? ref : null],
  );
  return plan.reason;
}
