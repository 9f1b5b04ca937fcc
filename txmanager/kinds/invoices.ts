import type { EntityManager } from 'typeorm';
import type { IntentRow } from '../../db/txmanager/intents';

/** ` for invoice …`, or for how many, of an intent that moves payments' money. */
export async function invoicesOf(tx: EntityManager, intent: Pick<IntentRow, 'id' | 'payment_id'>): Promise<string> {
  const [row] = await tx.query<Array<{ slug: string | null; many: number }>>(
    `SELECT (SELECT slug FROM payment WHERE id = $1) AS slug,
            (SELECT count(*)::int FROM sweep_share WHERE intent_id = $2 AND dropped_at IS NULL) AS many`,
    [intent.payment_id, intent.id],
  );
  return ` for ${row?.slug ? `invoice ${row.slug}` : `${row?.many ?? 0} invoices`}`;
}
