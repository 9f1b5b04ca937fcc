import {
  afterLook,
  areAllVoid,
  contradictionOf,
  nextStep,
  refusalToSign,
  type ExpiringAttempt,
  type Fate,
  type ValidityWindow,
} from '../../domain/txmanager/expiry';

/** A chain whose transactions expire, nodes that lag behind it, and processes that send one intent on it and may end
 *  between any two acts. The state is plain data: a step makes a new one, so that all orders can be tried. */

type Block = Readonly<{ height: number; hash: string; time: number; txs: ReadonlyArray<readonly [string, boolean]> }>;
/** What a node shows: a copy of the chain from when it last heard of it. */
type View = Readonly<{ blocks: readonly Block[]; final: number }>;
/** What a process has read, or been told, and not yet acted on. It may act late, twice or never. */
type Held =
  | Readonly<{ act: 'sign'; window: ValidityWindow }>
  | Readonly<{ act: 'send'; n: number; node: number }>
  | Readonly<{ act: 'note'; n: number; fate: Fate }>
  | Readonly<{ act: 'release' }>;

export type State = Readonly<{
  blocks: readonly Block[];
  final: number;
  forks: number;
  nodes: readonly View[];
  /** What the network has been given and may still put into a block, however late. */
  pool: readonly string[];
  /** The rows of the database: all that outlives a process. */
  rows: readonly ExpiringAttempt[];
  held: readonly Held[];
  /** The hold went back to the merchant. */
  isReleased: boolean;
}>;

/** The rule under test. A mutant replaces parts of it. */
export type Rules = Readonly<{
  nextStep: typeof nextStep;
  afterLook: typeof afterLook;
  areAllVoid: typeof areAllVoid;
  refusalToSign: typeof refusalToSign;
  /** What a row becomes by the node's answer to its bytes. `isPast`: the node says that they have expired. */
  afterAnswer: (row: ExpiringAttempt, isPast: boolean) => ExpiringAttempt;
  /** What a row becomes by the time of our machine, which runs ahead of final blocks. */
  afterClock: (row: ExpiringAttempt, now: Readonly<{ height: number; time: number }>) => ExpiringAttempt;
}>;

export const rules: Rules = {
  nextStep,
  afterLook,
  areAllVoid,
  refusalToSign,
  afterAnswer: (row, isPast) => (row.status === 'stored' && !isPast ? { ...row, status: 'sent' } : row),
  afterClock: (row) => row,
};

/** How a chain ends what is signed, and how long after. */
export type Family = Readonly<{ end: 'height' | 'time'; life: number }>;

const genesis: Block = { height: 0, hash: '0', time: 0, txs: [] };
export const begin = (nodes: number): State => ({
  blocks: [genesis],
  final: 0,
  forks: 0,
  nodes: Array.from({ length: nodes }, () => ({ blocks: [genesis], final: 0 })),
  pool: [],
  rows: [],
  held: [],
  isReleased: false,
});

const headOf = ({ blocks }: Pick<State, 'blocks'>): Block => blocks.at(-1)!;
const isPast = ({ last }: ValidityWindow, block: Pick<Block, 'height' | 'time'>): boolean =>
  'height' in last ? block.height >= last.height : block.time >= last.time;
const has = ({ txs }: Block, id: string): boolean => txs.some(([one]) => one === id);

/** The next block, with those of the pool that `takes` says and the chain allows. */
export function mine(state: State, takes: (n: number) => 'no' | 'done' | 'failed', seconds = 1): State {
  const parent = headOf(state);
  const txs = state.pool.flatMap((id, n) => {
    const row = state.rows.find(({ txId }) => txId === id)!;
    const isAllowed = !isPast(row.window, parent) && !state.blocks.some((block) => has(block, id));
    const how = isAllowed ? takes(n) : 'no';
    return how === 'no' ? [] : [[id, how === 'done'] as const];
  });
  const height = parent.height + 1;
  const block = { height, hash: `${height}/${state.forks}`, time: parent.time + seconds, txs };
  return { ...state, blocks: [...state.blocks, block] };
}

export const finalise = (state: State, count: number): State => ({
  ...state,
  final: Math.min(state.final + count, headOf(state).height),
});

/** What is not final goes, from a height on. Its transactions are in the pool still. */
export function reorganise(state: State, depth: number): State {
  const kept = Math.max(state.final + 1, state.blocks.length - depth);
  if (kept >= state.blocks.length) return state;
  return { ...state, blocks: state.blocks.slice(0, kept), forks: state.forks + 1 };
}

/** A node hears of the chain; of what is final perhaps less. */
export function sync(state: State, node: number, finalBehind = 0): State {
  const known = state.nodes[node]!;
  const view = { blocks: state.blocks, final: Math.max(known.final, state.final - finalBehind) };
  return { ...state, nodes: state.nodes.map((one, n) => (n === node ? view : one)) };
}

/** What an adapter reads of a node. */
export function fateAt({ blocks, final }: View, { txId, window }: ExpiringAttempt): Fate {
  const at = blocks.find((block) => has(block, txId));
  if (at) {
    const success = at.txs.find(([id]) => id === txId)![1];
    const isFinal = at.height <= final;
    return { state: 'mined', isFinal, success, feeUnits: 1n, height: at.height, blockHash: at.hash };
  }
  const through = blocks.find((block) => isPast(window, block));
  if (!through || through.height > final) return { state: 'open', reason: 'its end is not final' };
  return { state: 'absent', proof: { txId, from: window.from, through, finalHeight: final } };
}

