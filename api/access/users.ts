import { Type } from 'typebox';
import type { Merchant, User } from '../../domain/access/access';
import { languages } from '../../domain/access/preferences';
import type { Config } from '../../domain/config';
import type { Approver } from '../../commands/access/second-person';
import type { Actor } from '../../db/access/audit-log';
import type { UserRow } from '../../db/access/users';
import { named, nullable } from '../http/schemas';

export const language = Type.String({ enum: [...languages], description: 'Of the dashboard; null: the browser’s.' });
export const timeZone = Type.String({
  maxLength: 64,
  description: 'IANA name such as `Europe/Berlin`; null: the browser’s.',
});

/** The user object. Contract: G13. */
export const userSchema = named('User', {
  id: Type.String(),
  email: Type.String(),
  displayName: Type.String(),
  language: nullable(language),
  timeZone: nullable(timeZone),
  role: Type.String({ enum: ['merchant_admin', 'merchant_member', 'super_admin'] }),
  merchantId: Type.Union([Type.String(), Type.Null()]),
  merchantName: Type.Union([Type.String(), Type.Null()]),
  permissions: Type.Array(Type.String()),
  emailVerified: Type.Boolean(),
  totpEnabled: Type.Boolean(),
  hasPasskey: Type.Boolean(),
  createdAt: Type.String({ format: 'date-time' }),
  lastLoginAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
});

type Shown = Omit<User, 'sessionId'>;

export const presentUser = (user: Shown, merchant: Pick<Merchant, 'name'> | null | undefined) => ({
  id: user.id,
  email: user.email,
  displayName: user.displayName,
  language: user.language,
  timeZone: user.timeZone,
  role: user.role,
  merchantId: user.merchantId,
  merchantName: merchant?.name ?? null,
  permissions: user.permissions,
  emailVerified: user.emailVerified,
  totpEnabled: user.totpEnabled,
  hasPasskey: user.hasPasskey,
  createdAt: user.createdAt.toISOString(),
  lastLoginAt: user.lastLoginAt?.toISOString() ?? null,
});

/** A row as the guards would show it. */
export const shownUser = (row: UserRow, hasPasskey: boolean): Shown => ({
  id: row.id,
  email: row.email,
  displayName: row.display_name,
  language: row.language,
  timeZone: row.time_zone,
  role: row.role,
  merchantId: row.merchant_id,
  permissions: row.permissions,
  totpEnabled: row.totp_enabled_at !== null,
  hasPasskey,
  emailVerified: row.email_verified_at !== null,
  createdAt: row.created_at,
  lastLoginAt: row.last_login_at,
});

/** Who acts, for the audit log. */
export const actorOf = (
  user: Pick<User, 'id' | 'email'> | null,
  { ip, requestId }: Readonly<{ ip: string; requestId: string }>,
): Actor => ({
  kind: user ? 'user' : 'anonymous',
  id: user?.id ?? null,
  name: user?.email ?? 'anonymous',
  ip,
  requestId,
});

/** A person or a secret key of a merchant, who calls. */
export type Caller = Readonly<{
  user: Pick<User, 'id' | 'email'> | undefined;
  key: Readonly<{ id: string }> | undefined;
  ip: string;
  requestId: string;
}>;
export const callerOf = ({ user, key, ip, requestId }: Caller): Actor =>
  user
    ? actorOf(user, { ip, requestId })
    : { kind: 'key', id: key?.id ?? null, name: key ? `key ${key.id}` : 'key', ip, requestId };

/** Who approves what somebody else has asked for. */
export const approverOf = (
  { id, email }: Pick<User, 'id' | 'email'>,
  { config }: Readonly<{ config: Pick<Config, 'APPROVAL_COOLING_OFF_HOURS'> }>,
): Approver => ({ id, email, coolingOffHours: config.APPROVAL_COOLING_OFF_HOURS });
