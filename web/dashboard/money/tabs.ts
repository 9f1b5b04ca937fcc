import { holds, type Permission } from '../../../domain/access/access';
import type { Me } from '../api/queries';

/** The pages of the section on money, in their order, and the permission that each needs. */
const tabs = [
  { to: '/money/balances', name: 'balances', permission: 'balances:view' },
  { to: '/money/withdrawals', name: 'withdrawals', permission: 'withdrawals:view' },
  { to: '/money/conversions', name: 'conversions', permission: 'conversions:view' },
  { to: '/money/payouts', name: 'payouts', permission: 'mass-payouts:view' },
  { to: '/money/whitelist', name: 'whitelist', permission: 'whitelist:view' },
  { to: '/money/wallets', name: 'wallets', permission: 'wallets:view' },
  { to: '/money/limits', name: 'limits', permission: 'settings:view' },
] as const satisfies ReadonlyArray<{ to: string; name: string; permission: Permission }>;

/** The pages that a person may open. */
export const tabsOf = (me: Me): Array<(typeof tabs)[number]> =>
  me.merchantId === null ? [] : tabs.filter(({ permission }) => holds(me, permission));
