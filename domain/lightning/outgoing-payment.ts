/** How an invoice of somebody else is paid once. The node pays a hash once, but tries anew what has failed when it is
 *  asked again: so a payment has failed only when no call of ours can reach the node any more. Millisatoshi. See
 *  docs/decisions/0049-lightning-begins.md. */

/** What the database keeps of a payment; one row for each payment hash, for ever. */
export type OutgoingRecord = Readonly<{
  /** Calls to the node that were begun and have had no answer. Counted before the call, counted back by its answer: a
   *  call that was cut off stays counted. */
  unanswered: number;
  /** How many calls there were. */
  calls: number;
  /** How it ended; null: it has not. It never changes. */
  outcome: 'paid' | 'failed' | null;
}>;

export const newOutgoing: OutgoingRecord = { unanswered: 0, calls: 0, outcome: null };

/** A payment as its node tells of it. `unknown`: the node has never heard of it. */
export type OutgoingSighting =
  | Readonly<{ state: 'unknown' | 'under way' | 'failed' }>
  | Readonly<{ state: 'paid'; amountMsat: bigint; feeMsat: bigint }>;

/** Read in this order: record, expiry, node. A step is stored only where the record is still the same: otherwise a
 *  call may have begun or ended since the node was asked, and the facts are read again. */
export type OutgoingFacts = Readonly<{
  record: OutgoingRecord;
  /** Has the invoice expired, by the node's clock too? The node refuses it from then on. */
  isExpired: boolean;
  /** Have two operators said that no call can arrive any more, and that nothing is on its way? */
  isGivenUp: boolean;
  /** Does the node not know what it had under way by its last word? It has lost its memory, and the money may be on its
   *  way: nothing follows from what it says. */
  isForgotten: boolean;
  sighting: OutgoingSighting;
  /** May it leave? Approvals, limits and stops, as of the transaction that decides. */
  maySend: boolean;
  /** Was the node called for it less than `pauseMs` ago? */
  isTooSoon: boolean;
}>;

export type OutgoingStep =
  | Readonly<{ do: 'wait' | 'end' }>
  /** Count the call, then have the node pay. */
  | Readonly<{ do: 'send' }>
  /** Capture the hold: it left. */
  | Readonly<{ do: 'book'; amountMsat: bigint; feeMsat: bigint }>
  /** Release the hold: nothing left, and nothing will. */
  | Readonly<{ do: 'fail' }>;

/** More ways are looked for by the node itself within one call; a second call is for a node that was away. */
export const mostCalls = 3;
/** Between two calls for one payment: a node that comes back looks for its peers first, and one that loses calls does
 *  so for some seconds. Without it a moment would take all of them. */
export const pauseMs = 15_000;

/** Payments of one merchant that the node has under way at once, at the most, where no setting says otherwise. A
 *  channel carries 483, many peers allow 30, and a receiver can hold each of them for days. */
export const usualUnderWay = 16;

/** The next thing to do about a payment. The same facts give the same step. */
export function nextOutgoingStep(facts: OutgoingFacts): OutgoingStep {
  const { record, sighting, isExpired, isGivenUp, isForgotten, maySend, isTooSoon } = facts;
  const { outcome, unanswered, calls } = record;
  if (outcome !== null) return { do: 'end' };
  if (sighting.state === 'paid') return { do: 'book', amountMsat: sighting.amountMsat, feeMsat: sighting.feeMsat };
  if (sighting.state === 'under way') return { do: 'wait' };
  if (isForgotten) return { do: isGivenUp ? 'fail' : 'wait' };
  if (isExpired || isGivenUp) return { do: 'fail' };
  // Whether the node knows nothing of it or has given up: a call that is still on its way would begin it again.
  const isStill = unanswered === 0;
  if (maySend && calls < mostCalls) return { do: calls > 0 && isTooSoon ? 'wait' : 'send' };
  return isStill ? { do: 'fail' } : { do: 'wait' };
}

/** The record after a step. An outcome stays, whoever comes second. */
export function outgoingAfter(record: OutgoingRecord, step: OutgoingStep): OutgoingRecord {
  if (record.outcome !== null) return record;
  if (step.do === 'send') return { ...record, calls: record.calls + 1, unanswered: record.unanswered + 1 };
  if (step.do === 'book') return { ...record, outcome: 'paid' };
  return step.do === 'fail' ? { ...record, outcome: 'failed' } : record;
}

/** The record after a call has been answered, with whatever: it can no longer arrive. */
export const answered = (record: OutgoingRecord): OutgoingRecord => ({
  ...record,
  unanswered: Math.max(0, record.unanswered - 1),
});
