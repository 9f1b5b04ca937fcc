import type { Preferences } from './preferences';

/** Who may do what: the names of rights. A route declares one of each kind it accepts. Contract: 5.3, G12. */

/** What a secret key can be given. */
export const scopes = [
  'payments:create',
  'payments:read',
  'refunds:create',
  'refunds:read',
  'wallets:read',
  'ledger:read',
  'conversions:read',
  'conversions:execute',
  'payouts:read',
  'withdrawals:read',
  'events:read',
  'webhooks:manage',
] as const;
export type Scope = (typeof scopes)[number];
export const isScope = (text: string): text is Scope => (scopes as readonly string[]).includes(text);

const areas = [
  'payments',
  'wallets',
  'balances',
  'conversions',
  'mass-payouts',
  'whitelist',
  'withdrawals',
  'widgets',
  'refunds',
  'webhooks',
  'api-keys',
  'team',
  'settings',
] as const;
type Area = (typeof areas)[number];
/** What a dashboard user can be given; `manage` includes `view`. */
export type Permission = `${Area}:${'view' | 'manage'}` | 'audit:view';
export const permissions: readonly Permission[] = [
  ...areas.flatMap((area) => [`${area}:view`, `${area}:manage`] as const),
  'audit:view',
];
export const isPermission = (text: string): text is Permission => (permissions as readonly string[]).includes(text);

/** Contract: 5.2.7. An admin has every permission of the merchant, a member those given, a super admin no merchant. */
export type Role = 'merchant_admin' | 'merchant_member' | 'super_admin';

/** Whose rights are asked for. */
export type Holder = Readonly<{ role: Role; permissions: readonly string[] }>;

/** Whether `user` holds `permission`, by role, by name, or by the `manage` that includes the `view`. */
export function holds(user: Holder, permission: Permission): boolean {
  if (user.role === 'super_admin') return false;
  if (user.role === 'merchant_admin' || user.permissions.includes(permission)) return true;
  return permission.endsWith(':view') && user.permissions.includes(permission.replace(/:view$/, ':manage'));
}
/** What of `wanted` its giver lacks: nobody grants what they lack. Contract: G12. */
export const beyond = (giver: Holder, wanted: readonly Permission[]): Permission[] =>
  wanted.filter((permission) => !holds(giver, permission));

/** What some members of a merchant may call: `key`: with a secret key of this scope (null: with no key at all);
 *  `session`: in a session with this permission, or with `or`. */
export type Rights = Readonly<{ key: Scope | null; session: Permission; or?: Permission }>;
/** Who a route serves: everyone; pages with a publishable key; those with rights; anyone signed in; operators. */
export type May = 'public' | 'publishable' | 'user' | 'super_admin' | Rights;

/** Any of these opens a route to a session; the first is the one that a refusal names. */
export const opening = ({ session, or }: Rights): Permission[] => (or === undefined ? [session] : [session, or]);
export const mayCall = (user: Holder, rights: Rights): boolean =>
  opening(rights).some((permission) => holds(user, permission));

/** What a second factor is asked for. A mailed code or a passkey's challenge serves the one it was asked for. */
export const factorActions = [
  'wallet_change',
  'whitelist_change',
  'api_key',
  'publishable_key',
  'ipn_secret',
  'team',
  'password',
  'passkey',
  'backup_codes',
  'platform',
  'refund',
  'conversion',
  'mass_payout',
  'withdrawal',
  'egress_limits',
] as const;
export type FactorAction = (typeof factorActions)[number];

/** A dashboard user as the guards know them. */
export type User = Readonly<{
  id: string;
  email: string;
  displayName: string;
  role: Role;
  merchantId: string | null;
  permissions: readonly string[];
  totpEnabled: boolean;
  hasPasskey: boolean;
  emailVerified: boolean;
  createdAt: Date;
  lastLoginAt: Date | null;
  sessionId: string;
}> &
  Preferences;

/** A merchant as the guards know it. Settings are those of the merchant's row. */
export type Merchant = Readonly<{
  id: string;
  name: string;
  status: 'active' | 'suspended';
  displayCurrency: string;
  feeBearer: 'customer' | 'merchant';
  feeBps: number;
  tolerancePct: string;
  underpaidPolicy: 'hold' | 'accept' | 'refund';
  callbackDomains: readonly string[];
  defaultExpiresIn: number | null;
  openPaymentsQuota: number | null;
  ipnEnabled: boolean;
  autoAcceptCrossChainHours: number;
}>;
