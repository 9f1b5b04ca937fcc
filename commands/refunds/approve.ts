import type { EntityManager } from 'typeorm';
import { checkSecondPerson, type Approver } from '../access/second-person';
import type { Queryable } from '../../db/query';
import { byClock } from '../../db/records';
import { type Changed, lockOwnRefund, moveRefund, readRefund, requestRefund } from '../../db/refunds/refunds';
import { DomainError } from '../../domain/errors';

/** Approves what a key, or somebody else above a limit, has asked for. Above a limit it takes two people: where nobody
 *  is known to have asked, the first who approves counts as that one, and it waits for another. A refund that was
 *  approved before is answered unchanged, as `replayed`. Throws REFUND_NOT_FOUND, REFUND_STATE, SECOND_PERSON,
 *  APPROVER_TOO_NEW. */
export async function approveRefund(tx: EntityManager, merchantId: string, id: string, by: Approver): Promise<Changed> {
  const row = await lockOwnRefund(tx, merchantId, id);
  if (row.status !== 'awaiting_approval') {
    if (row.approved_at && row.status !== 'cancelled') return { row, replayed: true };
    throw new DomainError('REFUND_STATE');
  }
  if (row.needs_second_person) {
    await checkSecondPerson(tx, 'approveRefund', row.asked_by, by);
    if (row.asked_by === null)
      return { row: await moveRefund(tx, row, row.status, { asked_by: by.id }), replayed: false };
  }
  const approved = await moveRefund(tx, row, 'pending', { approved_by: by.id, approved_at: byClock });
  await requestRefund(tx, approved);
  return { row: approved, replayed: false };
}

/** What this person has approved already; null where there is something to decide. A repeat needs no second factor, and
 *  neither does the refusal of one that waits for somebody else. Throws SECOND_PERSON. */
export async function approvedBefore(
  db: Queryable,
  merchantId: string,
  id: string,
  by: Pick<Approver, 'id'>,
): Promise<Changed | null> {
  const row = await readRefund(db, merchantId, id);
  if (row?.status === 'awaiting_approval' && row.needs_second_person && row.asked_by === by.id)
    throw new DomainError('SECOND_PERSON');
  return row?.approved_by === by.id && row.status !== 'cancelled' ? { row, replayed: true } : null;
}
