import type { EntityManager } from 'typeorm';
import { reinstate, reverse } from '../../db/ledger/ledger';
import { DomainError } from '../../domain/errors';
import { revertFeeKey } from '../../domain/ledger/network-fees';
import type { RefundRow } from '../../domain/refunds/refund';

/** What earlier tries to send deposits back have burned of them: the merchant bears it until their payer has got less
 *  by that. docs/decisions/0097-what-a-failed-try-has-burned.md */

type Refund = Pick<RefundRow, 'id' | 'lost_fee' | 'deposit_ids'>;

/** The keys of what the merchant was charged for earlier tries; none where this refund bears nothing of them. */
async function chargesOf(tx: EntityManager, { id, lost_fee, deposit_ids }: Refund): Promise<string[]> {
  if (lost_fee === null) return [];
  const earlier = await tx.query<Array<{ id: string }>>(
    `SELECT r.id FROM refund r
      WHERE r.payment_id IN (SELECT unnest(ARRAY[d.payment_id, d.child_payment_id]) FROM deposit d
                              WHERE d.id = ANY($2::bigint[]))
        AND r.source = 'deposit' AND r.status = 'failed' AND r.id <> $1 AND r.deposit_ids && $2::bigint[]
      ORDER BY r.id`,
    [id, deposit_ids],
  );
  return earlier.map((one) => revertFeeKey({ kind: 'refund', id: one.id }));
}

/** Gives back what the merchant was charged: this refund has arrived, and its payer has borne it. */
export async function returnLostFees(tx: EntityManager, refund: Refund): Promise<void> {
  for (const key of await chargesOf(tx, refund)) await reverse(tx, key);
}

/** The merchant bears it again, as far as the balance goes: the chain has taken back what had arrived. */
export async function chargeLostFeesAgain(tx: EntityManager, refund: Refund): Promise<void> {
  for (const key of await chargesOf(tx, refund))
    await tx
      .transaction((part) => reinstate(part, key))
      .catch((error: unknown) => {
        if (!(error instanceof DomainError) || error.code !== 'INSUFFICIENT_FUNDS') throw error;
      });
}
