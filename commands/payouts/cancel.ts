import type { EntityManager } from 'typeorm';
import { refreshBatch } from './refresh';
import { releaseLines, lockBatch, linesOf, moveLines, requestPayout } from '../../db/payouts/payouts';
import { mayBeForgotten } from '../../db/recovery/forgotten-call';
import { maybeSignedAndLost } from '../../db/recovery/lost';
import { endVoid, underWay } from '../../db/txmanager/expiry';
import { dropIntents } from '../../db/txmanager/intents';
import type { Currency } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import { add } from '../../domain/money';
import type { BatchRow } from '../../domain/payouts/payout';

export type Cancelled = Readonly<{
  row: BatchRow;
  refundedLegs: number;
  refundedByCurrency: Readonly<Record<Currency, string>>;
  sentLegs: number;
  /** It was done before, and nothing was done now. */
  replayed: boolean;
}>;

/** Cancels the lines that are not signed, and those of which all that was signed has expired: J7 for each. Signing
 *  takes the same lock, so that each line has one of both ends. A batch that was cancelled before gives the same again.
 *  Throws BATCH_NOT_FOUND, BATCH_NOT_CANCELLABLE. */
export async function cancelBatch(tx: EntityManager, merchantId: string, id: string): Promise<Cancelled> {
  const batch = await lockBatch(tx, id);
  if (!batch || batch.merchant_id !== merchantId) throw new DomainError('BATCH_NOT_FOUND');
  if (await maybeSignedAndLost(tx, { kind: 'payout-batch', id })) throw new DomainError('BATCH_NOT_CANCELLABLE');
  const pending = await linesOf(tx, id, ['pending']);
  if (await mayBeForgotten(tx, 'leg', pending, batch.created_at)) throw new DomainError('BATCH_NOT_CANCELLABLE');
  const expired = await endVoid(tx, 'leg', await linesOf(tx, id, underWay));
  const isDone = !pending.length && !expired.length;
  if (isDone && !batch.cancelled_at) throw new DomainError('BATCH_NOT_CANCELLABLE');
  let row = batch;
  if (!isDone) {
    const refunded = [
      ...(await moveLines(tx, pending, 'refunded', { intent_id: null })),
      // They stay with what was signed for them.
      ...(await moveLines(tx, expired, 'refunded')),
    ];
    await dropIntents(tx, { kind: 'payout-batch', id });
    await releaseLines(tx, refunded);
    if (batch.approved_at) await requestPayout(tx, batch);
    row = await refreshBatch(tx, batch, { isCancelled: true });
  }
  const refundedByCurrency: Record<Currency, string> = {};
  const lines = await linesOf(tx, id);
  const refunded = lines.filter((line) => line.status === 'refunded');
  for (const line of refunded)
    refundedByCurrency[line.currency] = add(refundedByCurrency[line.currency] ?? '0', line.amount);
  const sentLegs = lines.filter((line) => ['processing', 'broadcast', 'completed'].includes(line.status)).length;
  return { row, refundedLegs: refunded.length, refundedByCurrency, sentLegs, replayed: isDone };
}
