import type { InvoiceState } from '../../domain/lightning/invoice-states';
import { bigint, boolean, entity, id, integer, key, nullable, smallint, text, timestamptz } from '../entity';

/** Invoices of Lightning, and the node that makes them. */

export const lightningInvoiceEntity = entity('lightning_invoice', {
  id: key(id()),
  payment_id: id(),
  /** What its money is booked in. */
  currency: text(),
  /** The coin of the payment beside whose address it stands; null: the payment is in `currency`. */
  beside: nullable(text()),
  asked_msat: bigint(),
  expires_at: timestamptz(),
  state: text<InvoiceState>(),
  /** Of the preimage, lower-case hex; null until the node is about to be asked. */
  hash: nullable(text()),
  /** As the node wrote it (BOLT 11); null until then. */
  invoice: nullable(text()),
  decision: nullable(text<'take' | 'return'>()),
  why: nullable(text()),
  /** The payment waited for this money when it was decided to take it, and is settled by it. */
  is_for_payment: boolean(),
  decided_at: nullable(timestamptz()),
  /** What the node says that it took. */
  taken_msat: nullable(bigint()),
  over_at: nullable(timestamptz()),
  created_at: timestamptz(),
  /** When the node was asked about it after a recovery; null: there was none since, or it was not asked yet. */
  looked_at: nullable(timestamptz()),
});

/** What the node pays: one row for each payment hash. */
export const lightningPaymentEntity = entity('lightning_payment', {
  hash: key(text()),
  id: bigint(),
  withdrawal_id: nullable(id()),
  invoice: text(),
  amount_msat: bigint(),
  fee_limit_msat: bigint(),
  expires_at: timestamptz(),
  calls: smallint(),
  unanswered: smallint(),
  outcome: nullable(text<'paid' | 'failed'>()),
  preimage: nullable(text()),
  fee_msat: nullable(bigint()),
  over_at: nullable(timestamptz()),
  created_at: timestamptz(),
  refund_id: nullable(id()),
  leg_id: nullable(id()),
  /** When the last call began. */
  called_at: nullable(timestamptz()),
  /** Since when no call can arrive any more, as two operators have said. */
  given_up_at: nullable(timestamptz()),
  /** Since when the node has it under way, by its last word; null: it has said otherwise since, or nothing yet. */
  under_way_at: nullable(timestamptz()),
  /** Since when the node says that it never heard of what it had under way. */
  forgotten_at: nullable(timestamptz()),
});

/** What has ended and was not held against the word of the node yet. */
export const lightningUnauditedEntity = entity('lightning_unaudited', {
  kind: key(text<'invoice' | 'payment'>()),
  hash: key(text()),
  /** Looks in a row in which the node gave no answer about it. */
  tries: smallint(),
  /** When the node was asked about it last; null: never. */
  compared_at: nullable(timestamptz()),
});

/** How far the node's lists were read: of what it made and of what it paid. */
export const lightningMarkEntity = entity('lightning_mark', {
  kind: key(text<'invoice' | 'payment'>()),
  through: bigint(),
});

/** What the node took or paid, or may yet, and no row is for. */
export const lightningUnknownEntity = entity('lightning_unknown', {
  kind: key(text<'invoice' | 'payment'>()),
  hash: key(text()),
  state: text<'open' | 'done'>(),
  msat: bigint(),
  /** What the invoice says that it is for. */
  memo: text(),
  found_at: timestamptz(),
});

/** One row: what the node said last. Satoshi. */
export const lightningNodeEntity = entity('lightning_node', {
  id: key(boolean()),
  node_key: text(),
  height: integer(),
  is_synced: boolean(),
  /** Those that are up. */
  channels: integer(),
  receivable: bigint(),
  sendable: bigint(),
  looked_at: timestamptz(),
});
