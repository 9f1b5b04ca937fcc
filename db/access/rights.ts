import type { Permission, Rights } from '../../domain/access/access';
import { opening } from '../../domain/access/access';
import type { Queryable } from '../query';

/** Since when users hold what they may do; written by the trigger in functions/note_rights.sql. */

/** Whether a user has held one of the permissions that open `rights` for so many hours, by the database's clock. */
export async function hasHeld(db: Queryable, userId: string, rights: Rights, hours: number): Promise<boolean> {
  const names: Array<Permission | 'merchant_admin'> = [...opening(rights), 'merchant_admin'];
  const rows = await db.query<unknown[]>(
    `SELECT FROM user_right WHERE user_id = $1 AND name = ANY($2)
        AND since <= clock_timestamp() - make_interval(hours => $3)`,
    [userId, names, hours],
  );
  return rows.length > 0;
}
