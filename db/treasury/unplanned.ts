import { leavingKinds } from '../../domain/txmanager/kinds';
import type { Queryable } from '../query';

/** What was asked for of a currency, shall leave the treasury, and has no plan yet. Decimal string. */
export async function unplannedAmount(tx: Queryable, currency: string): Promise<string> {
  const [row] = await tx.query<Array<{ amount: string }>>(
    `SELECT coalesce(sum(net_amount), 0)::text AS amount FROM (
       SELECT id, net_amount FROM withdrawal WHERE currency = $1 AND status IN ('pending', 'awaiting_approval')
       UNION ALL
       SELECT id, net_amount FROM refund
        WHERE currency = $1 AND source = 'balance' AND status IN ('pending', 'awaiting_approval')
       UNION ALL
       SELECT id, net_amount FROM payout_leg
        WHERE currency = $1 AND status = 'pending' AND intent_id IS NULL) asked
      WHERE NOT EXISTS (SELECT FROM intent i WHERE i.kind = ANY($2) AND i.ref = asked.id AND i.status <> 'dead')`,
    [currency, leavingKinds()],
  );
  return row!.amount;
}
