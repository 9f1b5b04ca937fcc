import fc from 'fast-check';
import { rangeOf, sumsAt, type Closed, type Moment } from '../../db/audit/closed-sums';
import type { Sums } from '../../db/audit/own-sums';
import { add } from '../../domain/money';

/** Sums of the ledger from closed postings and new ones, against sums of all postings, on a database that is played:
 *  transactions begin, write and end in any order, and somebody looks in between. */

type Transaction = { xid: bigint; state: 'open' | 'committed' | 'undone' };
type Posting = Readonly<{ id: bigint; asset: string; amount: string; by: Transaction }>;
type Step = Readonly<{ act: 'begin' | 'write' | 'commit' | 'undo' | 'look' | 'restore'; n: number }>;
/** How the id is found that closes postings once all before it have ended. */
type Bound = (played: Played) => bigint;

class Played {
  readonly transactions: Transaction[] = [];
  postings: Posting[] = [];
  private xid = 700n;
  private id = 0n;
  incarnation = 1;

  open(n: number): Transaction | undefined {
    const all = this.transactions.filter(({ state }) => state === 'open');
    return all[n % Math.max(1, all.length)];
  }

  /** A transaction that writes has an id before its first posting has one: its journal is written before. */
  begin(): void {
    this.transactions.push({ xid: this.drawn(), state: 'open' });
  }

  write(n: number): void {
    const by = this.open(n);
    if (by) this.postings.push({ id: (this.id += 1n), asset: n % 3 ? 'BTC' : 'ETH', amount: `${n - 40}.5`, by });
  }

  /** An earlier state of the same rows: what has come since is gone, and its ids come again. */
  restore(n: number): void {
    this.postings = this.postings.slice(0, n).filter(({ by }) => by.state === 'committed');
    for (const one of this.transactions) if (one.state === 'open') one.state = 'undone';
    this.id = this.postings.at(-1)?.id ?? 0n;
    this.incarnation += 1;
  }

  drawn = (): bigint => (this.xid += 1n);
  /** As PostgreSQL has it: one past the last transaction that has ended. */
  afterTheLastEnded = (): bigint =>
    this.transactions.reduce((last, { xid, state }) => (state !== 'open' && xid >= last ? xid + 1n : last), 700n);

  seen = (): Posting[] => this.postings.filter(({ by }) => by.state === 'committed');

  moment(bound: Bound): Moment {
    const running = this.transactions.filter(({ state }) => state === 'open').map(({ xid }) => xid);
    const end = this.afterTheLastEnded();
    const xmin = running.reduce((least, xid) => (xid < least ? xid : least), end);
    const newest = this.seen().reduce((most, { id }) => (id > most ? id : most), 0n);
    return { incarnation: String(this.incarnation), xmin, newest, drawn: bound(this) };
  }
}

const sumOf = (postings: readonly Posting[]): Sums =>
  postings.reduce<Sums>((sums, { asset, amount }) => ({ ...sums, [asset]: add(sums[asset] ?? '0', amount) }), {});
/** Without assets of which nothing is there. */
const known = (sums: Sums): Sums => Object.fromEntries(Object.entries(sums).filter(([, amount]) => amount !== '0'));

/** What was said at each look, and what was so; and how many postings were read at the last one. */
function play(steps: readonly Step[], bound: Bound): Readonly<{ looks: Array<readonly [Sums, Sums]>; read: number }> {
  const played = new Played();
  let closed: Closed | null = null;
  const looks: Array<readonly [Sums, Sums]> = [];
  let read = 0;
  const end = (n: number, state: 'committed' | 'undone'): void => {
    const one = played.open(n);
    if (one) one.state = state;
  };
  const look = (): void => {
    const now = played.moment(bound);
    const range = rangeOf(closed, now);
    const found = played.seen().filter(({ id }) => id > range.from);
    read = found.length;
    const parts = {
      closing: sumOf(found.filter(({ id }) => id <= range.closing)),
      rest: sumOf(found.filter(({ id }) => id > range.closing)),
    };
    const at = sumsAt(closed, now, range, parts);
    closed = at.closed;
    looks.push([known(at.sums), known(sumOf(played.seen()))]);
  };
  for (const { act, n } of steps)
    if (act === 'begin') played.begin();
    else if (act === 'write') played.write(n);
    else if (act === 'restore') played.restore(n);
    else if (act === 'look') look();
    else end(n, act === 'commit' ? 'committed' : 'undone');
  return { looks, read };
}

const drawn: Bound = (played) => played.drawn();
const acts = ['begin', 'write', 'write', 'commit', 'commit', 'undo', 'look', 'look'] as const;
const stepsOf = (...more: readonly Step['act'][]): fc.Arbitrary<Step[]> =>
  fc.array(fc.record({ act: fc.constantFrom(...acts, ...more), n: fc.nat(99) }), { minLength: 20, maxLength: 120 });
const isExact = (steps: readonly Step[], bound: Bound): boolean =>
  play(steps, bound).looks.every(([said, is]) => JSON.stringify(sorted(said)) === JSON.stringify(sorted(is)));
const sorted = (sums: Sums): Array<[string, string]> => Object.entries(sums).sort(([a], [b]) => (a < b ? -1 : 1));

it('sums from closed postings are those of all, whatever the order of commits', () => {
  fc.assert(
    fc.property(stepsOf(), (steps) => isExact(steps, drawn)),
    { numRuns: 2000 },
  );
});

it('sums from closed postings are those of all after a database went back to an earlier state', () => {
  fc.assert(
    fc.property(stepsOf('restore'), (steps) => isExact(steps, drawn)),
    { numRuns: 2000 },
  );
});

it('this test would see a bound that is too low: the end of the snapshot in place of an id that is drawn', () => {
  const found = fc.check(
    fc.property(stepsOf(), (steps) => isExact(steps, (played) => played.afterTheLastEnded())),
    { numRuns: 20_000, seed: 7 },
  );
  expect(found.failed).toBe(true);
});

it('reads what was posted since, also where somebody is always writing', () => {
  // Each transaction begins before the one before it ends.
  const one = (n: number): Step[] => [
    { act: 'begin', n: 0 },
    { act: 'write', n: n % 2 ? 0 : 1 },
    { act: 'commit', n: 0 },
    { act: 'look', n: 0 },
  ];
  const steps = [{ act: 'begin', n: 0 } as const, ...Array.from({ length: 300 }, (_, n) => one(n)).flat()];
  const { looks, read } = play(steps, drawn);
  expect(looks.every(([said, is]) => JSON.stringify(sorted(said)) === JSON.stringify(sorted(is)))).toBe(true);
  expect(read).toBeLessThan(10);
});
