import type { DataSource, EntityManager } from 'typeorm';

/** Runs `write` without triggers, for rows that a test makes up in a state to which the database lets them come only step
 *  by step. Foreign keys are not checked either. */
export const unguarded = <T>(
  db: Pick<DataSource, 'transaction'>,
  write: (tx: EntityManager) => Promise<T>,
): Promise<T> =>
  db.transaction(async (tx) => {
    await tx.query('SET LOCAL session_replication_role = replica');
    return write(tx);
  });
