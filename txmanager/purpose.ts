import type { EntityManager } from 'typeorm';
import type { AttemptRow, IntentRow } from '../db/txmanager/intents';
import type { Destination } from '../domain/chains/tags';

/** `go`: sign; `waiting`: not now; `dropped`: never, its row has ended. */

/** `waiting`: it is over a limit. */
export type Verdict = Readonly<
  { state: 'go' } | { state: 'waiting'; reason: string } | { state: 'dropped'; reason: string }
>;
/** What an outgoing intent is for: the row of the business that has it sent, locked. The signer signs what the row says, whatever
 *  the intent says; the row follows its transaction. */

export type Purpose = Readonly<{
  currency: string;
  /** Whose money it is; null: the platform's own. */
  merchantId: string | null;
  /** Exactly what leaves, in this order; whatever else an intent pays goes to the treasury. */
  outputs: ReadonlyArray<Destination & { units: string }>;
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
export type ServedIntent = Pick<IntentRow, 'id' | 'kind' | 'ref' | 'owner_kind' | 'owner_id'>;
/** Locks what an intent is for; null where there is nothing of that name. Lock order: payment, row, intent, limits, wallet, balances. */
export type ReadPurpose = (tx: EntityManager, intent: ServedIntent) => Promise<Purpose | null>;
