/** Attempts on chains whose transactions expire: when one is void, when another may be signed, and what its intent
 *  waits for. Two of them do not exclude each other as those with one nonce do, so only the proof that the first can be
 *  in no block lets a second be signed. docs/decisions/0058-transactions-that-expire.md; Invariants: 5, step 9. */

/** A block that a proof or a plan names. `time`: Unix milliseconds that it states. */
export type BlockRef = Readonly<{ height: number; hash: string; time: number }>;

/** Which blocks can have a signed transaction. `from`: the height of the final block that it was signed on; no earlier
 *  block can have it. `last.height`: the last block that can (XRP Ledger). `last.time`: Unix milliseconds; no block
 *  whose parent is of that moment or later can (TRON). */
export type ValidityWindow = Readonly<{ from: number; last: Readonly<{ height: number } | { time: number }> }>;

/** The final blocks from `from` to `through` were read, each the parent of the next, and none has the transaction.
 *  `finalHeight`: of the newest final block of the node that was asked. */
export type AbsenceProof = Readonly<{ txId: string; from: number; through: BlockRef; finalHeight: number }>;

/** What a node tells of a signed transaction. `open` proves nothing. `mined`: `success` false where it cost its fee and
 *  moved nothing. `absent`: no block has it and, if the proof covers its window, none ever can. `isOffChain`: the block
 *  that it was signed on, which a node had called final, is none of the chain that is final now. */
export type Fate =
  | Readonly<{ state: 'open'; reason: string; isOffChain?: true }>
  | Readonly<{
      state: 'mined';
      isFinal: boolean;
      success: boolean;
      feeUnits: bigint;
      height: number;
      blockHash: string;
    }>
  | Readonly<{ state: 'absent'; proof: AbsenceProof; isOffChain?: true }>;

/** A signed transaction of an intent, as its row has it. `absence`: the proof that an expired one is void. */
export type ExpiringAttempt = Readonly<{
  n: number;
  txId: string;
  window: ValidityWindow;
  status: 'stored' | 'sent' | 'mined' | 'final' | 'expired';
  success: boolean | null;
  absence: AbsenceProof | null;
}>;

/** `open`: a block may still take it. `mined`: a block that is not final has it. `paid`, `failed`: a final block has
 *  it. `void`: no block can. An end that its proof does not bear out is none. */
export type AttemptState = 'open' | 'mined' | 'paid' | 'failed' | 'void';

/** Is this block, or a later one, the last that can have the transaction? */
const isLast = ({ last }: ValidityWindow, { height, time }: Pick<BlockRef, 'height' | 'time'>): boolean =>
  'height' in last ? height >= last.height : time >= last.time;

/** Why a proof does not show that a transaction is void; null: it does. */
export function faultOfProof(
  { txId, window }: Pick<ExpiringAttempt, 'txId' | 'window'>,
  proof: AbsenceProof,
): string | null {
  const { from, through, finalHeight } = proof;
  if (proof.txId !== txId) return `it is about ${proof.txId}`;
  if (from > window.from) return `it begins at block ${from}, and block ${window.from} could have the transaction`;
  if (through.height < from) return `it ends at block ${through.height}, before it begins`;
  if (through.height > finalHeight) return `block ${through.height} is not final`;
  return isLast(window, through) ? null : `blocks after ${through.height} can have the transaction`;
}

export function stateOf(attempt: ExpiringAttempt): AttemptState {
  if (attempt.status === 'final' && attempt.success !== null) return attempt.success ? 'paid' : 'failed';
  if (attempt.status === 'mined' || attempt.status === 'final') return 'mined';
  const isVoid =
    attempt.status === 'expired' && attempt.absence !== null && faultOfProof(attempt, attempt.absence) === null;
  return isVoid ? 'void' : 'open';
}

/** Whether nothing that was signed can move money, or has: the hold may be released. */
export const areAllVoid = (attempts: readonly ExpiringAttempt[]): boolean =>
  attempts.every((attempt) => stateOf(attempt) === 'void');

