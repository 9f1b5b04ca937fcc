/** What a merchant's settings may be. The API refuses the rest; the dashboard says so before. */

export const feeBearers = ['customer', 'merchant'] as const;
export const underpaidPolicies = ['hold', 'accept', 'refund'] as const;
export const settingBounds = {
  /** Percent, with two decimals. */
  underpaymentTolerancePct: 50,
  autoAcceptCrossChainHours: 720,
  whitelistDelayHours: 720,
  callbackDomains: 50,
  /** Seconds. */
  defaultExpiresIn: { least: 60, most: 172_800 },
} as const;
/** The name of a host. */
export const callbackDomainPattern = '^[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)*$';
