import type { EntityManager } from 'typeorm';
import { add } from '../../domain/money';
import { readSums, type Range, type Sums, type SumsReader } from './own-sums';

/** The sums of own-sums.ts for whoever asks again and again: postings that are closed are summed once.
 *  docs/decisions/0068-closed-postings-are-summed-once.md */

/** Postings up to an id, of which none can come any more. `next`: up to which id they close, once every transaction
 *  before `drawn` has ended. */
export type Closed = Readonly<{
  incarnation: string;
  upTo: bigint;
  sums: Sums;
  next: Readonly<{ upTo: bigint; drawn: bigint }>;
}>;

/** What the database says of itself in one snapshot. `xmin`: every transaction before it has ended. `newest`: the
 *  highest id of a posting that is seen. `drawn`: a transaction id that was drawn then, above those of all who had
 *  begun to write. The snapshot's own xmax is none: it is below some of those who are still writing. */
export type Moment = Readonly<{ incarnation: string; xmin: bigint; drawn: bigint; newest: bigint }>;

/** What is read anew, in the same snapshot. `isWhole`: nothing from before counts. */
type Anew = Range & Readonly<{ isWhole: boolean }>;

const whole: Anew = { from: 0n, closing: 0n, isWhole: true };

/** What must be read at that moment. All of it where nothing is closed, and where the database is another, or an
 *  earlier state of the same. */
export function rangeOf(closed: Closed | null, now: Moment): Anew {
  if (closed?.incarnation !== now.incarnation || now.newest < closed.upTo) return whole;
  const { upTo, next } = closed;
  return { from: upTo, closing: now.xmin >= next.drawn ? next.upTo : upTo, isWhole: false };
}

/** All sums at that moment, and what is closed from then on. `closing` and `rest`: what was read of `range`. Exact for
 *  any order of commits: a posting is written by a transaction that has written its journal before, and ids rise. Who
 *  had an id up to `newest` was writing before this moment, so that nothing is added below once all of them ended. */
export function sumsAt(
  closed: Closed | null,
  now: Moment,
  range: Anew,
  { closing, rest }: Readonly<{ closing: Sums; rest: Sums }>,
): Readonly<{ sums: Sums; closed: Closed }> {
  const kept = range.isWhole ? null : closed;
  const before = plus(kept?.sums ?? {}, closing);
  const isWaiting = kept && now.xmin < kept.next.drawn;
  const next = isWaiting ? kept.next : { upTo: now.newest, drawn: now.drawn };
  return {
    sums: plus(before, rest),
    closed: { incarnation: now.incarnation, upTo: range.closing, sums: before, next },
  };
}

const plus = (one: Sums, other: Sums): Sums => ({
  ...one,
  ...Object.fromEntries(Object.entries(other).map(([asset, amount]) => [asset, add(one[asset] ?? '0', amount)])),
});

/** Sums of one process, from what was posted since it last asked. It remembers for itself alone: a new process reads
 *  all of history once. */
export class OwnSums implements SumsReader {
  private closed: Closed | null = null;

  /** From here on all of history is read again. */
  forget(): void {
    this.closed = null;
  }

  /** In a transaction with one snapshot (REPEATABLE READ). */
  async read(tx: EntityManager): Promise<Sums> {
    const [row] = await tx.query<Array<{ incarnation: string; xmin: string; drawn: string; newest: string }>>(
      `SELECT database_incarnation() AS incarnation, pg_snapshot_xmin(pg_current_snapshot())::text AS xmin,
         pg_current_xact_id()::text AS drawn,
         (SELECT coalesce(max(id), 0)::text FROM posting) AS newest`,
    );
    const { incarnation, xmin, drawn, newest } = row!;
    const now = { incarnation, xmin: BigInt(xmin), drawn: BigInt(drawn), newest: BigInt(newest) };
    const before = this.closed;
    const range = rangeOf(before, now);
    const { sums, closed } = sumsAt(before, now, range, await readSums(tx, range));
    this.closed = closed;
    return sums;
  }
}
