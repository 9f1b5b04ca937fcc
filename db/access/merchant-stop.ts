import type { EntityManager } from 'typeorm';
import { changedCount, prepared, type Queryable } from '../query';

/** A stop of all outgoing money of a merchant: a suspension sets it, and two operators lift it. The wire and the table
 *  call it a hold. */

/** Why the outgoing money of a merchant is stopped; null where it is not. */
export async function stoppedBecause(db: Queryable, merchantId: string): Promise<string | null> {
  const [row] = await db.query<Array<{ held_because: string | null }>>(
    'SELECT held_because FROM merchant WHERE id = $1',
    [merchantId],
  );
  return row?.held_because ?? null;
}

/** Since when the outgoing money of a merchant is stopped; null where it is not. */
export async function stoppedSince(db: Queryable, merchantId: string): Promise<Date | null> {
  const [row] = await db.query<Array<{ held_at: Date | null }>>('SELECT held_at FROM merchant WHERE id = $1', [
    merchantId,
  ]);
  return row?.held_at ?? null;
}

/** Why it is stopped, for the signer: those of these merchants whose money is stopped, and why. A stop that is set
 *  meanwhile waits until the signature is committed, and so does a freeze: nothing is signed after either. What is
 *  looked at after this and committed is committed before the next freeze. Locks merchants, then freezes. */
export async function lockStopsAndFreezes(
  tx: EntityManager,
  merchantIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  // Counted, so that all merchants are locked before.
  const rows = await prepared(tx, 'stops-and-freezes').query<Array<{ id: string | null; held_because: string | null }>>(
    `WITH asked AS MATERIALIZED (
            SELECT id, held_because FROM merchant WHERE id = ANY($1) ORDER BY id FOR SHARE),
          frozen AS MATERIALIZED (SELECT hold_freezes() FROM (SELECT count(*) FROM asked) counted)
     SELECT asked.id, asked.held_because FROM frozen LEFT JOIN asked ON true`,
    [merchantIds],
  );
  return new Map(
    rows.flatMap(({ id, held_because }) => (id === null || held_because === null ? [] : [[id, held_because] as const])),
  );
}

/** The first reason stays. */
export const stopOutgoing = (tx: Queryable, merchantId: string, reason: string): Promise<unknown> =>
  tx.query('UPDATE merchant SET held_because = $2, held_at = now() WHERE id = $1 AND held_because IS NULL', [
    merchantId,
    reason,
  ]);

/** Whether there was a stop. */
export const liftStop = async (tx: Queryable, merchantId: string): Promise<boolean> =>
  (await changedCount(
    tx,
    'UPDATE merchant SET held_because = NULL, held_at = NULL WHERE id = $1 AND held_because IS NOT NULL',
    [merchantId],
  )) > 0;
