import fc from 'fast-check';
import { areAllVoid, isTimeToGiveUp } from '../../domain/txmanager/expiry';
import type { ExpiryFacts } from '../../txmanager/sign/expiry-policy';
import type { Family } from './expiring-world';
import * as world from './signer-world';
import { begin, check, finish, rules, type Rules, type State } from './signer-world';

/** The signer's rules of what expires, against a thief of the chain worker's role, a node that lags, and processes that
 *  act late or twice. docs/decisions/0060-signing-what-expires.md */

const families: readonly Family[] = [
  { end: 'height', life: 3 },
  { end: 'time', life: 4 },
];
const ends = new Map<string, number>();
const count = (what: string): void => void ends.set(what, (ends.get(what) ?? 0) + 1);

type Deed = (state: State, n: number, m: number, family: Family, use: Rules) => State;
const deeds: Readonly<Record<string, Deed>> = {
  mineNone: (state, n) => world.mine(state, () => false, 1 + (n % 3)),
  mineSome: (state, n) => world.mine(state, (k) => ((n >> k) & 1) === 1),
  mineAll: (state) => world.mine(state, () => true),
  finalise: (state, n) => world.finalise(state, 1 + (n % 3)),
  reorganise: (state, n) => world.reorganise(state, 1 + (n % 2)),
  sync: (state, n, m) => world.sync(state, n % 2 ? 'own' : 'other', m % 3),
  look: (state, n, _, family, use) => world.look(state, n % 2, family, use),
  falseLook: (state, n, m, family, use) =>
    world.look(state, n % 2, family, use, (view, row) => world.falseFate(view, row, m)),
  decide(state, n, m, _, use) {
    const held = state.looks[n % (state.looks.length || 1)];
    if (!held) return state;
    // A process that was slow does it again.
    const looks = m % 4 === 3 ? state.looks : state.looks.filter((one) => one !== held);
    return world.decide({ ...state, looks }, held, use);
  },
  serve: (state, n, m) => world.serve(state, n % (state.rows.length || 1), m % 5 !== 0),
  forge: (state, n) => world.forge(state, n % (state.rows.length || 1)),
  age: (state) => ({ ...state, ageSeconds: 90_000 }),
  crash: (state) => ({ ...state, looks: [] }),
};
/** How it goes where little is in the way, so that histories get far. */
const usual: Readonly<Record<string, Deed>> = {
  sign(state, n, _, family, use) {
    const asked = world.look(state, n % 2, family, use);
    return world.decide({ ...asked, looks: state.looks }, asked.looks.at(-1)!, use);
  },
  send: (state, n, m) => world.serve(state, state.rows.length - 1, (n + m) % 4 !== 0),
  /** A life passes in which the network takes nothing, and the nodes hear of it. */
  pass(state, n, _, { life }) {
    let next = state;
    for (let blocks = 0; blocks < life; blocks += 1) next = world.mine(next, () => false);
    next = world.finalise(next, n % 3 ? 99 : life - 1);
    return world.sync(world.sync(next, 'own'), 'other', n % 2);
  },
  settle: (state) =>
    world.sync(
      world.sync(
        world.finalise(
          world.mine(state, () => true),
          99,
        ),
        'own',
      ),
      'other',
    ),
};
const all: Readonly<Record<string, Deed>> = { ...deeds, ...usual };
const often = ['sign', 'sign', 'sign', 'sign', 'send', 'send', 'send', 'pass', 'pass', 'settle', 'look', 'decide'];
const history = fc.record({
  family: fc.constantFrom(...families),
  done: fc.array(fc.record({ deed: fc.constantFrom(...often, ...Object.keys(all)), n: fc.nat(59), m: fc.nat(59) }), {
    minLength: 10,
    maxLength: 40,
    size: 'max',
  }),
});

type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

function live({ family, done }: History, use: Rules): void {
  let state = begin;
  for (const { deed, n, m } of done) {
    state = all[deed]!(state, n, m, family, use);
    check(state);
  }
  const last = finish(state, family, use);
  count(last.released.length ? 'released' : 'paid');
  if (last.rows.length > 2) count('signed anew');
  if (state.rows.some(({ isForged }) => isForged)) count('forged');
  if (state.forks) count('reorganised');
}

it('pays each once or gives it back, and never both, in 5,000 random histories', () => {
  ends.clear();
  fc.assert(
    fc.property(fc.noBias(history), (one) => live(one, rules)),
    { numRuns: 5_000 },
  );
  for (const what of ['paid', 'released', 'signed anew', 'forged', 'reorganised'])
    expect([what, (ends.get(what) ?? 0) > 200]).toEqual([what, true]);
});

const verdict = (bend: (facts: ExpiryFacts) => ExpiryFacts): Rules => ({
  ...rules,
  verdict: (facts, from) => rules.verdict(bend(facts), from),
});
const givenUp = { state: 'dropped', reason: 'given up', isGivenUp: true } as const;
const givesUp = (by: (facts: ExpiryFacts) => boolean): Rules => ({
  ...rules,
  verdict: (facts, from) =>
    facts.attempts.length && isTimeToGiveUp(facts.attempts.length, facts.ageSeconds, facts.isRefused) && by(facts)
      ? givenUp
      : rules.verdict(facts, from),
});
const byRows = verdict((facts) => ({ ...facts, signed: [] }));
/** Each with the harm that it does. */
const mutants: ReadonlyArray<readonly [name: string, harm: RegExp, use: Rules]> = [
  ['that believes the rows alone', /is paid, and given back/, byRows],
  ['that believes the rows alone, and asks no node', /^paid twice/, { ...byRows, asks: false }],
  ['that gives back by the clock', /is paid, and given back/, givesUp(() => true)],
  ['that gives back by the rows alone', /is paid, and given back/, givesUp(({ attempts }) => areAllVoid(attempts))],
  [
    'that signs beside an open one of its wallet',
    /two of the wallet are open/,
    verdict((facts) => ({ ...facts, wallet: { ...facts.wallet, open: null } })),
  ],
  [
    'that signs two on one block',
    /the same bytes twice/,
    verdict((facts) => ({ ...facts, wallet: { ...facts.wallet, signedOn: null } })),
  ],
  // What it keeps proves nothing, so that it never signs again; and nobody looks for a better proof.
  ['that keeps any search for a proof', /^forgotten/, { ...rules, faultOfProof: () => null }],
  [
    'that decides by what it read before the locks',
    /two of the wallet are open|the same bytes twice/,
    { ...rules, factsOf: (_, then) => then },
  ],
];
it.each(mutants)('catches a signer %s', (_, harm, use) => {
  const found = fc.check(
    fc.property(fc.noBias(history), (one) => {
      try {
        live(one, use);
      } catch (error) {
        // It may do more than one harm.
        if (harm.test((error as Error).message)) throw error;
      }
    }),
    { numRuns: 20_000, endOnFailure: true },
  );
  expect((found.errorInstance as Error | null)?.message ?? 'nothing').toMatch(harm);
});
