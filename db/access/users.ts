import type { EntityManager } from 'typeorm';
import type { Merchant, Permission, Role, User } from '../../domain/access/access';
import type { Preferences } from '../../domain/access/preferences';
import { newId } from '../../domain/ids';
import { merchantColumns, merchantOf, type MerchantRow } from './merchants';
import { type Queryable, changedRows } from '../query';
import { pageOfRecords, type Page } from '../records';
import type { RowOf } from '../entity';
import type { dashboardUserEntity } from './entities';

/** Dashboard users. E-mail addresses are compared in lower case. Contract: 5.2, G12, G13. */

export type UserRow = RowOf<typeof dashboardUserEntity>;

/** The form in which an e-mail address is stored and compared. */
export const normalEmail = (email: string): string => email.trim().toLowerCase();

export async function findUserByEmail(db: Queryable, email: string): Promise<UserRow | null> {
  const [row] = await db.query<UserRow[]>('SELECT * FROM dashboard_user WHERE email = $1', [normalEmail(email)]);
  return row ?? null;
}

export async function findUser(db: Queryable, id: string): Promise<UserRow | null> {
  const [row] = await db.query<UserRow[]>('SELECT * FROM dashboard_user WHERE id = $1', [id]);
  return row ?? null;
}

/** The user's row, held until the transaction ends: whoever checks factors or changes a user goes through it, one at a
 *  time. */
export async function lockUser(tx: EntityManager, id: string): Promise<UserRow | null> {
  const [row] = await tx.query<UserRow[]>(
    'SELECT * FROM dashboard_user WHERE id = $1 AND removed_at IS NULL FOR NO KEY UPDATE',
    [id],
  );
  return row ?? null;
}

/** A merchant's whole team, held in one order: acts on people take turns. */
export const lockTeam = (tx: EntityManager, merchantId: string): Promise<unknown> =>
  tx.query('SELECT FROM dashboard_user WHERE merchant_id = $1 AND removed_at IS NULL ORDER BY id FOR NO KEY UPDATE', [
    merchantId,
  ]);

/** The account of an address, held, where nobody has proved that it is theirs: never verified, never signed in, and it
 *  owns nothing. */
export async function lockUnproven(tx: EntityManager, email: string): Promise<UserRow | null> {
  const [row] = await tx.query<UserRow[]>(
    `SELECT u.* FROM dashboard_user u
      WHERE u.email = $1 AND u.role = 'merchant_admin' AND u.email_verified_at IS NULL AND u.last_login_at IS NULL
        AND NOT EXISTS (SELECT FROM api_key k WHERE k.merchant_id = u.merchant_id)
        AND NOT EXISTS (SELECT FROM dashboard_user o WHERE o.merchant_id = u.merchant_id AND o.id <> u.id
          AND o.removed_at IS NULL)
      FOR NO KEY UPDATE OF u`,
    [normalEmail(email)],
  );
  return row ?? null;
}

export type NewUser = Readonly<{
  email: string;
  displayName: string;
  role: Role;
  merchantId: string | null;
  permissions?: readonly Permission[];
  passwordHash: string;
  isVerified?: boolean;
}>;

/** A new user, or null where the e-mail address is taken. */
export async function createUser(tx: EntityManager, user: NewUser): Promise<UserRow | null> {
  const [row] = await tx.query<UserRow[]>(
    `INSERT INTO dashboard_user (id, email, display_name, role, merchant_id, permissions, password_hash,
       email_verified_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, CASE WHEN $8 THEN now() END) ON CONFLICT (email) DO NOTHING RETURNING *`,
    [
      newId(),
      normalEmail(user.email),
      user.displayName,
      user.role,
      user.merchantId,
      user.permissions ?? [],
      user.passwordHash,
      user.isVerified ?? false,
    ],
  );
  return row ?? null;
}

export const recordConsent = (
  tx: EntityManager,
  userId: string,
  versions: Readonly<Record<string, string>>,
  ip: string,
): Promise<unknown> =>
  tx.query('INSERT INTO terms_consent (user_id, versions, ip) VALUES ($1, $2, $3)', [userId, versions, ip]);

export const markVerified = (tx: EntityManager, id: string): Promise<unknown> =>
  tx.query('UPDATE dashboard_user SET email_verified_at = coalesce(email_verified_at, now()) WHERE id = $1', [id]);

export const setPassword = (tx: EntityManager, id: string, passwordHash: string): Promise<unknown> =>
  tx.query('UPDATE dashboard_user SET password_hash = $2 WHERE id = $1', [id, passwordHash]);

/** What users change of themselves. */
export type Profile = Preferences & Readonly<{ displayName: string }>;

export const setProfile = (tx: EntityManager, id: string, profile: Profile): Promise<unknown> =>
  tx.query('UPDATE dashboard_user SET display_name = $2, language = $3, time_zone = $4 WHERE id = $1', [
    id,
    profile.displayName,
    profile.language,
    profile.timeZone,
  ]);

