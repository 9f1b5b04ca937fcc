import { kinds, type KindFacts } from '../../domain/txmanager/kinds';

/** As a list of SQL literals. */
const settled = Object.entries<KindFacts>(kinds)
  .flatMap(([kind, { isSettled }]) => (isSettled ? [`'${kind}'`] : []))
  .join(', ');

/** SQL: is the end of the intent `i` in the ledger? Of kinds that a payment's settlement books, with the
 *  settlement; of everything else, and of what was reverted, when it is booked. */
export const isPosted = (i: string): string =>
  `${i}.booked AND (${i}.kind NOT IN (${settled}) OR ${i}.status = 'failed'
     OR EXISTS (SELECT FROM journal j WHERE j.key = ${i}.kind || '/' || ${i}.id))`;
