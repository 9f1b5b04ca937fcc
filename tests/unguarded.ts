import type { DataSource, EntityManager } from 'typeorm';
import { recountSql } from '../db/payments/payment-days';

/** Runs `write` without triggers, for rows that a test makes up in a state to which the database lets them come only
 *  step by step. Foreign keys are not checked either. */
export const unguarded = <T>(
  db: Pick<DataSource, 'transaction'>,
  write: (tx: EntityManager) => Promise<T>,
): Promise<T> =>
  db.transaction(async (tx) => {
    await tx.query('SET LOCAL session_replication_role = replica');
    const written = await write(tx);
    await tx.query(recountDays);
    return written;
  });

/** Counts what no trigger has counted, one transaction after another. */
export const recountDays = `LOCK TABLE payment_day IN EXCLUSIVE MODE; DELETE FROM payment_day;
  INSERT INTO payment_day ${recountSql}`;
