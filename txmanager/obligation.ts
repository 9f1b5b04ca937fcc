import type { EntityManager } from 'typeorm';
import type { LimitUseKey } from '../db/limits/outbound';
import type { AttemptRow, IntentRow } from '../db/txmanager/intents';
import type { Payee } from '../db/wallets/whitelist';
import type { KeyRole } from '../domain/chains/chain';
import type { Destination } from '../domain/chains/tags';
import type { AddedFee } from '../domain/txmanager/added-fee';

/** Who has approved a row. `needsSecond`: somebody else than who asked for it must have. */
type Approval = Readonly<{
  isGiven: boolean;
  needsSecond: boolean;
  askedBy: string | null;
  by: string | null;
}>;

/** What a row says of its first signature. The policy evaluates it: txmanager/sign/policy.ts. */
export type RowFacts = Readonly<{
  /** As operators read it: `Withdrawal 65…`. */
  name: string;
  /** `due`: it is to be signed; `early`: not now; `ended`: never again; `other`: it does not ask for it. */
  state: 'due' | 'early' | 'ended' | 'other';
  /** Why it is in that state, where it is not due. */
  says: string;
  /** null: nobody has to approve it. */
  approval: Approval | null;
  /** Those who must be on the whitelist of their merchant, in the order of the outputs; empty: nobody. */
  payees: readonly Payee[];
  /** What receivers bear above the network fee that was quoted, each once; empty where nobody bears anything. */
  addedFees: readonly AddedFee[];
  /** What counts it against the limits; null: nothing does. */
  limitUse: LimitUseKey | null;
}>;

/** What an outgoing intent is for: the row of the business that has it sent, locked. The signer signs what the row
 *  says, whatever the intent says; the row follows its transaction. */
export type Obligation = Readonly<{
  currency: string;
  /** Whose money it is; null: the platform's own. */
  merchantId: string | null;
  /** Exactly what leaves, in this order; whatever else an intent pays goes to the treasury. */
  outputs: ReadonlyArray<Destination & { units: string }>;
  /** Sent back from the deposit address of this merchant, these deposits whole; null: from the treasury. */
  fromDeposits: Readonly<{ depositIds: readonly string[]; merchantId: string }> | null;
  row: RowFacts;
  /** Signed once, and not at its end: may another attempt be signed? */
  isUnderWay: boolean;
  /** These payees are no longer on the whitelist: ends what would have paid them. Where it has payees. */
  unlisted?(payeeIds: readonly string[]): Promise<unknown>;
  /** All that was signed for it has expired unmined, and nothing more will be signed: ends it, and gives back what it
   *  holds. Called once, where every transaction is proven void. Absent: it is signed again without end. */
  givenUp?(): Promise<unknown>;
  /** Its first signed bytes are stored. */
  stored(): Promise<unknown>;
  /** The rows of all that is signed together say so: what they are parts of follows. Where they are parts. */
  allStored?(): Promise<unknown>;
  /** A node has taken them. */
  sent(txId: string): Promise<unknown>;
  /** Its transaction is final, successful or reverted: books the end. Safe to repeat. */
  ended(attempt: AttemptRow): Promise<unknown>;
}>;
export type ServedIntent = Pick<IntentRow, 'id' | 'kind' | 'ref' | 'owner_kind' | 'owner_id'>;
/** Locks what these intents of one kind are for, in a fixed number of statements: by intent, without those that
 *  nothing has sent. Lock order: payment, row, intent, limits, wallet, balances. */
export type ReadObligations = (
  tx: EntityManager,
  intents: readonly ServedIntent[],
) => Promise<ReadonlyMap<string, Obligation>>;

/** Of an intent without a row: whose money it moves, and where it may go. */
export type InsideFacts = Readonly<{
  merchantIds: readonly string[];
  /** The roles of addresses of ours that it may go to. */
  roles: readonly KeyRole[];
  /** Addresses of merchants' own that it may go to. */
  addresses: readonly string[];
  /** It moves deposits: without one there is nothing to sign. */
  movesDeposits: boolean;
  /** It pays for what goes to others, and is stopped with it. */
  isForOthers: boolean;
}>;
/** The same of these intents of one kind, in a fixed number of statements. */
export type ReadInside = (
  tx: EntityManager,
  intents: readonly IntentRow[],
) => Promise<ReadonlyMap<string, InsideFacts>>;
