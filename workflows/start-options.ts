import { startAttributes, taskQueues, workflowTaskTimeout } from './messages';

/** Every type of workflow. `kind`: the search attribute `Kind`, one for all types that do the same work. `summary`: the
 *  text of the list where whoever starts it knows no more. */
export const workflowTypes = {
  payment: { kind: 'payment', summary: 'Payment, from its invoice to its end' },
  sweep: { kind: 'sweep', summary: 'Sweep of a payment to its settlement address' },
  sweepBatch: { kind: 'sweep', summary: 'Sweep of several payments in one transaction' },
  refund: { kind: 'refund', summary: 'Refund' },
  withdrawal: { kind: 'withdrawal', summary: 'Withdrawal' },
  payoutBatch: { kind: 'payout', summary: 'Mass payout' },
  conversion: { kind: 'conversion', summary: 'Conversion at the swap provider' },
  consolidate: { kind: 'consolidation', summary: 'Move to a hot wallet' },
  screening: { kind: 'screening', summary: 'Screening of where the money of a payment came from' },
  webhook: { kind: 'webhook', summary: 'Delivery of an event whose first attempt has failed' },
  mail: { kind: 'mail', summary: 'Mail' },
  followChain: { kind: 'follower', summary: 'Follower of a network' },
  followLightning: { kind: 'follower', summary: 'Follower of the Lightning node' },
  payLightning: { kind: 'upkeep', summary: 'Pays withdrawals by the Lightning node' },
  keepRates: { kind: 'upkeep', summary: 'Keeps the exchange rates fresh' },
  keepSwapRates: { kind: 'upkeep', summary: 'Keeps the rates of the swap provider fresh' },
  keepAudit: { kind: 'upkeep', summary: 'Checks the invariants every minute' },
  keepReconciled: { kind: 'upkeep', summary: 'Asks again for workflows that open rows lack' },
  keepReconciliation: { kind: 'upkeep', summary: 'Compares the ledger with the chains' },
  keepTreasury: { kind: 'upkeep', summary: 'Consolidates small coins and watches the gas' },
} as const satisfies Readonly<Record<string, Readonly<{ kind: string; summary: string }>>>;
export type WorkflowType = keyof typeof workflowTypes;

/** What each workflow is started with, whoever starts it. Of `about`, search attributes go by their names and `summary`
 *  to the list of workflows. There is no memo: it would keep what was true at the start. */
export const startOptions = (type: WorkflowType, { summary, ...about }: Readonly<Record<string, string>> = {}) => ({
  taskQueue: taskQueues.payments,
  workflowTaskTimeout,
  staticSummary: summary ?? workflowTypes[type].summary,
  typedSearchAttributes: Object.entries({ ...about, Kind: workflowTypes[type].kind })
    .filter(([name]) => name in startAttributes)
    .map(([name, value]) => ({ key: startAttributes[name as keyof typeof startAttributes], value })),
});
