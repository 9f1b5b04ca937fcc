import type { EntityManager } from 'typeorm';
import { releaseLimitUse } from '../limits/outbound-check';
import type { Queryable } from '../../db/query';
import { type Changed, lockOwnRefund, moveRefund, emitRefundEvent, readRefund } from '../../db/refunds/refunds';
import { maybeSignedAndLost } from '../../db/recovery/lost';
import { mayBeForgotten } from '../../db/recovery/forgotten-call';
import { endVoid } from '../../db/txmanager/expiry';
import { dropIntents } from '../../db/txmanager/intents';
import { DomainError } from '../../domain/errors';
import { type RefundStatus, cancellable } from '../../domain/refunds/refund';
import { releaseRefund } from './hold';

/** Cancels a refund while nothing is signed, or where all that was signed has expired: J7. Signing takes the same lock,
 *  so that one of the two wins. A refund that was cancelled before is answered unchanged, as `replayed`. Throws
 *  REFUND_NOT_FOUND, REFUND_STATE. */
export async function cancelRefund(
  tx: EntityManager,
  merchantId: string,
  id: string,
  from: readonly RefundStatus[] = cancellable,
): Promise<Changed> {
  const row = await lockOwnRefund(tx, merchantId, id);
  if (row.status === 'cancelled') return { row, replayed: true };
  const isLost =
    (await maybeSignedAndLost(tx, { kind: 'refund', id })) ||
    (await mayBeForgotten(tx, 'refund', [row], row.created_at));
  const isOpen = !isLost && (from.includes(row.status) || (await endVoid(tx, 'refund', [row])).length > 0);
  if (!isOpen) throw new DomainError('REFUND_STATE');
  const cancelled = await moveRefund(tx, row, 'cancelled');
  await dropIntents(tx, { kind: 'refund', id });
  await releaseRefund(tx, row);
  await releaseLimitUse(tx, 'refund', id);
  await emitRefundEvent(tx, cancelled, 'refund.cancelled', row.status);
  return { row: cancelled, replayed: false };
}

/** What is cancelled already; null where there is something to cancel. */
export async function cancelledBefore(db: Queryable, merchantId: string, id: string): Promise<Changed | null> {
  const row = await readRefund(db, merchantId, id);
  return row?.status === 'cancelled' ? { row, replayed: true } : null;
}
