import type { EntityManager } from 'typeorm';
import { newId } from '../../domain/ids';
import { type Queryable, changedRows } from '../query';
import { pageOfRecords, type Page } from '../records';
import type { RowOf } from '../entity';
import type { userSessionEntity } from './entities';

/** Sessions: one per login, living on by refresh tokens that each serve once. Contract: 5.2; Invariants: 7,
 *  Sessions. */

/** Contract: 8. */
export const sessionDays = 7;
/** Two tabs may refresh at once: within this time the token before answers with the same successor. */
export const overlapSeconds = 10;

export type SessionRow = RowOf<typeof userSessionEntity>;

/** A session of a user who has just proved who they are. */
export async function openSession(
  tx: EntityManager,
  session: Readonly<{ userId: string; ip: string; userAgent: string }>,
): Promise<SessionRow> {
  const [row] = await tx.query<SessionRow[]>(
    `INSERT INTO user_session (id, user_id, session_version, ip, user_agent, expires_at)
     SELECT $1, u.id, u.session_version, $3, $4, now() + make_interval(days => $5) FROM dashboard_user u WHERE u.id = $2
       RETURNING *`,
    [newId(), session.userId, session.ip, session.userAgent.slice(0, 300), sessionDays],
  );
  await tx.query('UPDATE dashboard_user SET last_login_at = now() WHERE id = $1', [session.userId]);
  return row!;
}

/** Exchanges generation `generation` for the next one, which is what the answered row states. null: the session is
 *  over, or it is now, since an old token came back. */
export async function rotate(tx: EntityManager, sessionId: string, generation: number): Promise<SessionRow | null> {
  const [row] = await tx.query<Array<SessionRow & { is_over: boolean; is_recent: boolean }>>(
    `SELECT s.*, (s.revoked_at IS NOT NULL OR s.expires_at <= clock_timestamp() OR NOT u.is_active
       OR s.session_version <> u.session_version
         OR coalesce(m.status, 'active') <> 'active') AS is_over,
       s.rotated_at > clock_timestamp() - make_interval(secs => $2) AS is_recent
       FROM user_session s JOIN dashboard_user u ON u.id = s.user_id LEFT JOIN merchant m ON m.id = u.merchant_id
      WHERE s.id = $1 FOR UPDATE OF s`,
    [sessionId, overlapSeconds],
  );
  if (!row || row.is_over) return null;
  if (generation === row.generation - 1 && row.is_recent) return row;
  if (generation !== row.generation) {
    await endSession(tx, row.user_id, sessionId);
    return null;
  }
  const [next] = await changedRows<SessionRow>(
    tx,
    `UPDATE user_session SET generation = generation + 1, rotated_at = clock_timestamp(), last_used_at = now(),
       expires_at = now() + make_interval(days => $2) WHERE id = $1 RETURNING *`,
    [sessionId, sessionDays],
  );
  return next!;
}

/** Whether a session is in force. */
export async function isOpen(db: Queryable, sessionId: string): Promise<boolean> {
  const rows = await db.query<unknown[]>(
    'SELECT FROM user_session WHERE id = $1 AND revoked_at IS NULL AND expires_at > clock_timestamp()',
    [sessionId],
  );
  return rows.length > 0;
}

/** Ends one session; false where the user has none of that id. */
export async function endSession(tx: Queryable, userId: string, sessionId: string): Promise<boolean> {
  const rows = await changedRows<unknown>(
    tx,
    'UPDATE user_session SET revoked_at = now() WHERE id = $1 AND user_id = $2 AND revoked_at IS NULL RETURNING id',
    [sessionId, userId],
  );
  return rows.length > 0;
}

/** Sessions in force, newest first. */
export const sessionsOf = (
  db: Queryable,
  userId: string,
  page: Page,
): Promise<{ items: SessionRow[]; total: number }> =>
  pageOfRecords(
    db,
    { from: 'user_session', where: 'user_id = $1 AND revoked_at IS NULL AND expires_at > now()' },
    [userId],
    page,
  );

/** Uses up a token of a login's step; false where it was used before. */
export async function spendToken(tx: EntityManager, jti: string, expiresAt: Date): Promise<boolean> {
  const rows = await tx.query<unknown[]>(
    'INSERT INTO spent_token (jti, expires_at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING jti',
    [jti, expiresAt],
  );
  return rows.length > 0;
}

/** Removes what has ended of its own. */
export async function clearEnded(db: Queryable): Promise<void> {
  // Tokens are taken a little longer than they last, as clocks differ.
  await db.query("DELETE FROM spent_token WHERE expires_at < now() - interval '1 minute'");
  await db.query('DELETE FROM passkey_challenge WHERE expires_at < now()');
  await db.query('DELETE FROM known_device WHERE expires_at < now()');
  await db.query("DELETE FROM wrong_factor WHERE at < now() - interval '2 days'");
}
