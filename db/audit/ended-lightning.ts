import type { DataSource } from 'typeorm';
import type { HeldSighting } from '../../domain/lightning/held-money';
import { clocksDifferBy } from '../lightning/payments';
import { answered } from './answered';

/** What has ended by Lightning against the word of our node: each row until that word is final, whoever ends how many
 *  others meanwhile, and the newest again at each look. See docs/decisions/0093-what-the-node-has-said.md and
 *  docs/decisions/0099-what-a-node-may-still-do.md. */

/** An invoice as the node has it; nothing but the state where it knows none. */
export type Seen = Readonly<{
  state: HeldSighting['state'];
  paidMsat?: bigint;
  text?: string;
  askedMsat?: bigint;
  description?: string;
}>;

/** What a row of an invoice asks for. `invoice`: the text that its payer was shown, if any. */
export type AskedRow = Readonly<{ payment_id: string; asked_msat: string; invoice: string | null }>;

/** Whether the node has made this invoice for just this row: it names the payment, which nobody else can sign. The node
 *  has others too, of its operator and of other payments. */
export const isMadeFor = (row: AskedRow, { text, askedMsat, description }: Seen): boolean =>
  description === row.payment_id &&
  askedMsat === BigInt(row.asked_msat) &&
  (row.invoice === null || row.invoice === text);

export type EndedWitness = Readonly<{
  lookUp(hash: string): Promise<Seen>;
  /** What became of what it was to pay. */
  track(hash: string): Promise<Readonly<{ state: string; amountMsat?: bigint; feeMsat?: bigint }>>;
}>;

const [pageSize, mostPages, newest] = [200, 10, 200];
/** A look ends after so many questions in a row without an answer: the node is away. */
export const mostSilent = 3;
/** From then on a row is named about which the node gives no answer, while it answers others. */
const namedAfterTries = 5;

/** `wrong`: it ended otherwise than is booked. `foreign`: the node has not made the invoice for the row. `silent`:
 *  the node does not say how it ended. */
type Finding = Readonly<{ what: 'wrong' | 'foreign' | 'silent'; text: string }>;
/** `isFinal`: what the node says of it now, it says for ever. Read before the node is asked. */
type Ended = Readonly<{ hash: string | null; tries: number | null; isFinal: boolean | null }>;

/** Keeps what the node has said of rows of one kind: those that are right need not be looked for again. All others go
 *  behind those that were compared longer ago, and those without an answer count it. */
export type MarkEnded = (
  kind: 'invoice' | 'payment',
  of: Readonly<{ right: readonly string[]; again: readonly string[]; silent: readonly string[] }>,
) => Promise<void>;

/** How rows of one kind are read, without those that are `seen`, and held against the node. */
type Comparison<Row extends Ended> = Readonly<{
  kind: 'invoice' | 'payment';
  /** Those that nobody has compared; where money moved they come first. */
  unaudited(db: DataSource, seen: readonly string[]): Promise<Row[]>;
  newest(db: DataSource, seen: readonly string[]): Promise<Row[]>;
  compare(node: EndedWitness, row: Row, hash: string): Promise<Finding[]>;
}>;

async function compareAll<Row extends Ended>(
  db: DataSource,
  node: EndedWitness,
  comparison: Comparison<Row>,
  mark: MarkEnded,
): Promise<Finding[]> {
  const found: Finding[] = [];
  const seen: string[] = [];
  let inARow = 0;
  for (let page = 0; page <= mostPages && inARow < mostSilent; page += 1) {
    const rows = await (page < mostPages ? comparison.unaudited(db, seen) : comparison.newest(db, seen));
    if (!rows.length && page < mostPages) page = mostPages - 1;
    const [right, again, silent]: [string[], string[], string[]] = [[], [], []];
    for (const row of rows) {
      const { hash } = row;
      if (hash === null || inARow >= mostSilent) continue;
      seen.push(hash);
      const findings = await answered(comparison.compare(node, row, hash));
      inARow = findings === null ? inARow + 1 : 0;
      if (findings === null) silent.push(hash);
      else if (!findings.length && row.isFinal) right.push(hash);
      else again.push(hash);
      found.push(...(findings ?? (isSilentLong(row) ? [{ what: 'silent' as const, text: hash }] : [])));
    }
    if (right.length + again.length + silent.length) await mark(comparison.kind, { right, again, silent });
  }
  return found;
}

const isSilentLong = ({ tries }: Ended): boolean => (tries ?? 0) >= namedAfterTries;

