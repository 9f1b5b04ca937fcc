import type { DataSource } from 'typeorm';
import { DomainError } from '../../domain/errors';
import type { HeldSighting } from '../../domain/lightning/held-money';

/** What has ended by Lightning against the word of our node: each row once, whoever ends how many others meanwhile, and
 *  the newest again at each look. See docs/decisions/0093-what-the-node-has-said.md. */

/** An invoice as the node has it; nothing but the state where it knows none. */
export type Seen = Readonly<{ state: HeldSighting['state']; paidMsat?: bigint; text?: string; askedMsat?: bigint }>;

export type EndedWitness = Readonly<{
  lookUp(hash: string): Promise<Seen>;
  /** What became of what it was to pay. */
  track(hash: string): Promise<Readonly<{ state: string; amountMsat?: bigint }>>;
}>;

const [pageSize, mostPages, newest] = [200, 10, 200];
/** A look ends after so many questions in a row without an answer: the node is away. */
const mostSilent = 3;
/** From then on a row is named about which the node gives no answer, while it answers others. */
const namedAfterTries = 5;

/** `wrong`: it ended otherwise than is booked. `foreign`: what a payer was shown is not the node's invoice. `silent`:
 *  the node does not say how it ended. */
type Finding = Readonly<{ what: 'wrong' | 'foreign' | 'silent'; text: string }>;
type Ended = Readonly<{ hash: string; tries: number | null }>;

/** How rows of one kind are read, and held against the node. */
type Comparison<Row extends Ended> = Readonly<{
  kind: 'invoice' | 'payment';
  columns: string;
  /** SQL: those that money moved for; they come first. */
  isPaid: string;
  compare(node: EndedWitness, row: Row): Promise<Finding[]>;
}>;

const ended = <Row extends Ended>(
  db: DataSource,
  { kind, columns, isPaid }: Comparison<Row>,
  which: 'not yet compared' | 'newest',
  seen: readonly string[],
): Promise<Row[]> =>
  which === 'newest'
    ? db.query<Row[]>(
        `SELECT ${columns}, NULL AS tries FROM lightning_${kind} r
          WHERE over_at IS NOT NULL AND hash <> ALL($1::text[]) ORDER BY over_at DESC LIMIT ${newest}`,
        [seen],
      )
    : db.query<Row[]>(
        `SELECT ${columns}, u.tries FROM lightning_unaudited u JOIN lightning_${kind} r USING (hash)
          WHERE u.kind = $2 AND hash <> ALL($1::text[]) AND over_at IS NOT NULL
          ORDER BY u.tries, ${isPaid} DESC, over_at LIMIT ${pageSize}`,
        [seen, kind],
      );

/** Rows that are right need not be looked for again; those without an answer go behind the others. */
async function mark(db: DataSource, kind: string, right: readonly string[], silent: readonly string[]): Promise<void> {
  if (right.length)
    await db.query('DELETE FROM lightning_unaudited WHERE kind = $1 AND hash = ANY($2::text[])', [kind, right]);
  if (silent.length)
    await db.query(
      `UPDATE lightning_unaudited SET tries = least(tries + 1, 1000) WHERE kind = $1 AND hash = ANY($2::text[])`,
      [kind, silent],
    );
}

async function compareAll<Row extends Ended>(
  db: DataSource,
  node: EndedWitness,
  comparison: Comparison<Row>,
  marks: boolean,
): Promise<Finding[]> {
  const found: Finding[] = [];
  const seen: string[] = [];
  let inARow = 0;
  for (let page = 0; page <= mostPages && inARow < mostSilent; page += 1) {
    const rows = await ended(db, comparison, page < mostPages ? 'not yet compared' : 'newest', seen);
    if (!rows.length && page < mostPages) page = mostPages - 1;
    const [right, silent]: [string[], string[]] = [[], []];
    for (const row of rows) {
      if (inARow >= mostSilent) break;
      seen.push(row.hash);
      const findings = await compareOne(node, comparison, row);
      inARow = findings === null ? inARow + 1 : 0;
      if (findings === null) silent.push(row.hash);
      else if (!findings.length) right.push(row.hash);
      found.push(...(findings ?? silentLong(row)));
    }
    if (marks) await mark(db, comparison.kind, right, silent);
  }
  return found;
}

/** null: the node gives no answer. */
const compareOne = <Row extends Ended>(
  node: EndedWitness,
  { compare }: Comparison<Row>,
  row: Row,
): Promise<Finding[] | null> =>
  compare(node, row).catch((error: unknown) => {
    if (error instanceof DomainError) return null;
    throw error;
  });

const silentLong = ({ hash, tries }: Ended): Finding[] =>
  (tries ?? 0) >= namedAfterTries ? [{ what: 'silent', text: hash }] : [];

type EndedInvoice = Ended & Readonly<{ state: string; taken_msat: string | null; invoice: string | null }>;
const invoices: Comparison<EndedInvoice> = {
  kind: 'invoice',
  columns: 'hash, r.state, r.taken_msat, r.invoice',
  isPaid: `(r.state = 'taken')`,
  async compare(node, { hash, state, taken_msat: taken, invoice }) {
    const seen = await node.lookUp(hash);
    const isAsBooked =
      state === 'taken'
        ? seen.state === 'settled' && seen.paidMsat === BigInt(taken!)
        : seen.state !== 'settled' && seen.state !== 'accepted';
    const found: Finding[] = [];
    if (!isAsBooked)
      found.push({
        what: 'wrong',
        text: `${hash}: ${state} ${taken ?? ''}, node ${seen.state} ${seen.paidMsat ?? ''}`,
      });
    if (invoice !== null && seen.text !== invoice) found.push({ what: 'foreign', text: hash });
    return found;
  },
};

type EndedPayment = Ended & Readonly<{ outcome: string | null; amount_msat: string }>;
const payments: Comparison<EndedPayment> = {
  kind: 'payment',
  columns: 'hash, r.outcome, r.amount_msat',
  isPaid: `(r.outcome = 'paid')`,
  // Whichever way it ended: what a node has called failed must not have been paid after all.
  async compare(node, { hash, outcome, amount_msat: amount }) {
    const seen = await node.track(hash);
    const isPaid = seen.state === 'paid';
    const isAsBooked = outcome === 'paid' ? isPaid && seen.amountMsat === BigInt(amount) : !isPaid;
    const text = `${hash}: ${outcome} ${amount}, node ${seen.state} ${seen.amountMsat ?? ''}`;
    return isAsBooked ? [] : [{ what: 'wrong', text }];
  },
};

/** `marks`: what is right is not asked about again, but for the newest. */
export const compareInvoices = (db: DataSource, node: EndedWitness, marks: boolean): Promise<Finding[]> =>
  compareAll(db, node, invoices, marks);
export const comparePayments = (db: DataSource, node: EndedWitness, marks: boolean): Promise<Finding[]> =>
  compareAll(db, node, payments, marks);
