import type { TermsAnswer } from '../../domain/chains/chain';
import { afterLook, faultOfProof, type ExpiringAttempt, type Fate } from '../../domain/txmanager/expiry';
import { verdictOnExpiry, type ExpiryFacts } from '../../txmanager/sign/expiry-policy';
import { fateAt, falseFate, type Family, type State as Chain } from './expiring-world';

/** A signer with a node and a record of its own, beside a chain worker whose database role somebody has stolen. One
 *  wallet pays two intents the same to the same address, so that nothing but the rule tells their bytes apart. The
 *  state is plain data. docs/decisions/0060-signing-what-expires.md */

type View = Chain['nodes'][number];
/** What a process was told, and what it could have read with it. It may act late, twice or never. */
type Look = Readonly<{ intent: number; terms: TermsAnswer; facts: ExpiryFacts }>;
type Row = ExpiringAttempt & Readonly<{ intent: number; sequence: number | null; isForged: boolean }>;
type Signed = ExpiringAttempt & Readonly<{ intent: number }>;

export type State = Readonly<{
  blocks: Chain['blocks'];
  final: number;
  forks: number;
  /** Of the signer; of the chain worker. */
  own: View;
  other: View;
  /** What the network has been given, and may still put into a block. */
  pool: readonly string[];
  /** Everybody with a chain worker's role writes these. */
  rows: readonly Row[];
  /** The signer alone writes these. */
  record: readonly Signed[];
  looks: readonly Look[];
  /** What was held for these went back. */
  released: readonly number[];
  ageSeconds: number;
}>;

/** The rules under test. A mutant replaces one. */
export type Rules = Readonly<{
  verdict: typeof verdictOnExpiry;
  faultOfProof: typeof faultOfProof;
  /** What is decided by: read under the locks, or before. */
  factsOf: (now: ExpiryFacts, then: ExpiryFacts) => ExpiryFacts;
  /** Whether its node is asked what became of what was signed. */
  asks: boolean;
}>;
export const rules: Rules = {
  verdict: verdictOnExpiry,
  faultOfProof,
  factsOf: (now) => now,
  asks: true,
};

const genesis = { height: 0, hash: '0', time: 0, txs: [] };
const view: View = { blocks: [genesis], final: 0 };
export const begin: State = {
  ...{ blocks: [genesis], final: 0, forks: 0, own: view, other: view },
  ...{ pool: [], rows: [], record: [], looks: [], released: [], ageSeconds: 0 },
};

const used = (blocks: Chain['blocks']): string[] => blocks.flatMap(({ txs }) => txs.map(([id]) => id));
const isPast = ({ last }: Row['window'], { height, time }: Readonly<{ height: number; time: number }>): boolean =>
  'height' in last ? height >= last.height : time >= last.time;

/** The next block, with those of the pool that are taken and that the chain allows. */
export function mine(state: State, takes: (n: number) => boolean, seconds = 1): State {
  const parent = state.blocks.at(-1)!;
  const txs: Array<readonly [string, boolean]> = [];
  for (const [n, id] of state.pool.entries()) {
    const { window, sequence } = state.rows.find(({ txId }) => txId === id)!;
    const all = [...used(state.blocks), ...txs.map(([one]) => one)];
    const isNext = sequence === null || sequence === all.length;
    if (takes(n) && isNext && !all.includes(id) && !isPast(window, parent)) txs.push([id, true]);
  }
  const height = parent.height + 1;
  const block = { height, hash: `${state.forks}/${height}`, time: parent.time + seconds, txs };
  return { ...state, blocks: [...state.blocks, block] };
}

export const finalise = (state: State, count: number): State => ({
  ...state,
  final: Math.min(state.final + count, state.blocks.length - 1),
});
export function reorganise(state: State, depth: number): State {
  const kept = Math.max(state.final + 1, state.blocks.length - depth);
  return kept >= state.blocks.length
    ? state
    : { ...state, blocks: state.blocks.slice(0, kept), forks: state.forks + 1 };
}
export function sync(state: State, who: 'own' | 'other', behind = 0): State {
  const final = Math.max(state[who].final, state.final - behind);
  return { ...state, [who]: { blocks: state.blocks, final } };
}

/** What the policy reads of an intent: its rows, the signer's record, and its wallet by the rows. */
function factsOf(state: State, intent: number, terms: TermsAnswer): ExpiryFacts {
  const last = state.rows.at(-1);
  const open = state.rows.find(({ status }) => ['stored', 'sent', 'mined'].includes(status));
  const next = !last || last.sequence === null ? null : last.sequence + (last.status === 'expired' ? 0 : 1);
  return {
    givesUp: { state: 'due' },
    attempts: state.rows.filter((row) => row.intent === intent),
    signed: state.record.filter((row) => row.intent === intent),
    ageSeconds: state.ageSeconds,
    isRefused: false,
    wallet: { open: open?.txId ?? null, signedOn: last?.window.from ?? null, sequence: next },
    before: [],
    terms,
  };
}

