import type { EntityManager } from 'typeorm';
import { outgoingKinds } from './kinds';

/** What ends an alert besides a plan, of every kind. */
const ends = (): string =>
  outgoingKinds.flatMap(({ shortfallEnds }) => (shortfallEnds === null ? [] : [`OR ${shortfallEnds}`])).join(' ');

/** Resolves alerts that the treasury holds too little, where the money has its intent by now, or as its kind says. The
 *  intent of a row that is paid alone has the row's id as its ref. */
export const resolveShortfalls = (tx: EntityManager): Promise<unknown> =>
  tx.query(
    `UPDATE incident i SET resolved_at = now() WHERE kind = 'treasury-low' AND resolved_at IS NULL AND (
       EXISTS (SELECT FROM intent t WHERE t.owner_kind = i.subject_kind AND t.owner_id = i.subject_id
                  AND t.ref = i.subject_id)
       ${ends()})`,
  );
