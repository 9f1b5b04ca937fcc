/** Whom a refund by policy reaches: whoever became the payer by an act before money was seen. Pure.
 *  docs/decisions/0024. */

/** A browser that became the payer's by an act, and the refund address that was left in it. `browser`: hash of its
 *  token. */
export type PayerBrowser = Readonly<{
  browser: string;
  markedAt: Date;
  network: string | null;
  address: string | null;
  destinationTag: string | null;
  addressAt: Date | null;
}>;

export type RefundTo = Readonly<{ address: string; destinationTag: string | null }>;
export type Payer = Readonly<{
  /** The one browser that may fetch the link of the refund; null where there is none, or several. */
  browser: string | null;
  /** Where the refund goes without a question; null where nobody has said it, or several differ. */
  to: RefundTo | null;
  /** Several say they are the payer and do not agree: a user of the merchant decides. */
  isContested: boolean;
}>;

/** Browsers and addresses count that were there before the first deposit was seen. An address counts on its own
 *  network alone. */
export function payerOf(browsers: readonly PayerBrowser[], firstSeenAt: Date | null, network: string | null): Payer {
  const isEarly = (at: Date | null): boolean => at !== null && (firstSeenAt === null || at < firstSeenAt);
  const early = browsers.filter(({ markedAt }) => isEarly(markedAt));
  const addresses = early.map((one) =>
    one.address !== null && one.network === network && isEarly(one.addressAt)
      ? { address: one.address, destinationTag: one.destinationTag }
      : null,
  );
  const keys = new Set(addresses.map((to) => (to ? `${to.address} ${to.destinationTag ?? ''}` : null)));
  const isAgreed = keys.size === 1;
  return {
    browser: early.length === 1 ? early[0]!.browser : null,
    to: isAgreed ? addresses[0]! : null,
    isContested: early.length > 1 && !(isAgreed && addresses[0]),
  };
}
