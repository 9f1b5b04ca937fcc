import type { EntityManager } from 'typeorm';
import { isByLightning, networkOf, type NetworkId } from '../../domain/chains/assets';
import { destinationOf } from '../../domain/chains/tags';
import { payoutWindow, unitsOf, type BatchRow, type PayoutLineRow } from '../../domain/payouts/payout';
import { linesOf, linesPaidBy, lockBatch } from '../../db/payouts/payouts';
import { heldUpWallets } from '../../db/treasury/lanes';
import { unlistedAmong } from '../../db/wallets/whitelist';
import { refreshBatch } from '../../commands/payouts/refresh';
import { failUnlisted, completeLines } from './payout-line-end';
import { leaveHeldUpWallets } from '../leave-wallet';
import { planOutgoing } from '../plan-outgoing';
import { failPoint } from '../../db/fail-point';
import { bookIntent } from '../book';

/** Mass payouts alone plan and book many intents at once: here; what one of them may pay is in payout-line.ts. */

/** Recipients of one transaction, where a transaction pays many. */
const perTransaction = 100;

/** Plans the lines that nothing is planned for, as many as may be under way. Why others wait; null where none is
 *  left. What goes by Lightning has no plan: the signer looks for its rows. `network`: lines on it alone. */
export async function planPending(tx: EntityManager, batchId: string, network?: NetworkId): Promise<string[] | null> {
  const batch = await lockBatch(tx, batchId);
  if (!batch?.approved_at) return null;
  await leaveHeldUpWallets(tx, { kind: 'payout-batch', id: batchId }, network);
  const all = await linesOf(tx, batchId, ['pending']);
  const pending = all.filter((line) => !isByLightning(line.currency) && line.network === (network ?? line.network));
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
  const gone = new Set(unlisted.map((line) => line.id));
  const left = pending.filter(
    (line) => !gone.has(line.id) && (line.intent_id === null || !planned.has(line.intent_id)),
  );
  const reasons: string[] = [];
  for (const currency of [...new Set(left.map((line) => line.currency))].sort()) {
    const reason = await planCurrency(
      tx,
      batch,
      left.filter((line) => line.currency === currency),
    );
    if (reason) reasons.push(reason);
  }
  return reasons;
}

async function planCurrency(
  tx: EntityManager,
  batch: BatchRow,
  lines: readonly PayoutLineRow[],
): Promise<string | null> {
  const { currency, network } = lines[0]!;
  const isUtxo = networkOf(currency).kind === 'utxo';
  // Transactions of coins are numbered through all networks of a batch. Intents that wait in a lane that is held up do
  // not count against the others, and those of an asset that nothing is signed of not against other assets: the signer
  // keeps all of them within the window of their wallet.
  const [known] = await tx.query<Array<{ all: number; open: number }>>(
    `SELECT count(*)::int AS all,
            (count(*) FILTER (WHERE network = $2 AND (status IN ('stored', 'sent')
              OR status = 'planned' AND currency = $4) AND NOT from_address = ANY($3)))::int AS open
       FROM intent WHERE owner_kind = 'payout-batch' AND owner_id = $1 AND kind = 'leg'`,
    [batch.id, network, isUtxo ? [] : await heldUpWallets(tx, network), currency],
  );
  const free = isUtxo ? perTransaction : payoutWindow - known!.open;
  if (free <= 0) return null;
  const ref = isUtxo ? `${batch.id}/${known!.all + 1}` : batch.id;
  const some = lines.slice(0, free);
  const plan = await planOutgoing(tx, {
    kind: 'leg',
    ref,
    currency,
    outputs: some.map((line) => ({ ref: line.id, ...destinationOf(line), units: unitsOf(line) })),
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

/** Ends booked in one transaction. */
const perBooking = 64;

/** Whether there was something to book. First what has arrived, then, in another transaction, what was reverted or
 *  decided: each locks the balances currency by currency. `network`: what has ended on it alone. */
export async function bookEnded(tx: EntityManager, batchId: string, network?: NetworkId): Promise<boolean> {
  const batch = await lockBatch(tx, batchId);
  if (!batch) throw new Error(`No payout ${batchId}`);
  const ended = await tx.query<Array<{ id: string; currency: string; is_paid: boolean }>>(
    `SELECT id, currency, kind = 'leg' AND status = 'final' AND NOT EXISTS (
              SELECT FROM attempt a WHERE a.intent_id = intent.id AND a.decision IS NOT NULL) AS is_paid FROM intent
      WHERE owner_kind = 'payout-batch' AND owner_id = $1 AND NOT booked AND status IN ('final', 'failed')
        AND network = coalesce($3, network) ORDER BY id LIMIT $2 FOR UPDATE`,
    [batchId, perBooking, network ?? null],
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

/** Books the ends of lines that have arrived, many at a time. */
async function bookPaid(tx: EntityManager, batchId: string, ids: readonly string[]): Promise<void> {
  const mined = await tx.query<Array<{ intent_id: string; tx_id: string; fee_units: string; block_hash: string }>>(
    `SELECT intent_id, tx_id, fee_units::text, block_hash FROM attempt
      WHERE intent_id = ANY($1::bigint[]) AND status = 'final' ORDER BY intent_id`,
    [ids],
  );
  const lines = await linesPaidBy(tx, [batchId], ids);
  await completeLines(
    tx,
    mined.map((one) => ({ mined: one, lines: lines.filter((line) => line.intent_id === one.intent_id) })),
  );
  await tx.query('UPDATE intent SET booked = true, updated_at = now() WHERE id = ANY($1::bigint[])', [ids]);
}