export const enableTotp = (tx: EntityManager, id: string, sealed: string, step: number): Promise<unknown> =>
  tx.query(
    'UPDATE dashboard_user SET totp_secret_sealed = $2, totp_enabled_at = now(), totp_last_step = $3 WHERE id = $1',
    [id, sealed, step],
  );

/** What a member may do, and whether at all. */
export async function setMember(
  tx: EntityManager,
  id: string,
  next: Readonly<{
    role: 'merchant_admin' | 'merchant_member';
    permissions: readonly Permission[];
    isActive: boolean;
  }>,
): Promise<UserRow> {
  const [row] = await changedRows<UserRow>(
    tx,
    'UPDATE dashboard_user SET permissions = $2, is_active = $3, role = $4 WHERE id = $1 RETURNING *',
    [id, next.permissions, next.isActive, next.role],
  );
  return row!;
}

/** Takes a user out for good. Their row stays for the records; the e-mail address is free again. */
export const removeUser = (tx: EntityManager, id: string): Promise<unknown> =>
  tx.query(
    `UPDATE dashboard_user SET is_active = false, removed_at = now(), email = 'removed-' || id || '@invalid',
       password_hash = '',
       totp_secret_sealed = NULL, language = NULL, time_zone = NULL WHERE id = $1`,
    [id],
  );

/** Whoever signed in before is signed out: every token and session made so far is void. */
export async function voidSessions(tx: EntityManager, userId: string): Promise<void> {
  await tx.query('UPDATE dashboard_user SET session_version = session_version + 1 WHERE id = $1', [userId]);
  await tx.query('UPDATE user_session SET revoked_at = now() WHERE user_id = $1 AND revoked_at IS NULL', [userId]);
}

/** The user of a session that is in force, with their merchant where they have one. */
export type SessionHolder = User & Readonly<{ merchant: Merchant | null }>;

const holderColumns = [
  'id',
  'email',
  'display_name',
  'language',
  'time_zone',
  'role',
  'permissions',
  'totp_enabled_at',
  'email_verified_at',
  'created_at',
  'last_login_at',
] as const;
type HolderRow = Pick<UserRow, (typeof holderColumns)[number]> &
  MerchantRow & { has_passkey: boolean; holder_merchant_id: string | null };

const holderOf = (sessionId: string, row: HolderRow): SessionHolder => ({
  sessionId,
  id: row.id,
  email: row.email,
  displayName: row.display_name,
  language: row.language,
  timeZone: row.time_zone,
  role: row.role,
  merchantId: row.holder_merchant_id,
  permissions: row.permissions,
  totpEnabled: row.totp_enabled_at !== null,
  hasPasskey: row.has_passkey,
  emailVerified: row.email_verified_at !== null,
  createdAt: row.created_at,
  lastLoginAt: row.last_login_at,
  merchant: row.holder_merchant_id === null ? null : merchantOf(row),
});

/** Who holds a session; null where it, or its user, is not in force any more, by the database's clock. */
export async function findSessionHolder(
  db: Queryable,
  sessionId: string,
  sessionVersion: number,
): Promise<SessionHolder | null> {
  const [row] = await db.query<HolderRow[]>(
    `SELECT ${merchantColumns}, ${holderColumns.map((name) => `u.${name}`).join()}, u.merchant_id AS holder_merchant_id,
            EXISTS (SELECT FROM passkey p WHERE p.user_id = u.id) AS has_passkey
       FROM user_session s JOIN dashboard_user u ON u.id = s.user_id LEFT JOIN merchant m ON m.id = u.merchant_id
      WHERE s.id = $1 AND s.revoked_at IS NULL AND s.expires_at > clock_timestamp() AND u.is_active
        AND u.session_version = $2 AND s.session_version = $2 AND (m.id IS NULL OR m.status = 'active')`,
    [sessionId, sessionVersion],
  );
  return row ? holderOf(sessionId, row) : null;
}

/** What a merchant's team is made of, oldest first. */
export const membersOf = (
  db: Queryable,
  merchantId: string,
  page: Page,
): Promise<{ items: UserRow[]; total: number }> =>
  pageOfRecords(
    db,
    { from: 'dashboard_user', where: 'merchant_id = $1 AND removed_at IS NULL', order: 'ASC' },
    [merchantId],
    page,
  );

/** Locks a merchant's admins and says how many could still sign in without `exceptId`. */
export async function otherAdmins(tx: EntityManager, merchantId: string, exceptId: string): Promise<number> {
  const rows = await tx.query<unknown[]>(
    `SELECT id FROM dashboard_user WHERE merchant_id = $1 AND role = 'merchant_admin' AND is_active AND id <> $2
       ORDER BY id FOR NO KEY UPDATE`,
    [merchantId, exceptId],
  );
  return rows.length;
}

/** E-mail addresses of everyone who must hear of a change to the merchant's money. */
export async function adminEmails(db: Queryable, merchantId: string): Promise<string[]> {
  const rows = await db.query<Array<{ email: string }>>(
    `SELECT email FROM dashboard_user WHERE merchant_id = $1 AND role = 'merchant_admin' AND is_active
       AND email_verified_at IS NOT NULL ORDER BY email`,
    [merchantId],
  );
  return rows.map((row) => row.email);
}
