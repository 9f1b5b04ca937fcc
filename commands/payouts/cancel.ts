import type { EntityManager } from 'typeorm';
import { refreshBatch } from '../../commands/payouts/refresh';
import { giveBackLegs } from '../../commands/payouts/release';
import { lockBatch, legsOf, moveLegs, requestPayout } from '../../db/payouts/payouts';
import { hasSignedAndLost } from '../../db/recovery/lost';
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

/** Calls back what is not signed: J7 for each of its legs. Signing takes the same lock, so that each leg has one of the
 *  two ends. Of one that was called back before the same again. Throws BATCH_NOT_FOUND, BATCH_NOT_CANCELLABLE. */
export async function cancelBatch(tx: EntityManager, merchantId: string, id: string): Promise<Cancelled> {
  const batch = await lockBatch(tx, id);
  if (!batch || batch.merchant_id !== merchantId) throw new DomainError('BATCH_NOT_FOUND');
  if (await hasSignedAndLost(tx, { kind: 'payout-batch', id })) throw new DomainError('BATCH_NOT_CANCELLABLE');
  const pending = await legsOf(tx, id, ['pending']);
  if (!pending.length && !batch.cancelled_at) throw new DomainError('BATCH_NOT_CANCELLABLE');
  let row = batch;
  if (pending.length) {
    const refunded = await moveLegs(tx, pending, 'refunded', { intent_id: null });
    await dropIntents(tx, { kind: 'payout-batch', id });
    await giveBackLegs(tx, refunded);
    if (batch.approved_at) await requestPayout(tx, batch);
    row = await refreshBatch(tx, batch, { isCancelled: true });
  }
  const refundedByCurrency: Record<Currency, string> = {};
  const legs = await legsOf(tx, id);
  const refunded = legs.filter((leg) => leg.status === 'refunded');
  for (const leg of refunded)
    refundedByCurrency[leg.currency] = add(refundedByCurrency[leg.currency] ?? '0', leg.amount);
  const sentLegs = legs.filter((leg) => ['processing', 'broadcast', 'completed'].includes(leg.status)).length;
  return { row, refundedLegs: refunded.length, refundedByCurrency, sentLegs, replayed: !pending.length };
}
