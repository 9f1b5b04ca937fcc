/** Whether a payment of an amount could come by Lightning now, by what our node said last. */

export type NodeNow = Readonly<{
  /** For how long nobody has heard of it. */
  ageSeconds: number;
  /** Whether it has the newest block: money is taken by no other. */
  isSynced: boolean;
  /** What can come over channels that are up, in all of them together. Satoshi. */
  receivable: bigint;
}>;

/** Its worker tells of it every ten seconds. */
const heardOfSeconds = 60;

export type NotByLightning = 'none' | 'away' | 'behind' | 'too much';

/** Why it cannot; null: it can. `none`: no node was ever followed. Nothing is kept free for invoices that are open:
 *  most are never paid, and what does not come over the channels stays with its payer. */
export function whyNotByLightning(node: NodeNow | null, satoshi: bigint): NotByLightning | null {
  if (node === null) return 'none';
  if (node.ageSeconds > heardOfSeconds) return 'away';
  if (!node.isSynced) return 'behind';
  return satoshi > node.receivable ? 'too much' : null;
}
