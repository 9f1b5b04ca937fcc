/** Why something that a merchant sends is not signed yet, in words that tell nothing of other merchants, of our wallets
 *  or of what operators look into. */
export type WaitCause = 'limit' | 'paused' | 'held' | 'funds' | 'network' | 'checked';

/** Causes that delay money; the wire calls it held. The others pass by themselves within a short time. */
export const delayCauses = ['limit', 'paused', 'held', 'checked'] as const satisfies readonly WaitCause[];

export const waitMessages: Readonly<Record<WaitCause, string>> = {
  limit: 'It waits: what may be sent within 24 hours is used up. It is sent by itself when there is room.',
  paused: 'It waits: sending this currency is paused. It is sent by itself when the pause ends.',
  held: 'It waits: outgoing money of this account is held. Ask support.',
  funds: 'It waits for funds to be ready. It is sent by itself.',
  network: 'It waits for the network. It is sent by itself.',
  checked: 'It waits to be checked. It is sent by itself afterwards.',
};

/** What a record says to its merchant: of its end, or of what keeps it before it is signed. */
export const messageOf = (
  row: Readonly<{ status: string; merchant_message: string | null; waits_for?: WaitCause | null }>,
): string | null =>
  row.merchant_message ?? (row.status === 'pending' && row.waits_for ? waitMessages[row.waits_for] : null);
