import type { IncidentKind } from '../../db/incidents';

/** Where operators read what an incident means, and how it ends. */
export type Runbook = Readonly<{
  /** A page in docs. */
  page: string;
  /** `service`: when the condition is over. `operator`: a person looks into it, and resolves it. Else the kind of the
   *  request that two operators confirm, which resolves it too. */
  endedBy: 'service' | 'operator' | 'raise-cap' | 'unfreeze-wallet' | 'book-difference' | 'claim-address';
  /** The request that is mostly needed before it is resolved by hand. */
  act?: 'unfreeze' | 'end-conversion' | 'claim-deposit';
}>;

const stuck = 'operations/stuck-transactions.md';
const node = 'operations/stale-node.md';
const reorg = 'operations/reorganisation.md';
const traces = 'operations/untraced-blocks.md';
const recovery = 'operations/backup-and-restore.md';
const conversions = 'conversions.md';

export const runbooks: Readonly<Record<IncidentKind, Runbook>> = {
  'deep-reorg': { page: reorg, endedBy: 'operator', act: 'unfreeze' },
  'sweep-overdue': { page: stuck, endedBy: 'operator' },
  'sweep-batch-failed': { page: stuck, endedBy: 'operator' },
  'transaction-reverted': { page: stuck, endedBy: 'operator' },
  'transaction-refused': { page: stuck, endedBy: 'service' },
  'transfer-refused': { page: stuck, endedBy: 'service' },
  'transfer-differs': { page: stuck, endedBy: 'operator' },
  'gas-low': { page: stuck, endedBy: 'operator' },
  'signature-refused': { page: stuck, endedBy: 'operator' },
  'fee-cap': { page: stuck, endedBy: 'raise-cap' },
  'wallet-frozen': { page: stuck, endedBy: 'unfreeze-wallet' },
  'foreign-spend': { page: stuck, endedBy: 'operator', act: 'unfreeze' },
  'deposit-unverified': { page: traces, endedBy: 'service' },
  'deposit-displaced': { page: reorg, endedBy: 'operator' },
  'hold-gone': { page: reorg, endedBy: 'operator' },
  'treasury-low': { page: stuck, endedBy: 'operator' },
  'gas-float-low': { page: stuck, endedBy: 'service' },
  'node-stale': { page: node, endedBy: 'service' },
  'nodes-disagree': { page: node, endedBy: 'service' },
  'fee-estimate-missing': { page: stuck, endedBy: 'service' },
  'traces-off': { page: traces, endedBy: 'service' },
  'untraced-block': { page: traces, endedBy: 'service' },
  'database-recovered': { page: recovery, endedBy: 'operator' },
  'unclaimed-deposit': { page: recovery, endedBy: 'claim-address', act: 'claim-deposit' },
  unreconciled: { page: 'operations/audit.md', endedBy: 'book-difference' },
  'new-destinations': { page: 'operations/new-destinations.md', endedBy: 'service' },
  'swap-contradiction': { page: conversions, endedBy: 'operator' },
  'swap-wrong-asset': { page: conversions, endedBy: 'operator', act: 'end-conversion' },
  'swap-surplus': { page: conversions, endedBy: 'operator' },
  'swap-unknown': { page: conversions, endedBy: 'operator', act: 'end-conversion' },
  'swap-expired': { page: conversions, endedBy: 'operator', act: 'end-conversion' },
  'swap-silent': { page: conversions, endedBy: 'operator', act: 'end-conversion' },
  'swap-reorged': { page: conversions, endedBy: 'operator' },
};
