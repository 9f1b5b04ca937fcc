import type { Currency } from './assets';

/** A deposit that is found by balance has no transaction that we know. Its key names the block that the balance was
 *  read at, the address and the coin. Invariants: I6. */

const prefix = 'balance:';

export const balanceTxId = (blockHash: string, address: string, currency: Currency): string =>
  `${prefix}${blockHash}:${address}:${currency}`;

/** Is this the key of a deposit that was found by balance, and no transaction? */
export const isBalanceTxId = (txId: string): boolean => txId.startsWith(prefix);

/** The transactions among the keys of deposits, each once: what people are shown. */
export const transactionsOf = (txIds: readonly string[]): string[] => [
  ...new Set(txIds.filter((txId) => !isBalanceTxId(txId))),
];
