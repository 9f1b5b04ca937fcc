import type { EntityManager } from 'typeorm';
import { changedCount } from '../query';
import { paidFor, type LightningPaymentRow, type PaidFor } from './payments';

/** Payments by Lightning that wait for a call which was never answered, or whose node has forgotten what it had under
 *  way. Two operators may say that nothing of it will arrive any more: guard_lightning_payment.sql asks for the same
 *  once more. */

/** No call lasts for so long, whatever became of the signer that began it. */
const callsLast = '1 day';

export type OpenCall = PaidFor &
  Readonly<{
    merchantId: string;
    amountMsat: string;
    outcome: 'paid' | 'failed' | null;
    unanswered: number;
    givenUpAt: Date | null;
    /** The node does not know what it had under way. */
    isForgotten: boolean;
    /** That has been so, or else its last call began, longer ago than any call lasts. */
    isOld: boolean;
  }>;

export async function findOpenCall(tx: EntityManager, hash: string): Promise<OpenCall | null> {
  const [row] = await tx.query<Array<LightningPaymentRow & { merchant_id: string; is_old: boolean | null }>>(
    `SELECT l.*, coalesce(
         (SELECT merchant_id FROM withdrawal WHERE id = l.withdrawal_id),
         (SELECT merchant_id FROM refund WHERE id = l.refund_id),
         (SELECT b.merchant_id FROM payout_leg o JOIN payout_batch b ON b.id = o.batch_id WHERE o.id = l.leg_id)
       ) AS merchant_id,
       coalesce(l.forgotten_at, l.called_at) < clock_timestamp() - $2::interval AS is_old
       FROM lightning_payment l WHERE l.hash = $1`,
    [hash, callsLast],
  );
  if (!row) return null;
  const { merchant_id: merchantId, amount_msat: amountMsat, outcome, unanswered, given_up_at: givenUpAt } = row;
  const isForgotten = row.forgotten_at !== null;
  const is = { isForgotten, isOld: row.is_old === true };
  return { ...paidFor(row), merchantId, amountMsat, outcome, unanswered, givenUpAt, ...is };
}

/** The signer ends it with its next look, where the node has neither paid it nor under way. */
export const giveUpOnCall = (tx: EntityManager, hash: string): Promise<number> =>
  changedCount(tx, 'UPDATE lightning_payment SET given_up_at = clock_timestamp() WHERE hash = $1', [hash]);
