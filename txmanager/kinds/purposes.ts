import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import type { AttemptRow, IntentRow } from '../../db/txmanager/intents';
import { legPurpose } from './payout-line';
import { refundPurpose } from '../../activities/refunds/refunds';
import { swapPurpose } from '../../activities/conversions/swaps';
import { consolidationPurpose } from '../../activities/treasury/treasury';
import { withdrawalPurpose } from '../../activities/withdrawals/withdrawals';

/** `go`: sign; `waiting`: not now; `dropped`: never, its row has ended. */
export type Verdict = Readonly<{ state: 'go' } | { state: 'waiting' | 'dropped'; reason: string }>;

/** What an outgoing intent is for: the row of the business that has it sent, locked. The signer signs what the row says, whatever
 *  the intent says; the row follows its transaction. */
export type Purpose = Readonly<{
  currency: string;
  /** Exactly what leaves, in this order; whatever else an intent pays goes to the treasury. */
  outputs: ReadonlyArray<{ address: string; units: string }>;
  /** Sent back from the deposit address of this merchant, these deposits whole; null: from the treasury. */
  held: Readonly<{ depositIds: readonly string[]; merchantId: string }> | null;
  /** Judges its first signature. Throws INTENT_MISMATCH where its row does not want it. */
  mayBeSigned(): Promise<Verdict>;
  /** Signed once, and not at its end: may another attempt be signed? */
  isUnderWay: boolean;
  /** Its first signed bytes are stored. */
  stored(): Promise<unknown>;
  /** A node has taken them. */
  sent(txId: string): Promise<unknown>;
  /** Its transaction is final, successful or reverted: books the end. Safe to repeat. */
  ended(attempt: AttemptRow): Promise<unknown>;
}>;
export type ServedIntent = Pick<IntentRow, 'id' | 'kind' | 'ref' | 'owner_workflow'>;
/** Locks what an intent is for; null where there is nothing of that name. Lock order: payment, row, intent, limits, wallet, balances. */
export type ReadPurpose = (tx: EntityManager, intent: ServedIntent) => Promise<Purpose | null>;

/** Who answers for an intent, by its kind. Sweeps and gas top-ups have no purpose beyond ourselves and are not here. */
const readers: Partial<Record<IntentRow['kind'], ReadPurpose>> = {
  refund: refundPurpose,
  fund: swapPurpose,
  withdrawal: withdrawalPurpose,
  consolidate: consolidationPurpose,
  leg: legPurpose,
};

/** The purpose of an intent, locked before the intent itself; null for what stays inside. Throws INTENT_MISMATCH where an intent says
 *  that it leaves and nothing wants it. */
export async function lockPurpose(tx: EntityManager, intentId: string): Promise<Purpose | null> {
  const [intent] = await tx.query<ServedIntent[]>('SELECT id, kind, ref, owner_workflow FROM intent WHERE id = $1', [
    intentId,
  ]);
  if (!intent) throw new Error(`No intent ${intentId}`);
  if (intent.kind === 'sweep' || intent.kind === 'gas') return null;
  const purpose = await readers[intent.kind]?.(tx, intent);
  if (!purpose)
    throw new DomainError('INTENT_MISMATCH', `Intent ${intent.id}: nothing wants ${intent.kind} ${intent.ref}`);
  return purpose;
}
