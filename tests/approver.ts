import type { Approver } from '../commands/access/second-person';
import { newId } from '../domain/ids';

/** Somebody of whom no cooling-off is asked. */
export const anApprover = (email = 'approver@shop.example'): Approver => ({ id: newId(), email, coolingOffHours: 0 });
