import { kinds, type KindFacts } from '../../domain/txmanager/kinds';

/** As a list of SQL literals. */
const settled = Object.entries<KindFacts>(kinds)
  .flatMap(([kind, { isSettled }]) => (isSettled ? [`'${kind}'`] : []))
  .join(', ');

/** SQL: is the end of the intent `i` in the ledger? Of kinds that a payment's settlement books, with the settlement,
 *  which may come before the intent's own end is booked; once a reorganisation has taken their fee back (`gone/…`),
 *  when both are booked again. Of everything else, and of what was reverted, when it is booked. */
export const isPosted = (i: string): string =>
  `CASE WHEN ${i}.kind IN (${settled}) AND ${i}.status <> 'failed'
     THEN EXISTS (SELECT FROM journal j WHERE j.key = ${i}.kind || '/' || ${i}.id) AND (${i}.booked OR NOT EXISTS
       (SELECT FROM journal j WHERE j.key = 'gone/' || ${i}.kind || '/' || ${i}.id))
     ELSE ${i}.booked END`;