/** Why no attempt may be signed on the final block at this height; null: one may. It must be no earlier than what
 *  proved the attempts before it void, so that the windows of one intent never overlap. */
export function refusalToSign(attempts: readonly ExpiringAttempt[], height: number): string | null {
  const standing = attempts.find((attempt) => stateOf(attempt) !== 'void');
  if (standing) return `${standing.txId} is ${stateOf(standing)}`;
  const later = attempts.find(({ absence }) => absence!.through.height > height);
  return later
    ? `block ${height} is before block ${later.absence!.through.height}, which ${later.txId} ended by`
    : null;
}

/** So many attempts are signed for what somebody asked for, and none later than so long after the first. Both are many
 *  times what a chain that works needs. */
const mostAttempts = 8;
/** Of what no block takes, as a node says. */
const mostRefused = 2;
const mostSeconds = 86_400;

/** Whether what is void is not signed anew, but given back. `ageSeconds`: since the first attempt, by the database's
 *  clock; it decides when to give up, and never whether a transaction is void. `isRefused`: a node says
 *  that no block takes it as it is. */
export const isTimeToGiveUp = (attempts: number, ageSeconds: number, isRefused: boolean): boolean =>
  attempts >= (isRefused ? mostRefused : mostAttempts) || ageSeconds >= mostSeconds;

/** What an intent waits for. `send`: look for attempt `n` and, where it is open, hand over its bytes again; `look`: it
 *  is past its end by the newest final block, so it is only looked for, until it is mined or void. `stop`: more than
 *  one attempt stands, which the rule excludes: for operators, nothing is signed or sent. */
export type Step =
  | Readonly<{ act: 'sign' | 'send' | 'look'; n: number }>
  | Readonly<{ act: 'end'; outcome: 'paid' | 'failed' }>
  | Readonly<{ act: 'stop'; reason: string }>;

/** `tip`: the newest final block of a node. The chain's time counts, and never the clock of our machine. */
export function nextStep(attempts: readonly ExpiringAttempt[], tip: Pick<BlockRef, 'height' | 'time'>): Step {
  const standing = attempts.filter((attempt) => stateOf(attempt) !== 'void');
  const [one, other] = standing;
  if (!one) return { act: 'sign', n: attempts.length + 1 };
  if (other) return { act: 'stop', reason: `${one.txId} and ${other.txId} can both be in the chain` };
  const state = stateOf(one);
  if (state === 'paid' || state === 'failed') return { act: 'end', outcome: state };
  return { act: state === 'open' && !isLast(one.window, tip) ? 'send' : 'look', n: one.n };
}

/** An attempt after a look at it. What has ended stays so: an answer may come late. A block that is not final may lose
 *  the transaction again. A proof that does not cover the window changes nothing. */
export function afterLook(attempt: ExpiringAttempt, fate: Fate): ExpiringAttempt {
  const state = stateOf(attempt);
  if (state !== 'open' && state !== 'mined') return attempt;
  if (fate.state === 'mined')
    return { ...attempt, ...(fate.isFinal ? { status: 'final', success: fate.success } : { status: 'mined' }) };
  if (fate.state === 'absent' && faultOfProof(attempt, fate.proof) === null)
    return { ...attempt, status: 'expired', absence: fate.proof };
  return attempt.status === 'mined' ? { ...attempt, status: 'sent' } : attempt;
}

/** Why a look and what is known of an attempt cannot both be true: a node took back what it had called final. A look
 *  at a block that was not final may be of an earlier time. For operators; null: they can. */
export function contradictionOf(attempt: ExpiringAttempt, fate: Fate): string | null {
  const state = stateOf(attempt);
  if (state === 'void' && fate.state === 'mined' && fate.isFinal)
    return `${attempt.txId} is void by block ${attempt.absence!.through.height}, and block ${fate.height} has it`;
  const isTakenBack = state === 'paid' || state === 'failed';
  if (!isTakenBack || fate.state !== 'absent' || faultOfProof(attempt, fate.proof) !== null) return null;
  return `${attempt.txId} was in a final block, and no block through ${fate.proof.through.height} has it`;
}
