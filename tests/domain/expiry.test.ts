import fc from 'fast-check';
import {
  afterLook,
  areAllVoid,
  contradictionOf,
  faultOfProof,
  nextStep,
  refusalToSign,
  stateOf,
  type AbsenceProof,
  type ExpiringAttempt,
} from '../../domain/txmanager/expiry';
import * as world from './expiring-world';
import { begin, check, finish, rules, type Family, type Rules, type State } from './expiring-world';

/** Transactions that expire. Invariants: 5, step 9. */

const families: readonly Family[] = [
  { end: 'height', life: 3 },
  { end: 'time', life: 4 },
];
const ends = new Map<string, number>();
const count = (what: string): void => void ends.set(what, (ends.get(what) ?? 0) + 1);

/** What can happen between two acts of ours, with two numbers to choose by. */
type Deed = (state: State, n: number, m: number, family: Family, use: Rules) => State;
const hold = (state: State, held: ReturnType<typeof world.think>): State =>
  held ? { ...state, held: [...state.held, held] } : state;
const deeds: Readonly<Record<string, Deed>> = {
  mineNone: (state, n) => world.mine(state, () => 'no', 1 + (n % 3)),
  mineSome: (state, n, m) => world.mine(state, (k) => ((n >> k) & 1 ? 'done' : 'no'), 1 + (m % 3)),
  mineAll: (state) => world.mine(state, () => 'done'),
  mineFailed: (state, n) => world.mine(state, (k) => (n % 4 === 0 && k === 0 ? 'failed' : 'no')),
  finalise: (state, n) => world.finalise(state, 1 + (n % 3)),
  reorganise: (state, n) => world.reorganise(state, 1 + (n % 3)),
  sync: (state, n, m) => world.sync(state, n % state.nodes.length, m % 3),
  think: (state, n, _, family, use) => hold(state, world.think(state, n % state.nodes.length, family, use)),
  falseAnswer(state, n, m, family, use) {
    const fateOf: typeof world.fateAt = (view, row) => world.falseFate(view, row, m);
    return hold(state, world.think(state, n % state.nodes.length, family, use, fateOf));
  },
  act(state, n, m, _, use) {
    const held = state.held[n % (state.held.length || 1)];
    if (!held) return state;
    // A process that was slow does it again.
    const rest = m % 4 === 3 ? state.held : state.held.filter((one) => one !== held);
    return world.act({ ...state, held: rest }, held, use, { arrives: m % 5 !== 0, isAnswered: m % 3 !== 0 });
  },
  crash: (state) => ({ ...state, held: [] }),
  cancel: (state, n, _, __, use) => (n % 8 ? state : world.cancel(state, use)),
  tick: (state, _, __, ___, use) => world.tick(state, use),
};
/** How it goes where little is in the way, so that histories get far. */
const usual: Readonly<Record<string, Deed>> = {
  step(state, n, m, family, use) {
    const held = world.think(state, n % state.nodes.length, family, use);
    return held ? world.act(state, held, use, { arrives: m % 5 !== 0, isAnswered: m % 3 !== 0 }) : state;
  },
  /** A node sees it in a block that is not final. */
  glimpse: (state, n) =>
    world.sync(
      world.mine(state, (k) => (k === n % 3 ? 'done' : 'no')),
      n % state.nodes.length,
      2,
    ),
  /** A life passes in which the network takes nothing. */
  pass(state, n, _, { life }) {
    let next = state;
    for (let blocks = 0; blocks < life; blocks += 1) next = world.mine(next, () => 'no');
    next = world.finalise(next, n % 4 ? life : n % life);
    return world.sync(world.sync(next, 0), 1, n % 3);
  },
};
const allDeeds: Readonly<Record<string, Deed>> = { ...deeds, ...usual };
const often = [...Array<string>(6).fill('step'), 'pass', 'pass', 'pass', 'glimpse', 'mineAll', 'tick', 'tick'];

const history = fc.record({
  family: fc.constantFrom(...families),
  done: fc.array(
    fc.record({ deed: fc.constantFrom(...often, ...Object.keys(allDeeds)), n: fc.nat(59), m: fc.nat(59) }),
    // The usual size would cut histories to a dozen deeds.
    { minLength: 10, maxLength: 50, size: 'max' },
  ),
});

const survives = (use: Rules) =>
  fc.property(fc.noBias(history), ({ family, done }) => {
    let state = begin(2);
    for (const { deed, n, m } of done) {
      state = allDeeds[deed]!(state, n, m, family, use);
      check(state);
    }
    const last = finish(state, family, use);
    count(last.isReleased ? 'released' : 'paid');
    count(`${Math.min(state.rows.length, 3)} attempts`);
    if (state.rows.some(({ status }) => status === 'final')) count('ended in the midst');
    if (state.forks) count('reorganised');
  });

it('pays once or gives back once, and forgets nothing, in 20,000 random histories', () => {
  ends.clear();
  fc.assert(survives(rules), { numRuns: 20_000 });
  // Histories that never get anywhere would prove nothing.
  for (const what of [
    'paid',
    'released',
    '1 attempts',
    '2 attempts',
    '3 attempts',
    'reorganised',
    'ended in the midst',
  ])
    expect([what, (ends.get(what) ?? 0) > 200]).toEqual([what, true]);
});

