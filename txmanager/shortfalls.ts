import type { EntityManager } from 'typeorm';
import { outgoingKinds } from './kinds';

/** What ends an alert besides a plan, of every kind. */
const ends = (): string =>
  outgoingKinds.flatMap(({ shortfallEnds }) => (shortfallEnds === null ? [] : [`OR ${shortfallEnds}`])).join(' ');

/** Resolves alerts that the treasury holds too little, where the money has its intent by now, or as its kind says. */
export const resolveShortfalls = (tx: EntityManager): Promise<unknown> =>
  tx.query(
    `UPDATE incident i SET resolved_at = now() WHERE kind = 'treasury-low' AND resolved_at IS NULL AND (
       EXISTS (SELECT FROM intent t WHERE t.kind = split_part(i.key, '/', 3)
                  AND t.ref = concat_ws('/', split_part(i.key, '/', 4), nullif(split_part(i.key, '/', 5), '')))
       ${ends()})`,
  );
