import type { EntityManager } from 'typeorm';
import { checkSecondPerson, type Approver } from '../access/second-person';
import type { Queryable } from '../../db/query';
import { byClock } from '../../db/records';
import {
  type Changed,
  lockOwn,
  readWithdrawal,
  isStillListed,
  moveWithdrawal,
  requestWithdrawal,
} from '../../db/withdrawals/withdrawals';
import { DomainError } from '../../domain/errors';

/** Approves what somebody else has asked for. A withdrawal that was approved before is answered unchanged, as
 *  `replayed`. Throws WITHDRAWAL_NOT_FOUND, WITHDRAWAL_STATE, SECOND_PERSON, APPROVER_TOO_NEW, ADDRESS_NOT_WHITELISTED.
 *  */
export async function approveWithdrawal(
  tx: EntityManager,
  merchantId: string,
  id: string,
  by: Approver,
): Promise<Changed> {
  const row = await lockOwn(tx, merchantId, id);
  if (row.status !== 'awaiting_approval') {
    if (!row.needs_approval || row.status === 'cancelled') throw new DomainError('WITHDRAWAL_STATE');
    return { row: (await readWithdrawal(tx, merchantId, id))!, replayed: true };
  }
  await checkSecondPerson(tx, 'approveWithdrawal', row.requested_by, by);
  if (!(await isStillListed(tx, row))) throw new DomainError('ADDRESS_NOT_WHITELISTED');
  const approved = await moveWithdrawal(tx, row, 'pending', {
    approved_by: by.id,
    approved_by_name: by.email,
    approved_at: byClock,
  });
  await requestWithdrawal(tx, approved);
  return { row: { ...approved, confirmations: 0 }, replayed: false };
}

/** What this person has approved already; null where there is something to decide. A repeat needs no second factor. */
export async function approvedBefore(
  db: Queryable,
  merchantId: string,
  id: string,
  by: Pick<Approver, 'id'>,
): Promise<Changed | null> {
  const row = await readWithdrawal(db, merchantId, id);
  const isDone = row?.needs_approval && row.approved_by === by.id && row.status !== 'cancelled';
  return isDone ? { row, replayed: true } : null;
}
