import { hasHeld } from '../../db/access/rights';
import type { Queryable } from '../../db/query';
import { approvalRights, type Approval } from '../../domain/access/access-table';
import { DomainError } from '../../domain/errors';

/** Somebody who approves. */
export type Approver = Readonly<{
  id: string;
  email: string;
  /** How long a right to approve must be held before it counts; 0, outside production: from the start. */
  coolingOffHours: number;
}>;

/** The second of two people is not the one who asked, and has held the right to approve for the cooling-off: the thief
 *  of one account cannot make himself a second person at once. Throws SECOND_PERSON, APPROVER_TOO_NEW. */
export async function checkSecondPerson(
  tx: Queryable,
  route: Approval,
  askedBy: string | null,
  by: Approver,
): Promise<void> {
  if (askedBy === by.id) throw new DomainError('SECOND_PERSON');
  if (by.coolingOffHours > 0 && !(await hasHeld(tx, by.id, approvalRights(route), by.coolingOffHours)))
    throw new DomainError('APPROVER_TOO_NEW');
}
