import type { IncidentKind } from '../../db/incidents';
import { isByLightning } from '../../domain/lightning/currency';

/** How an incident ends. What it means is told in its section of the runbook. */
export type Runbook = Readonly<{
  /** `service`: when the condition is over. `operator`: a person looks into it, and resolves it. Else the kind of the
   *  request that two operators confirm, which resolves it too. */
  endedBy:
    'service' | 'operator' | 'raise-cap' | 'unfreeze-wallet' | 'book-difference' | 'claim-address' | 'decide-transfer';
  /** The request that is mostly needed before it is resolved by hand. */
  act?: 'unfreeze' | 'end-conversion' | 'claim-deposit' | 'fail-lightning' | 'book-lightning' | 'claim-lightning';
}>;

/** The section of the documentation about incidents of a kind, below `docs/`. */
export const runbookOf = (kind: IncidentKind): string => `operations/incidents.md#${kind}`;

export const runbooks: Readonly<Record<IncidentKind, Runbook>> = {
  'deep-reorg': { endedBy: 'operator', act: 'unfreeze' },
  'sweep-overdue': { endedBy: 'operator' },
  'sweep-batch-failed': { endedBy: 'operator' },
  'sweep-failed': { endedBy: 'operator' },
  'transaction-reverted': { endedBy: 'operator' },
  'transaction-refused': { endedBy: 'service' },
  'transfer-refused': { endedBy: 'service' },
  'transfer-differs': { endedBy: 'decide-transfer' },
  'attempt-unverified': { endedBy: 'service' },
  'signed-off-chain': { endedBy: 'operator' },
  'gas-low': { endedBy: 'operator' },
  'signature-refused': { endedBy: 'operator' },
  'fee-cap': { endedBy: 'raise-cap' },
  'wallet-refused': { endedBy: 'service' },
  'wallet-frozen': { endedBy: 'unfreeze-wallet' },
  'foreign-spend': { endedBy: 'operator', act: 'unfreeze' },
  'deposit-unverified': { endedBy: 'service' },
  'deposit-displaced': { endedBy: 'operator' },
  'hold-gone': { endedBy: 'operator' },
  'treasury-low': { endedBy: 'service' },
  'gas-float-low': { endedBy: 'service' },
  'node-stale': { endedBy: 'service' },
  'nodes-disagree': { endedBy: 'service' },
  'fee-estimate-missing': { endedBy: 'service' },
  'traces-off': { endedBy: 'service' },
  'untraced-block': { endedBy: 'service' },
  'database-recovered': { endedBy: 'operator' },
  'unclaimed-deposit': { endedBy: 'claim-address', act: 'claim-deposit' },
  'held-lost': { endedBy: 'service' },
  'held-foreign': { endedBy: 'operator', act: 'claim-lightning' },
  'held-overdue': { endedBy: 'service' },
  'lightning-unknown': { endedBy: 'operator', act: 'claim-lightning' },
  'lightning-overdue': { endedBy: 'service', act: 'fail-lightning' },
  unreconciled: { endedBy: 'book-difference' },
  'new-destinations': { endedBy: 'service' },
  'swap-contradiction': { endedBy: 'operator' },
  'swap-wrong-asset': { endedBy: 'operator', act: 'end-conversion' },
  'swap-surplus': { endedBy: 'operator' },
  'swap-unknown': { endedBy: 'operator', act: 'end-conversion' },
  'swap-expired': { endedBy: 'operator', act: 'end-conversion' },
  'swap-silent': { endedBy: 'operator', act: 'end-conversion' },
  'swap-reorged': { endedBy: 'operator' },
};

/** The Lightning node has its owner's capital too: what it lacks is no difference to book as it is found. */
const unreconciledNode: Runbook = { endedBy: 'service', act: 'book-lightning' };

/** How this incident ends. `subjectId`: what it is about. */
export const runbookFor = ({ kind, subjectId }: Readonly<{ kind: IncidentKind; subjectId: string }>): Runbook =>
  kind === 'unreconciled' && isByLightning(subjectId) ? unreconciledNode : runbooks[kind];
