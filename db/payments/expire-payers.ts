import type { Queryable } from '../query';

/** Forgets payers of payments that ended more than so many days ago, so many payments at a time; how many. 0 days:
 *  none, ever. */
export async function expirePayers(db: Queryable, days: number, limit: number): Promise<number> {
  const [row] = await db.query<Array<{ n: number }>>('SELECT expire_payers($1, $2) AS n', [days, limit]);
  return row!.n;
}
