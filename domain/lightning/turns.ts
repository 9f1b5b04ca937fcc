/** Whose turn it is where rows of many merchants wait for one process: each merchant's first comes before anybody's
 *  second. Who has ten thousand delays nobody who has one. */

type OfMerchant = Readonly<{ merchantId: string }>;

/** One row of each merchant, then the second of each, and so on: of one merchant in the order in which they are given,
 *  and `most` at the most. Who was served longest ago comes first. */
export function inTurns<Row extends OfMerchant>(
  rows: readonly Row[],
  most: number,
  servedAt: ReadonlyMap<string, number> = new Map(),
): Row[] {
  const since = (merchantId: string): number => servedAt.get(merchantId) ?? 0;
  const merchants = [...Map.groupBy(rows, ({ merchantId }) => merchantId)]
    .toSorted(([a], [b]) => since(a) - since(b))
    .map(([, of]) => of.slice(0, most));
  const turns = merchants.reduce((longest, of) => Math.max(longest, of.length), 0);
  return Array.from({ length: turns }, (_, turn) => merchants.flatMap((of) => of.slice(turn, turn + 1))).flat();
}

/** What waits is looked at after one second, then after two, and so on: each look asks node and database, and most of
 *  them find nothing new. */
const [firstPauseMs, longestPauseMs] = [1000, 15_000];
/** Rows of one merchant in a look. */
const mostInALook = 32;

type Open = OfMerchant & Readonly<{ hash: string }>;
type Waiting = Readonly<{ lookedAt: number; pauseMs: number }>;

/** Which payments a look goes through. It lives as long as its process: one that starts looks at everything. */
export class Turns {
  private readonly waiting = new Map<string, Waiting>();
  private readonly servedAt = new Map<string, number>();

  /** Those that are due, in turns: of one merchant the ones that nobody has looked at first, then those that were
   *  looked at longest ago. `now`: milliseconds of a clock that never goes back. */
  due<Row extends Open>(open: readonly Row[], now: number): Row[] {
    const hashes = new Set(open.map(({ hash }) => hash));
    for (const hash of this.waiting.keys()) if (!hashes.has(hash)) this.waiting.delete(hash);
    const merchants = new Set(open.map(({ merchantId }) => merchantId));
    for (const id of this.servedAt.keys()) if (!merchants.has(id)) this.servedAt.delete(id);
    const lookedAt = ({ hash }: Open): number => this.waiting.get(hash)?.lookedAt ?? 0;
    const rows = open.filter(({ hash }) => {
      const one = this.waiting.get(hash);
      return !one || one.lookedAt + one.pauseMs <= now;
    });
    return inTurns(
      rows.toSorted((a, b) => lookedAt(a) - lookedAt(b)),
      mostInALook,
      this.servedAt,
    );
  }

  /** Notes that one was looked at, and whether it still waits. */
  note({ hash, merchantId }: Open, waits: boolean, now: number): void {
    this.servedAt.set(merchantId, now);
    const pauseMs = Math.min(longestPauseMs, 2 * (this.waiting.get(hash)?.pauseMs ?? firstPauseMs / 2));
    if (waits) this.waiting.set(hash, { lookedAt: now, pauseMs });
    else this.waiting.delete(hash);
  }
}
