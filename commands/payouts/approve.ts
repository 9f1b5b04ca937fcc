import type { EntityManager } from 'typeorm';
import { checkSecondPerson, type Approver } from '../access/second-person';
import { startBatch } from './queue';
import type { Queryable } from '../../db/query';
import { lockBatch, countLines, readBatch } from '../../db/payouts/payouts';
import { DomainError } from '../../domain/errors';
import type { BatchRow, LineCounts } from '../../domain/payouts/payout';

type Approved = Readonly<{ row: BatchRow; counts: LineCounts; replayed: boolean }>;

/** Approves what waits for a second person. A batch that was approved before is answered unchanged, as `replayed`.
 *  Throws BATCH_NOT_FOUND, BATCH_STATE, SECOND_PERSON, APPROVER_TOO_NEW. */
export async function approveBatch(tx: EntityManager, merchantId: string, id: string, by: Approver): Promise<Approved> {
  const batch = await lockBatch(tx, id);
  if (!batch || batch.merchant_id !== merchantId) throw new DomainError('BATCH_NOT_FOUND');
  const counts = await countLines(tx, id);
  if (batch.approved_by !== null && batch.status !== 'cancelled') return { row: batch, counts, replayed: true };
  if (batch.status !== 'awaiting_approval') throw new DomainError('BATCH_STATE');
  await checkSecondPerson(tx, 'approvePayout', batch.created_by_id, by);
  return { row: await startBatch(tx, batch, by), counts, replayed: false };
}

/** What this person has approved already; null where there is something to decide. A repeat needs no second factor. */
export async function approvedBefore(
  db: Queryable,
  merchantId: string,
  id: string,
  by: Pick<Approver, 'id'>,
): Promise<Approved | null> {
  const row = await readBatch(db, merchantId, id);
  const isDone = row?.approved_by_id === by.id && row.status !== 'cancelled' && row.status !== 'awaiting_approval';
  return isDone ? { row, counts: await countLines(db, id), replayed: true } : null;
}
