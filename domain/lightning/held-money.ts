/** When money that a Lightning node holds for an invoice is taken, and when it is sent back. The database decides once,
 *  then the node is told, and what the node says that it took is booked. Amounts are millisatoshi. See
 *  docs/decisions/0050-when-held-money-is-taken.md. */

/** What the database keeps of an invoice; one row for each payment hash. */
export type HeldRecord = Readonly<{
  /** What was decided about the money, before the node was told; null: nothing yet. It never changes. */
  decision: 'take' | 'return' | null;
  /** What was booked; null: nothing. It never changes. */
  bookedMsat: bigint | null;
  /** Nothing is done about it any more. */
  isOver: boolean;
}>;

export const newRecord: HeldRecord = { decision: null, bookedMsat: null, isOver: false };

/** So long after its money was to be taken nobody can take it any more: it was held for 80 blocks, as the invoice asks,
 *  or some more. */
export const lostForGoodAfter = '2 days';

/** An invoice as its node has it. `accepted`: all of the money is held, and waits. `settled`: the node has taken it.
 *  `unknown`: the node has no such invoice. */
export type HeldSighting = Readonly<{
  state: 'open' | 'accepted' | 'settled' | 'cancelled' | 'unknown';
  /** What is held, or was taken. */
  paidMsat: bigint;
  /** The block at which held money goes back by itself; null where none is held. */
  expiryHeight: number | null;
}>;

export type HeldFacts = Readonly<{
  record: HeldRecord;
  sighting: HeldSighting;
  /** The node's newest block; null: the node does not know that it has the newest, or did not say. */
  height: number | null;
  /** Does the payment still wait for this money? Not once it has ended, was paid otherwise, or has a newer quote. Read
   *  in the transaction that decides. */
  isWanted: boolean;
  /** Was the time of the payment over before the node was asked? It ends once its invoice has. */
  isPast: boolean;
  askedMsat: bigint;
  /** Was it decided so long ago to take the money that it has gone back, whatever became of the invoice? */
  isLostForGood: boolean;
}>;

type Why = 'whole' | 'not wanted' | 'too little' | 'too much' | 'too late' | 'sent back by the node' | 'taken already';

export type HeldStep =
  | Readonly<{ do: 'wait'; incident?: 'held-lost' }>
  /** Store this, and look again. */
  | Readonly<{ do: 'decide'; decision: 'take' | 'return'; why: Why; incident?: 'held-foreign' }>
  /** Tell the node, within a minute of the look at it, or look again. */
  | Readonly<{ do: 'settle' | 'cancel' }>
  /** Credit what the node has taken, and be over. */
  | Readonly<{ do: 'book'; msat: bigint; incident?: 'held-foreign' }>
  /** Be over: there is no money. */
  | Readonly<{ do: 'end' }>;

/** Blocks between the arrival of the money and its way back: what invoices ask for. lnd's own usual number. */
export const invoiceBlocks = 80;
/** Blocks that must be left when money is taken. lnd sends it back by itself at 12, and goes to the chain for what it
 *  has taken at 10. */
export const leastToTake = 24;
/** The same when the node is told: a decision may be some blocks old by then. */
export const leastToSettle = 18;

/** The most that is taken: payers may add up to as much again, to be harder to follow. Source: BOLT 4. */
const mostOf = (askedMsat: bigint): bigint => 2n * askedMsat;

/** Is the money being taken? Until that is over, its payment neither ends nor gets another quote. */
export const isBeingTaken = ({ decision, isOver }: HeldRecord): boolean => decision === 'take' && !isOver;

/** Whole satoshi of what was taken; the rest of less than one is nobody's, and stays in the node. */
export const satoshiIn = (msat: bigint): bigint => msat / 1000n;

/** The next thing to do about an invoice. The same facts give the same step, so whoever was interrupted asks again. */
export function nextHeldStep(facts: HeldFacts): HeldStep {
  const { record, sighting } = facts;
  if (record.isOver || record.bookedMsat !== null) return { do: 'end' };
  // The node's word that it took the money is the only one that books it, whatever was decided.
  if (sighting.state === 'settled') {
    if (record.decision === null) return decide('take', 'taken already', 'held-foreign');
    return { do: 'book', msat: sighting.paidMsat, ...(record.decision === 'take' ? {} : { incident: 'held-foreign' }) };
  }
  if (record.decision === 'take') return whileTaking(facts);
  if (record.decision === 'return') return isGone(sighting) ? { do: 'end' } : { do: 'cancel' };
  return undecided(facts);
}

/** The record after a step. What was decided or booked before stays, whoever comes second. */
export function recordAfter(record: HeldRecord, step: HeldStep): HeldRecord {
  if (record.isOver) return record;
  if (step.do === 'decide') return { ...record, decision: record.decision ?? step.decision };
  if (step.do === 'book') return { ...record, bookedMsat: record.bookedMsat ?? step.msat, isOver: true };
  return step.do === 'end' ? { ...record, isOver: true } : record;
}

const decide = (decision: 'take' | 'return', why: Why, incident?: 'held-foreign'): HeldStep => ({
  ...{ do: 'decide', decision, why },
  ...(incident ? { incident } : {}),
});

const isGone = ({ state }: HeldSighting): boolean => state === 'cancelled' || state === 'unknown';

/** How many blocks held money still has; null where nobody can say. */
const blocksLeft = ({ sighting: { expiryHeight }, height }: HeldFacts): number | null =>
  expiryHeight === null || height === null ? null : expiryHeight - height;

function undecided(facts: HeldFacts): HeldStep {
  const { sighting, isWanted, isPast, askedMsat } = facts;
  if (sighting.state === 'cancelled') return decide('return', 'sent back by the node');
  if (!isWanted) return decide('return', 'not wanted');
  // Open, or not made yet: nothing came in time.
  if (sighting.state !== 'accepted') return isPast ? decide('return', 'too late') : { do: 'wait' };
  if (sighting.paidMsat < askedMsat) return decide('return', 'too little');
  if (sighting.paidMsat > mostOf(askedMsat)) return decide('return', 'too much');
  const left = blocksLeft(facts);
  if (left === null) return { do: 'wait' };
  return left < leastToTake ? decide('return', 'too late') : decide('take', 'whole');
}

function whileTaking(facts: HeldFacts): HeldStep {
  const { state } = facts.sighting;
  if (state === 'cancelled') return { do: 'end' }; // it went back before the node was told: nothing came
  // A node that has lost its memory never takes it, and the payer has it back: nobody must wait for ever.
  if (state === 'unknown') return facts.isLostForGood ? { do: 'end' } : { do: 'wait', incident: 'held-lost' };
  const left = state === 'accepted' ? blocksLeft(facts) : null;
  if (left === null) return { do: 'wait' };
  // Too late to be sure of it. If the node was told already and its answer was lost, it refuses, and says so.
  return { do: left < leastToSettle ? 'cancel' : 'settle' };
}
