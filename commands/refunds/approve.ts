import type { EntityManager } from 'typeorm';
import { checkSecondPerson, type Approver } from '../access/second-person';
import { byClock } from '../../db/records';
import { type Changed, lockOwnRefund, moveRefund, requestRefund } from '../../db/refunds/refunds';
import { DomainError } from '../../domain/errors';

/** Lets go what a key, or somebody else above a limit, has asked for. Above a limit it takes two people: where nobody is
 *  known to have asked, the first who approves counts as that one, and it waits for another. Of one that is let go already
 *  the same again, `replayed`.
 *  Throws REFUND_NOT_FOUND, REFUND_STATE, SECOND_PERSON, APPROVER_TOO_NEW. */

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
