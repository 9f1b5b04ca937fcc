/** Who may do what: the names of rights. A route declares one of each kind it accepts. Spec: 5.3; gaps: 12. */

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

type Area =
  | 'payments'
  | 'wallets'
  | 'balances'
  | 'conversions'
  | 'mass-payouts'
  | 'whitelist'
  | 'withdrawals'
  | 'widgets'
  | 'refunds'
  | 'webhooks'
  | 'api-keys'
  | 'team'
  | 'settings';
/** What a dashboard user can be given. */
export type Permission = `${Area}:${'view' | 'manage'}` | 'audit:view';

/** Who a route serves: everyone, or the holders of a key with this scope or of a session with this permission. */
export type May = 'public' | Readonly<{ key: Scope; session: Permission }>;

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
}>;
