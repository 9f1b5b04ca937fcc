import type { HeldRecord } from './held-money';

/** How far an invoice of Lightning has come, as its row says it. The guard in the database (db/functions) is made of
 *  these moves. See docs/decisions/0062-rows-of-lightning-invoices.md. */

export const invoiceStates = [
  'planned', // nobody has seen it; the node may have made it
  'open',
  'held', // the node was seen to hold its money, and nothing is decided
  'taking', // decided to take: the node is being told
  'cancelling', // decided to send back: the node is being told
  'taken',
  'cancelled',
] as const;
export type InvoiceState = (typeof invoiceStates)[number];

/** Legal moves by state. What waits to be sent back may have been taken by somebody who knew the preimage. */
export const invoiceMoves: Readonly<Record<InvoiceState, readonly InvoiceState[]>> = {
  planned: ['open', 'taking', 'cancelling'],
  open: ['held', 'taking', 'cancelling'],
  held: ['taking', 'cancelling'],
  taking: ['taken', 'cancelled'],
  cancelling: ['taken', 'cancelled'],
  taken: [],
  cancelled: [],
};

/** What the rule of held money reads of a row. */
export const recordOf = (
  row: Readonly<{ state: InvoiceState; decision: 'take' | 'return' | null; taken_msat: string | null }>,
): HeldRecord => ({
  decision: row.decision,
  bookedMsat: row.taken_msat === null ? null : BigInt(row.taken_msat),
  isOver: invoiceMoves[row.state].length === 0,
});
