import type { EntityManager } from 'typeorm';
import type { PaymentRow } from '../domain/payments/payment';
import { ownerWorkflow, type IntentOwner } from '../domain/workflow-ids';
import { requestSignal } from '../db/temporal/temporal-requests';

/** Has the workflow run that sends a planned sweep. */
export const startSweep = (tx: EntityManager, payment: PaymentRow, owner: IntentOwner): Promise<unknown> =>
  requestSignal(tx, {
    ...ownerWorkflow(owner),
    args: [owner.id],
    signal: 'updated',
    attributes: {
      MerchantId: payment.merchant_id,
      Currency: payment.currency!,
      Network: payment.network!,
      // A batch has more payments than the one that asks for it.
      ...(owner.kind === 'sweep'
        ? { PaymentId: payment.id, summary: `Sweep of ${payment.currency} of payment ${payment.id}` }
        : {}),
    },
  });
