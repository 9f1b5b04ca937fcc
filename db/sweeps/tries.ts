import type { EntityManager } from 'typeorm';

/** How many of a payment's failed sweeps are newer than the last time that operators had it swept again. */
export async function triesSince(tx: EntityManager, paymentId: string, failed: readonly string[]): Promise<number> {
  const [row] = await tx.query<Array<{ n: number }>>(
    `SELECT count(*)::int AS n FROM intent i
      WHERE i.id = ANY($2::bigint[]) AND NOT EXISTS (
        SELECT FROM incident c WHERE c.kind = 'sweep-failed' AND c.subject_kind = 'payment' AND c.subject_id = $1
          AND c.resolved_at >= i.updated_at)`,
    [paymentId, failed],
  );
  return row!.n;
}
