import { changedCount, type Queryable } from '../query';

/** How far back merchants can look at their requests, and at the reasons of their refusals. */
const keptDays = 30;
const rowsPerGroup = 5000;
const groupsPerLook = 20;

/** Forgets older ones, a group of rows at a time. What one look leaves, the next takes. */
export async function forgetOldRequests(db: Queryable): Promise<void> {
  await inGroups(() =>
    changedCount(
      db,
      `DELETE FROM api_request WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM api_request WHERE created_at < now() - make_interval(days => $1)
          ORDER BY created_at LIMIT $2))`,
      [keptDays, rowsPerGroup],
    ),
  );
  await inGroups(() =>
    changedCount(
      db,
      `DELETE FROM request_log WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM request_log WHERE created_at < now() - make_interval(days => $1)
          ORDER BY created_at LIMIT $2))`,
      [keptDays, rowsPerGroup],
    ),
  );
}

/** Removes groups until one is not full. */
async function inGroups(remove: () => Promise<number>): Promise<void> {
  for (let group = 0; group < groupsPerLook; group += 1) if ((await remove()) < rowsPerGroup) return;
}
