import { add, compare, smaller, subtract } from '../money';

/** What a transaction inherits that takes the place of unconfirmed ones: for what they paid, the moments when that was
 *  first seen. What it pays above that is first seen with it. Invariants: 3. */

/** An amount, and since when it is there. `Seen`: whatever tells the moment. */
export type Layer<Seen> = Readonly<{ amount: string; seen: Seen }>;
/** A replaced transaction's layers to one address. */
export type Replaced<Seen> = Readonly<{ txId: string; layers: ReadonlyArray<Layer<Seen>> }>;

const totalOf = (layers: ReadonlyArray<Layer<unknown>>): string => add('0', ...layers.map(({ amount }) => amount));

/** Splits the outputs of one transaction to one address over the layers of what it replaces; in order, those first seen
 *  first. A replaced transaction is inherited whole or not at all: its amount must be paid beside the amounts of those
 *  before it. `from`: the transactions that were inherited. */
export function inherit<Seen>(
  outputs: readonly string[],
  replaced: ReadonlyArray<Replaced<Seen>>,
  before: (a: Seen, b: Seen) => number,
): Readonly<{ layers: ReadonlyArray<ReadonlyArray<Layer<Seen>>>; from: readonly string[] }> {
  const paid = add('0', ...outputs);
  const taken: Array<Replaced<Seen>> = [];
  for (const one of replaced)
    if (compare(totalOf([...taken, one].flatMap(({ layers }) => layers)), paid) <= 0) taken.push(one);
  const left = taken.flatMap(({ layers }) => layers).sort((a, b) => before(a.seen, b.seen));
  return {
    layers: outputs.map((amount) => takeUpTo(amount, left)),
    from: taken.map(({ txId }) => txId),
  };
}

/** Takes layers off the front, as much as fits. */
function takeUpTo<Seen>(amount: string, left: Array<Layer<Seen>>): Array<Layer<Seen>> {
  const taken: Array<Layer<Seen>> = [];
  for (let rest = amount; left.length && compare(rest, '0') > 0;) {
    const first = left.shift()!;
    const part = smaller(first.amount, rest);
    taken.push({ ...first, amount: part });
    if (compare(part, first.amount) < 0) left.unshift({ ...first, amount: subtract(first.amount, part) });
    rest = subtract(rest, part);
  }
  return taken;
}
