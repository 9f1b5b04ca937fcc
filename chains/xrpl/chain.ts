/** One network of the family: what tells it from the others. */
export type XrplChain = Readonly<{
  /** As `server_info` names it; 0: the main network. */
  networkId: number;
  /** X-addresses of test networks begin with T, those of the main network with X. */
  isTest: boolean;
}>;

/** Transactions name their network where its id is above this one, and must not elsewhere (xrpl.org: common-fields,
 *  NetworkID). */
const largestUnnamed = 1024;

export const namesNetwork = ({ networkId }: XrplChain): boolean => networkId > largestUnnamed;

/** Of sequences, ledger indexes and destination tags: 32 bits. */
export const largestUint32 = 0xffff_ffff;

/** All XRP that there ever were, in drops. */
const allDrops = 100_000_000_000_000_000n;

/** Drops as the ledger writes them, or null where it is none: a token, a fraction, more than there are. */
export function dropsOf(text: unknown): bigint | null {
  if (typeof text !== 'string' || !/^(0|[1-9]\d{0,17})$/.test(text)) return null;
  const drops = BigInt(text);
  return drops > allDrops ? null : drops;
}

/** Seconds from the Unix epoch to that of the ledger, 2000-01-01. */
export const rippleEpoch = 946_684_800;