/** The signer asks its own node. `fateOf`: what that says, or what none should. */
export function look(
  state: State,
  intent: number,
  family: Family,
  use: Rules,
  fateOf: (view: View, row: ExpiringAttempt) => Fate = fateAt,
): State {
  let reason: string | null = null;
  const record = state.record.map((row) => {
    if (row.intent !== intent || row.absence || reason !== null) return row;
    const fate = fateOf(state.own, row);
    if (fate.state === 'absent' && use.faultOfProof(row, fate.proof) === null)
      return { ...row, status: 'expired' as const, absence: fate.proof };
    reason = `${row.txId} is ${fate.state}`;
    return row;
  });
  const on = state.own.blocks[state.own.final]!;
  const sequence = family.end === 'height' ? used(state.own.blocks.slice(0, on.height + 1)).length : null;
  const last = family.end === 'height' ? { height: on.height + family.life } : { time: on.time + family.life };
  const terms: TermsAnswer =
    reason === null || !use.asks
      ? { state: 'done', terms: { on, last, sequence, feeLimit: 1n, mostUnits: 1n } }
      : { state: 'unclear', reason };
  const noted = { ...state, record };
  return { ...noted, looks: [...state.looks, { intent, terms, facts: factsOf(noted, intent, terms) }] };
}

/** Under the locks: it signs, gives back, or does nothing. */
export function decide(state: State, { intent, terms, facts }: Look, use: Rules): State {
  if (state.released.includes(intent)) return state;
  const verdict = use.verdict(use.factsOf(factsOf(state, intent, terms), facts), 'wallet');
  if (verdict?.state === 'dropped') return { ...state, released: [...state.released, intent] };
  if (verdict !== null || terms.state !== 'done') return state;
  const { on, last, sequence } = terms.terms;
  const n = state.rows.filter((row) => row.intent === intent).length + 1;
  const window = { from: on.height, last };
  // The same wallet, amount and receiver: the same bytes where block and sequence are.
  const txId = `on ${on.hash}, ${sequence}`;
  const row = { n, txId, window, success: null, absence: null, intent };
  const added: Row = { ...row, status: 'stored', sequence, isForged: false };
  return { ...state, rows: [...state.rows, added], record: [...state.record, { ...row, status: 'sent' }] };
}

const changeRow = (state: State, index: number, change: (row: Row) => Row): State => ({
  ...state,
  rows: state.rows.map((row, n) => (n === index ? change(row) : row)),
});

/** A chain worker looks for a transaction, and sends it where it is open. */
export function serve(state: State, index: number, arrives: boolean): State {
  const row = state.rows[index];
  if (!row || row.isForged) return state;
  const fate = fateAt(state.other, row);
  const after = changeRow(state, index, (one) => ({ ...one, ...afterLook(one, fate) }));
  const isOpen = ['stored', 'sent'].includes(after.rows[index]!.status) && !state.released.includes(row.intent);
  if (!isOpen || !arrives || state.pool.includes(row.txId)) return after;
  return { ...after, pool: [...after.pool, row.txId] };
}

/** The thief writes a proof which the database takes. */
export const forge = (state: State, index: number): State =>
  changeRow(state, index, (row) => {
    if (row.status !== 'stored' && row.status !== 'sent') return row;
    const { from, last } = row.window;
    const through = 'height' in last ? { height: last.height, time: 0 } : { height: from, time: last.time };
    const absence = { txId: row.txId, from, through: { ...through, hash: 'made up' }, finalHeight: 1_000_000 };
    return { ...row, status: 'expired', absence, isForged: true };
  });

/** Throws where money moved twice, moved and went back, or where two have the same bytes. */
export function check({ blocks, rows, released }: State): void {
  const ids = rows.map(({ txId }) => txId);
  if (new Set(ids).size < ids.length) throw new Error(`the same bytes twice: ${ids.join('; ')}`);
  const paid = rows.filter(({ txId }) => used(blocks).includes(txId)).map(({ intent }) => intent);
  if (new Set(paid).size < paid.length) throw new Error(`paid twice: ${paid.join()}`);
  const both = paid.find((intent) => released.includes(intent));
  if (both !== undefined) throw new Error(`${both} is paid, and given back`);
  const open = rows.filter(({ status }) => status === 'stored' || status === 'sent');
  if (open.length > 1) throw new Error(`two of the wallet are open: ${open.map(({ txId }) => txId).join('; ')}`);
  for (const row of rows)
    for (const { absence } of rows.filter((one) => one.intent === row.intent && one.n < row.n && !one.isForged))
      if (absence && row.window.from < absence.through.height) throw new Error(`${row.txId} is before a proof`);
}

/** Everything is well from now on. Throws where an intent whose rows nobody has forged is then not over. */
export function finish(start: State, family: Family, use: Rules): State {
  let state: State = { ...start, looks: [] };
  for (const held of start.looks) state = decide(state, held, use);
  for (let round = 0; round < 8 * family.life + 16; round += 1) {
    check(state);
    state = finalise(
      mine(state, () => true),
      99,
    );
    state = sync(sync(state, 'own'), 'other');
    for (const index of state.rows.keys()) state = serve(state, index, true);
    state = look(state, round % 2, family, use);
    state = decide({ ...state, looks: [] }, state.looks.at(-1)!, use);
  }
  check(state);
  const paid = state.rows.filter(({ txId }) => used(state.blocks).includes(txId)).map(({ intent }) => intent);
  const open = [0, 1].filter((intent) => !paid.includes(intent) && !state.released.includes(intent));
  if (open.length && !state.rows.some(({ isForged }) => isForged)) throw new Error(`forgotten: ${open.join()}`);
  return state;
}

export { falseFate };