/** `isClaimed`: two operators gave its money to this payment, which the invoice was not made for. */
type EndedInvoice = Ended &
  AskedRow &
  Readonly<{ state: string; taken_msat: string | null; isClaimed: boolean | null }>;
const ofInvoice = `r.hash, r.state, r.taken_msat, r.invoice, r.payment_id, r.asked_msat, true AS "isFinal",
  EXISTS (SELECT FROM journal WHERE key = 'claimed/' || r.hash) AS "isClaimed"`;
const invoices: Comparison<EndedInvoice> = {
  kind: 'invoice',
  unaudited: (db, seen) =>
    db.query<EndedInvoice[]>(
      `SELECT ${ofInvoice}, u.tries
         FROM lightning_unaudited u JOIN lightning_invoice r ON r.hash = u.hash
        WHERE u.kind = 'invoice' AND r.hash <> ALL($1::text[]) AND r.over_at IS NOT NULL
        ORDER BY u.compared_at NULLS FIRST, r.state <> 'taken', r.over_at LIMIT $2`,
      [seen, pageSize],
    ),
  newest: (db, seen) =>
    db.query<EndedInvoice[]>(
      `SELECT ${ofInvoice}, NULL::smallint AS tries FROM lightning_invoice r
        WHERE r.over_at IS NOT NULL AND r.hash <> ALL($1::text[]) ORDER BY r.over_at DESC LIMIT $2`,
      [seen, newest],
    ),
  async compare(node, row, hash) {
    const { state, taken_msat: taken, invoice, isClaimed } = row;
    const seen = await node.lookUp(hash);
    const isAsBooked =
      state === 'taken'
        ? seen.state === 'settled' && seen.paidMsat === BigInt(taken!)
        : seen.state !== 'settled' && seen.state !== 'accepted';
    const text = `${hash}: ${state} ${taken ?? ''}, node ${seen.state} ${seen.paidMsat ?? ''}`;
    // One that the node never made, and that nobody was shown, is nobody's.
    const isForeign = seen.state === 'unknown' ? invoice !== null : !isClaimed && !isMadeFor(row, seen);
    return [
      ...(isAsBooked ? [] : [{ what: 'wrong', text } as const]),
      ...(isForeign ? [{ what: 'foreign', text: hash } as const] : []),
    ];
  },
};

type EndedPayment = Ended & Readonly<{ outcome: string | null; amount_msat: string; fee_msat: string | null }>;
/** What has failed may still be paid, by a call that nobody expects any more, until the node refuses the invoice. */
const ofPayment = `r.hash, r.outcome, r.amount_msat, r.fee_msat,
  r.outcome = 'paid' OR r.expires_at + interval '${clocksDifferBy}' < clock_timestamp() AS "isFinal"`;
const payments: Comparison<EndedPayment> = {
  kind: 'payment',
  unaudited: (db, seen) =>
    db.query<EndedPayment[]>(
      `SELECT ${ofPayment}, u.tries
         FROM lightning_unaudited u JOIN lightning_payment r ON r.hash = u.hash
        WHERE u.kind = 'payment' AND r.hash <> ALL($1::text[]) AND r.over_at IS NOT NULL
        ORDER BY u.compared_at NULLS FIRST, r.outcome <> 'paid', r.over_at LIMIT $2`,
      [seen, pageSize],
    ),
  newest: (db, seen) =>
    db.query<EndedPayment[]>(
      `SELECT ${ofPayment}, NULL::smallint AS tries FROM lightning_payment r
        WHERE r.over_at IS NOT NULL AND r.hash <> ALL($1::text[]) ORDER BY r.over_at DESC LIMIT $2`,
      [seen, newest],
    ),
  // Whichever way it ended: what a node has called failed must not have been paid after all.
  async compare(node, { outcome, amount_msat: amount, fee_msat: fee }, hash) {
    const { state, amountMsat, feeMsat } = await node.track(hash);
    const isPaid = state === 'paid';
    const isSame = isPaid && amountMsat === BigInt(amount) && feeMsat === BigInt(fee ?? '0');
    if (outcome === 'paid' ? isSame : !isPaid) return [];
    const text = `${hash}: ${outcome} ${amount} + ${fee ?? '-'}, node ${state} ${amountMsat ?? ''} + ${feeMsat ?? '-'}`;
    return [{ what: 'wrong', text }];
  },
};

export const compareInvoices = (db: DataSource, node: EndedWitness, mark: MarkEnded): Promise<Finding[]> =>
  compareAll(db, node, invoices, mark);
export const comparePayments = (db: DataSource, node: EndedWitness, mark: MarkEnded): Promise<Finding[]> =>
  compareAll(db, node, payments, mark);