/** What tells two states of the small world apart. */
function keyOf({ blocks, final, forks, nodes, pool, rows, held, isReleased }: State): string {
  const chain = (some: State['blocks']): string => some.map(({ hash, txs }) => `${hash}${txs.join()}`).join();
  const fateIn = (one: State['held'][number]): unknown => {
    if (one.act !== 'note') return one;
    const { fate } = one;
    return fate.state === 'mined' ? [one.n, fate.isFinal, fate.success, fate.blockHash] : [one.n, fate];
  };
  const views = nodes.map((node) => [chain(node.blocks), node.final]);
  return JSON.stringify([chain(blocks), final, forks, views, pool, rows, held.map(fateIn), isReleased]);
}

/** All orders of a small world: every state that can be come to, each once. Lives are two blocks. */
function explore(use: Rules, family: Family, mostStates: number): number {
  const well = { arrives: true, isAnswered: true };
  const most = { height: 4, forks: 1, attempts: 2 };
  const moves = (state: State): State[] => {
    const next: State[] = [];
    const [held] = state.held;
    if (state.blocks.length <= most.height)
      next.push(
        world.mine(state, () => 'no'),
        ...(state.pool.length ? [world.mine(state, () => 'done')] : []),
      );
    if (state.final < state.blocks.length - 1) next.push(world.finalise(state, 1));
    if (state.forks < most.forks) next.push(world.reorganise(state, 1));
    next.push(world.sync(state, 0), world.cancel(state, use), world.tick(state, use));
    const thought = world.think(state, 0, family, use);
    if (!held && thought && !(thought.act === 'sign' && state.rows.length === most.attempts))
      next.push(hold(state, thought));
    const guess = world.think(state, 0, family, use, (view, row) => world.falseFate(view, row, 3));
    if (!held && guess?.act === 'note') next.push(hold(state, guess));
    if (!held) return next;
    // Done; done, and the process ends before it knows; lost on the way; done, and to be done again.
    next.push({ ...state, held: [] });
    for (const way of [well, { arrives: true, isAnswered: false }, { arrives: false, isAnswered: true }])
      next.push(world.act({ ...state, held: [] }, held, use, way));
    next.push(world.act(state, held, use, well));
    return next;
  };
  const seen = new Set<string>();
  let open = [begin(1)];
  while (open.length) {
    const found: State[] = [];
    for (const state of open)
      for (const next of moves(state)) {
        const key = keyOf(next);
        if (seen.has(key)) continue;
        seen.add(key);
        check(next);
        if (!next.held.length) finish(next, family, use);
        found.push(next);
        if (seen.size >= mostStates) return seen.size;
      }
    open = found;
  }
  return seen.size;
}

const small: readonly Family[] = [
  { end: 'height', life: 2 },
  { end: 'time', life: 2 },
];
it.each(small)('pays once, and forgets nothing, in every order of a small world ($end)', (family) => {
  const states = explore(rules, family, 2_000_000);
  expect(states).toBeGreaterThan(10_000);
  expect(states).toBeLessThan(2_000_000);
});

/** A row as one who trusts too much would end it. */
const believed = (row: ExpiringAttempt): ExpiringAttempt => {
  const { from, last } = row.window;
  const through = 'height' in last ? { height: last.height, hash: '', time: 0 } : { height: from, hash: '', ...last };
  const absence: AbsenceProof = { txId: row.txId, from, through, finalHeight: through.height };
  return row.status === 'final' ? row : { ...row, status: 'expired', absence };
};
const isOver = ({ window: { last } }: ExpiringAttempt, at: Readonly<{ height: number; time: number }>): boolean =>
  'height' in last ? at.height >= last.height : at.time >= last.time;

/** The rule with a part of it gone: each must be noticed, or the two tests above prove nothing. */
const mutants: ReadonlyArray<readonly [name: string, finding: RegExp, mutant: Partial<Rules>]> = [
  [
    'signs anew where a node says that the bytes have expired',
    /paid|is void by block/,
    { afterAnswer: (row, isPast) => (isPast ? believed(row) : rules.afterAnswer(row, isPast)) },
  ],
  [
    'signs anew by our own clock',
    /paid|is void by block/,
    { afterClock: (row, now) => (isOver(row, now) && row.status !== 'final' ? believed(row) : row) },
  ],
  [
    'takes any search for a proof: blocks left out, or not final',
    /paid|is void by block/,
    { afterLook: (row, fate) => (fate.state === 'absent' ? believed(row) : afterLook(row, fate)) },
  ],
  ['does not decide again under the lock', /paid twice|stopped/, { refusalToSign: () => null }],
  ['gives back while one is open', /paid|given back/, { areAllVoid: () => true }],
  [
    'takes a block that is not final for the end',
    /not in the chain as booked|given back|had called final|no block through/,
    {
      afterLook: (row, fate) =>
        row.status !== 'final' && fate.state === 'mined'
          ? { ...row, status: 'final', success: fate.success }
          : afterLook(row, fate),
    },
  ],
  [
    'no longer looks for what is past its end',
    /forgotten/,
    {
      nextStep(attempts, tip) {
        const step = nextStep(attempts, tip);
        return step.act === 'look' ? { act: 'end', outcome: 'paid' } : step;
      },
    },
  ],
  [
    'never finds one void',
    /forgotten/,
    { afterLook: (row, fate) => (fate.state === 'absent' ? row : afterLook(row, fate)) },
  ],
];

