import type { EntityManager } from 'typeorm';
import type { FinalAttempt } from '../../db/chains/attempts';
import type { Mined } from '../../db/ledger/ledger';
import type { AttemptRow, IntentRow } from '../../db/txmanager/intents';
import { assetOf, type NetworkId } from '../../domain/chains/assets';
import { fromUnits } from '../../domain/money';
import type { Kind } from '../../domain/txmanager/kinds';
import type { Asked } from '../charge-gas';
import type { Obligation, ReadInside, ReadObligations, ServedIntent } from '../obligation';
import type { OwnerKind, RowWorkflow } from '../../domain/workflow-ids';

/** An intent whose transaction is final and successful. `paid`: what the chain took for it. */
export type Booking = Readonly<{ intent: IntentRow; mined: AttemptRow; paid: Omit<Mined, 'from'> }>;

/** Rows whose workflow must run: `id` and `attributes`. */
export type OpenRows = Readonly<{ workflow: RowWorkflow; sql: string }>;

/** Everything that the transaction manager asks about one kind of outgoing money. Facts that the parts below need
 *  too, such as whether the money leaves, are in domain/txmanager/kinds.ts. */
export type OutgoingKind = Readonly<{
  kind: Kind;
  /** What workflows and operators read of an intent. */
  summary: (tx: EntityManager, intent: IntentRow) => Promise<string>;
  /** The kind of owner that an intent must have, whose id is the intent's ref; null: the obligation checks it. */
  owner: OwnerKind | null;
  /** The row that has it sent, which says what the signer may sign and books the end; null: the money stays on our
   *  own addresses, or goes to the address that its payment names. */
  obligation: ReadObligations | null;
  /** What the signer asks of a kind without an obligation. Where it is absent too, nothing is signed. */
  inside?: ReadInside;
  /** Books a success of what has no obligation. Safe to repeat. */
  book?: (tx: EntityManager, booking: Booking) => Promise<unknown>;
  /** Does the gas wallet pay the fee? Else the address that the money comes from. */
  isGasPaid?: (intent: IntentRow) => boolean;
  /** A node has said before anything was signed that it cannot succeed: ends the row, with a reason that the merchant
   *  may read. Where it is absent the intent waits, operators are told, and a node is asked again. */
  refused?: (tx: EntityManager, intent: IntentRow, message: string) => Promise<unknown>;
  /** What a merchant asked for and nothing is signed of yet: whoever bears its network fee pays for the gas of its
   *  recipient. Null where there is no such thing. */
  asked?: (tx: EntityManager, intent: IntentRow) => Promise<Asked | null>;
  /** A node has taken its transaction: what an obligation does not say of its own row. Safe to repeat. */
  taken?: (tx: EntityManager, intent: IntentRow, txId: string) => Promise<unknown>;
  /** Ids of the payout lines that it pays, for the record of signatures. */
  lines?: (tx: EntityManager, intentId: string) => Promise<string[]>;
  /** What a recovery had lost is this intent's own again. */
  reassigned?: (tx: EntityManager, intentId: string) => Promise<unknown>;
  /** After the fee of a reverted transaction is booked. */
  reverted?: (tx: EntityManager, intent: IntentRow) => Promise<unknown>;
  /** A reorganisation has taken the blocks above `height`: reopens the rows that had ended there. Called before the
   *  transactions themselves are put back. */
  reopen?: (tx: EntityManager, network: NetworkId, height: number) => Promise<unknown>;
  /** The same for journals of one transaction that no row of its own reopens. Booking it again puts back what is
   *  taken. */
  unbook?: (tx: EntityManager, mined: FinalAttempt) => Promise<unknown>;
  /** For the restarter. Rows younger than a minute are the dispatcher's. */
  openRows: readonly OpenRows[];
  /** What ends a shortfall alert of the treasury besides a plan: a condition on the alert's row `i`. Its
   *  subject is the owner of the intents that are missing. */
  shortfallEnds: string | null;
}>;

/** `Refund of 0.5 ETH to 0x…`; without the amount where all that is left goes. */
export function transferText(what: string, { currency, outputs }: Pick<IntentRow, 'currency' | 'outputs'>): string {
  const units = outputs.reduce<bigint | null>(
    (sum, one) => (sum === null || one.units === null ? null : sum + BigInt(one.units)),
    0n,
  );
  const amount = units === null ? '' : `${fromUnits(units, assetOf(currency).decimals)} `;
  return `${what} of ${amount}${currency} to ${outputs.map((output) => output.address).join(', ')}`;
}
/** The summary of a kind that needs no more than the intent. */
export const summaryAs =
  (what: string): OutgoingKind['summary'] =>
  (_tx, intent) =>
    Promise.resolve(transferText(what, intent));

/** The obligations of intents whose refs are the ids of their rows. */
export function obligationsByRef<Row extends Readonly<{ id: string }>>(
  intents: readonly ServedIntent[],
  rows: readonly Row[],
  obligationOf: (row: Row) => Obligation | null,
): ReadonlyMap<string, Obligation> {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return new Map(
    intents.flatMap(({ id, ref }) => {
      const row = byId.get(ref);
      const obligation = row && obligationOf(row);
      return obligation ? [[id, obligation] as const] : [];
    }),
  );
}

/** SQL: intents of these owners whose end is not booked. `id`: the column with the owner's id. */
export const openIntents = (kind: OwnerKind, id: string): string =>
  `SELECT FROM intent i WHERE i.owner_kind = '${kind}' AND i.owner_id = ${id} AND NOT i.booked AND i.status <> 'dead'`;
