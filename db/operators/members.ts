import type { Role } from '../../domain/access/access';
import type { Queryable } from '../query';

export type ListedUser = {
  id: string;
  email: string;
  displayName: string;
  role: Role;
  isActive: boolean;
  lastLoginAt: Date | null;
};

/** The users of a merchant, for operators; the newest hundred. */
export const membersOf = (db: Queryable, merchantId: string): Promise<ListedUser[]> =>
  db.query<ListedUser[]>(
    `SELECT id, email, display_name AS "displayName", role, is_active AS "isActive", last_login_at AS "lastLoginAt"
       FROM dashboard_user WHERE merchant_id = $1 AND removed_at IS NULL ORDER BY id DESC LIMIT 100`,
    [merchantId],
  );