describe.each(mutants)('a rule that %s', (_, finding, mutant) => {
  const use = { ...rules, ...mutant };

  it('is caught by random histories', () => {
    const { failed, errorInstance } = fc.check(survives(use), { numRuns: 20_000, endOnFailure: true });
    expect([failed, String(errorInstance)]).toEqual([true, expect.stringMatching(finding)]);
  });

  it('is caught by the orders of the small world', () => {
    expect(() => explore(use, small[0]!, 2_000_000)).toThrow(finding);
  });
});

describe('a proof', () => {
  const attempt = (window: ExpiringAttempt['window']): ExpiringAttempt => ({
    n: 1,
    txId: 'a',
    window,
    status: 'sent',
    success: null,
    absence: null,
  });
  const block = (height: number, time: number) => ({ height, hash: `h${height}`, time });
  const byHeight = attempt({ from: 10, last: { height: 14 } });
  const byTime = attempt({ from: 10, last: { time: 5_000 } });
  const proof = (some: Partial<AbsenceProof> = {}): AbsenceProof => ({
    txId: 'a',
    from: 10,
    through: block(14, 5_000),
    finalHeight: 14,
    ...some,
  });

  it('covers every block that could have the transaction, and each of them is final', () => {
    for (const one of [byHeight, byTime]) {
      expect(faultOfProof(one, proof())).toBeNull();
      expect(faultOfProof(one, proof({ from: 9, through: block(15, 5_001), finalHeight: 20 }))).toBeNull();
      expect(faultOfProof(one, proof({ txId: 'b' }))).toBe('it is about b');
      expect(faultOfProof(one, proof({ from: 11 }))).toMatch(/block 10 could have/);
      expect(faultOfProof(one, proof({ finalHeight: 13 }))).toBe('block 14 is not final');
      expect(faultOfProof(one, proof({ through: block(13, 4_999) }))).toBe('blocks after 13 can have the transaction');
      expect(faultOfProof(one, proof({ from: 3, through: block(2, 9_000) }))).toMatch(/before it begins/);
    }
    // The time of a block says nothing of a last height, nor a height of a last time.
    expect(faultOfProof(byHeight, proof({ through: block(13, 9_000) }))).not.toBeNull();
    expect(faultOfProof(byTime, proof({ through: block(14, 4_999) }))).not.toBeNull();
  });

  it('is what makes an attempt void: its status alone does not', () => {
    const ended: ExpiringAttempt = { ...byHeight, status: 'expired' };
    expect(stateOf(ended)).toBe('open');
    expect(areAllVoid([ended])).toBe(false);
    expect(nextStep([ended], { height: 20, time: 0 })).toEqual({ act: 'look', n: 1 });
    const isVoid = afterLook(ended, { state: 'absent', proof: proof() });
    expect(stateOf(isVoid)).toBe('void');
    expect(nextStep([isVoid], { height: 20, time: 0 })).toEqual({ act: 'sign', n: 2 });
    expect(refusalToSign([ended], 20)).toBe('a is open');
    expect(refusalToSign([isVoid], 13)).toMatch(/^block 13 is before block 14/);
    expect(refusalToSign([isVoid], 14)).toBeNull();
    expect(refusalToSign([], 0)).toBeNull();
  });

  it('against a final block is a contradiction, for operators', () => {
    const mined = { state: 'mined', isFinal: true, success: true, feeUnits: 1n, height: 12, blockHash: 'h12' } as const;
    const isVoid = afterLook(byHeight, { state: 'absent', proof: proof() });
    const paid = afterLook(byHeight, mined);
    expect(contradictionOf(byHeight, mined)).toBeNull();
    // An answer of an earlier time, about a block that has gone since.
    expect(contradictionOf(isVoid, { ...mined, isFinal: false })).toBeNull();
    expect(contradictionOf(isVoid, mined)).toMatch(/is void by block 14, and block 12 has it/);
    expect(contradictionOf(paid, { state: 'absent', proof: proof() })).toMatch(/was in a final block/);
    expect(contradictionOf(paid, { state: 'absent', proof: proof({ from: 11 }) })).toBeNull();
    // Neither is changed by the other.
    expect(afterLook(isVoid, mined)).toBe(isVoid);
    expect(afterLook(paid, { state: 'absent', proof: proof() })).toBe(paid);
    expect(nextStep([isVoid, { ...byHeight, n: 2, txId: 'b' }, { ...byHeight, n: 3 }], block(0, 0)).act).toBe('stop');
  });
});
