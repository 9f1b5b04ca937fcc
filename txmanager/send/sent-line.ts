import type { AttemptRow } from '../../db/txmanager/intents';
import { ownerWorkflow, type IntentOwner, type OwnerKind } from '../../domain/workflow-ids';

/** Owners whose id has another name in the log than their kind. */
const otherNames: Readonly<Partial<Record<OwnerKind, string>>> = { sweep: 'paymentId', 'payout-batch': 'massPayoutId' };
const idName = (kind: OwnerKind): string =>
  otherNames[kind] ?? `${kind.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())}Id`;

type Attempt = Pick<AttemptRow, 'intent_id' | 'n' | 'tx_id'>;

/** The ids of a transaction in the log: neither amounts nor addresses. */
export const transactionIds = (network: string, owner: IntentOwner, attempt: Attempt): object => ({
  network,
  intentId: attempt.intent_id,
  attempt: attempt.n,
  txId: attempt.tx_id,
  [idName(owner.kind)]: owner.id,
  workflowId: ownerWorkflow(owner).workflowId,
});
