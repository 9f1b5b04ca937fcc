import type { EntityManager } from 'typeorm';

/** What the ledger has on our own addresses (`A:deposit`, `A:treasury`, `A:gas`), by asset. */

/** Amounts by asset. Whole units. */
export type Sums = Readonly<Record<string, string>>;

/** Whoever sums again and again. `read`: in a transaction with one snapshot (REPEATABLE READ). `forget`: from then on
 *  all of history is read again. */
export type SumsReader = Readonly<{ read: (tx: EntityManager) => Promise<Sums>; forget: () => void }>;

/** What is read: postings above `from`, and those of them up to `closing` apart. */
export type Range = Readonly<{ from: bigint; closing: bigint }>;

/** Sums of a range. */
export async function readSums(
  tx: EntityManager,
  { from, closing }: Range,
): Promise<Readonly<{ closing: Sums; rest: Sums }>> {
  const rows = await tx.query<Array<{ asset: string; closing: string; rest: string }>>(
    `SELECT asset, trim_scale(coalesce(sum(amount) FILTER (WHERE id <= $2), 0))::text AS closing,
       trim_scale(coalesce(sum(amount) FILTER (WHERE id > $2), 0))::text AS rest
       FROM (
         SELECT id, asset, amount FROM posting WHERE id > $1 AND debit IN ('A:deposit', 'A:treasury', 'A:gas')
         UNION ALL
         SELECT id, asset, -amount FROM posting WHERE id > $1 AND credit IN ('A:deposit', 'A:treasury', 'A:gas')) own
      GROUP BY asset`,
    [String(from), String(closing)],
  );
  return {
    closing: Object.fromEntries(rows.map((row) => [row.asset, row.closing])),
    rest: Object.fromEntries(rows.map((row) => [row.asset, row.rest])),
  };
}

/** From all of history. */
export const wholeSums = async (tx: EntityManager): Promise<Sums> =>
  (await readSums(tx, { from: 0n, closing: 0n })).rest;
