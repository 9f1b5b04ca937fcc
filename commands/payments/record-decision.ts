import type { EntityManager } from 'typeorm';
import type { PaymentRow } from '../../domain/payments/payment';
import { recordAct, type Actor } from '../../db/access/audit-log';

type Decision = 'cancelled' | 'underpaid_accepted' | 'other_asset_accepted' | 'other_asset_rejected';

/** What a decision leaves on the timeline beside its cause. */
export const deciderOf = (by: Actor | null): { by?: string } => (by === null ? {} : { by: by.name });

/** Says in the audit log who decided about a payment. `by` null: a payer, or nobody at all. */
export async function recordDecision(
  tx: EntityManager,
  by: Actor | null,
  decision: Decision,
  { before, after, reason }: Readonly<{ before: PaymentRow; after: PaymentRow; reason?: string | undefined }>,
): Promise<void> {
  if (by === null) return;
  await recordAct(tx, by, {
    merchantId: before.merchant_id,
    action: `payment.${decision}`,
    target: before.id,
    before: { status: before.status },
    after: { status: after.status, ...(reason ? { reason } : {}) },
  });
}
