/** The ids of workflows, by which Temporal runs each at most once at a time. Every id is made here, but for those
 *  that SQL writes with the row (insert_payment_2.sql, db/webhooks/delivery-queue.ts). Nothing takes one apart: who
 *  needs the kind and the id of an owner keeps them apart (`IntentOwner`). */
export const workflowIds = {
  payment: (paymentId: string): string => `payment/${paymentId}`,
  sweep: (paymentId: string): string => `sweep/${paymentId}`,
  sweepBatch: (batchId: string): string => `sweep-batch/${batchId}`,
  refund: (refundId: string): string => `refund/${refundId}`,
  withdrawal: (withdrawalId: string): string => `withdrawal/${withdrawalId}`,
  payoutBatch: (batchId: string): string => `payout-batch/${batchId}`,
  conversion: (conversionId: string): string => `conversion/${conversionId}`,
  consolidate: (ref: string): string => `consolidate/${ref}`,
  chain: (network: string): string => `chain/${network}`,
  lightning: 'lightning',
  lightningPayments: 'lightning-payments',
  screening: (paymentId: string): string => `screening/${paymentId}`,
  /** A screening that the merchant asked for. */
  askedScreening: (paymentId: string): string => `screening/${paymentId}/asked`,
  webhook: (deliveryId: string): string => `webhook/${deliveryId}`,
  mail: (mailId: string): string => `mail/${mailId}`,
  rates: 'rates',
  swapRates: 'swap-rates',
  audit: 'audit',
  reconcile: 'reconcile',
  reconciliation: 'reconciliation',
  treasury: 'treasury',
} as const;

/** The workflow types that process intents, by the kind of their owner. `intent.owner_kind` is one of these kinds. */
export const ownerWorkflows = {
  sweep: 'sweep',
  'sweep-batch': 'sweepBatch',
  refund: 'refund',
  withdrawal: 'withdrawal',
  'payout-batch': 'payoutBatch',
  conversion: 'conversion',
  consolidate: 'consolidate',
} as const;

/** Workflows of which there is one for each id of a row. */
export type RowWorkflow = {
  [Name in keyof typeof workflowIds]: (typeof workflowIds)[Name] extends string ? never : Name;
}[keyof typeof workflowIds];

export type OwnerKind = keyof typeof ownerWorkflows;

/** Whose intent it is. `id`: of the payment for `sweep`, of a planned move for `consolidate`, else of what the kind
 *  names. */
export type IntentOwner = Readonly<{ kind: OwnerKind; id: string }>;

/** The workflow that processes the intents of an owner. */
export function ownerWorkflow({ kind, id }: IntentOwner): Readonly<{ workflow: string; workflowId: string }> {
  const workflow = ownerWorkflows[kind];
  return { workflow, workflowId: workflowIds[workflow](id) };
}