/** What no adapter should hand on: a search that left blocks out or reached into what is not final, or one for another
 *  transaction. */
export function falseFate(view: View, row: ExpiringAttempt, n: number): Fate {
  const { blocks, final } = view;
  const begins = row.window.from + 1 + (n % 2);
  const ends = n % 3 === 0 ? blocks.at(-1)! : blocks[final]!;
  if (n % 5 === 0 || ends.height < begins) {
    const proof = { txId: 'another', from: 0, through: ends, finalHeight: final };
    return { state: 'absent', proof };
  }
  const isSeen = blocks.some((block) => block.height >= begins && block.height <= ends.height && has(block, row.txId));
  if (isSeen) return fateAt(view, row);
  return { state: 'absent', proof: { txId: row.txId, from: begins, through: ends, finalHeight: final } };
}

/** A process reads the rows and a node, and knows what to do next. */
export function think(state: State, node: number, family: Family, use: Rules, fateOf = fateAt): Held | null {
  const view = state.nodes[node]!;
  const tip = view.blocks[view.final]!;
  if (state.isReleased) return null;
  const step = use.nextStep(state.rows, tip);
  if (step.act === 'stop') throw new Error(`stopped: ${step.reason}`);
  if (step.act === 'end') return step.outcome === 'failed' ? { act: 'release' } : null;
  if (step.act === 'sign') {
    const last = family.end === 'height' ? { height: tip.height + family.life } : { time: tip.time + family.life };
    return { act: 'sign', window: { from: tip.height, last } };
  }
  const row = state.rows[step.n - 1]!;
  const fate = fateOf(view, row);
  if (fate.state !== 'open' || row.status === 'mined') return { act: 'note', n: step.n, fate };
  return step.act === 'send' ? { act: 'send', n: step.n, node } : null;
}

const setRow = (state: State, n: number, make: (row: ExpiringAttempt) => ExpiringAttempt): State => ({
  ...state,
  rows: state.rows.map((row) => (row.n === n ? make(row) : row)),
});

/** What becomes of bytes on their way to a node, and of its answer. */
export type Way = Readonly<{ arrives: boolean; isAnswered: boolean }>;

/** A process does what it has in hand, each in a transaction of its own: what is signed is decided again there. */
export function act(state: State, held: Held, use: Rules, { arrives, isAnswered }: Way): State {
  if (held.act === 'release') return { ...state, isReleased: true };
  if (held.act === 'sign') {
    if (state.isReleased || use.refusalToSign(state.rows, held.window.from) !== null) return state;
    const n = state.rows.length + 1;
    const { window } = held;
    const row = { n, txId: `t${n}`, window, status: 'stored' as const, success: null, absence: null };
    return { ...state, rows: [...state.rows, row] };
  }
  if (held.act === 'note') {
    const { fate } = held;
    return setRow(state, held.n, (row) => {
      const fault = contradictionOf(row, fate);
      if (fault) throw new Error(fault);
      return use.afterLook(row, fate);
    });
  }
  const { txId, window } = state.rows[held.n - 1]!;
  const isRefused = isPast(window, headOf(state.nodes[held.node]!));
  const pool = arrives && !isRefused && !state.pool.includes(txId) ? [...state.pool, txId] : state.pool;
  const sent = { ...state, pool };
  return isAnswered ? setRow(sent, held.n, (row) => use.afterAnswer(row, isRefused)) : sent;
}

/** A merchant takes it back: only where nothing that was signed can move money. */
export const cancel = (state: State, use: Rules): State =>
  use.areAllVoid(state.rows) ? { ...state, isReleased: true } : state;

export const tick = (state: State, use: Rules): State => ({
  ...state,
  rows: state.rows.map((row) => use.afterClock(row, headOf(state))),
});

const successes = ({ blocks }: Pick<State, 'blocks'>): string[] =>
  blocks.flatMap(({ txs }) => txs.flatMap(([id, success]) => (success ? [id] : [])));

/** Throws where money moved twice, or moved and went back to the merchant too. */
export function check(state: State): void {
  const paid = successes(state);
  if (paid.length > 1) throw new Error(`paid twice: ${paid.join()}`);
  if (paid.length && state.isReleased) throw new Error(`paid, and given back: ${paid.join()}`);
  for (const { status, success, txId } of state.rows) {
    if (status !== 'final') continue;
    const told = state.blocks.slice(0, state.final + 1).find((block) => has(block, txId));
    if (told?.txs.find(([id]) => id === txId)?.[1] !== success)
      throw new Error(`${txId} is not in the chain as booked`);
  }
}

/** Everything is well from now on: what is held is done, blocks come and are final at once, take what they are given,
 *  and every node knows of them. Throws where the intent is then not over within a few lives. */
export function finish(start: State, family: Family, use: Rules): State {
  let state = start;
  const well = { arrives: true, isAnswered: true };
  for (const held of state.held) state = act(state, held, use, well);
  state = { ...state, held: [] };
  check(state);
  for (let round = 0; round < 4 * family.life + 8; round += 1) {
    state = finalise(
      mine(state, () => 'done'),
      99,
    );
    state = state.nodes.reduce<State>((one, _, node) => sync(one, node), state);
    const next = think(state, round % state.nodes.length, family, use);
    if (next) state = act(state, next, use, well);
    check(state);
    const isPaid = state.rows.some(({ status, success }) => status === 'final' && success);
    if (isPaid || state.isReleased) return state;
  }
  throw new Error(`forgotten: ${JSON.stringify(state.rows)}`);
}
