import type { DataSource } from 'typeorm';
import { answered } from './answered';
import {
  compareInvoices,
  comparePayments,
  isMadeFor,
  mostSilent,
  type AskedRow,
  type EndedWitness,
  type MarkEnded,
  type Seen,
} from './ended-lightning';
import { lightningPosition, type LightningHoldings } from './reconcile-lightning';
import type { Violation } from './violation';

/** What the audit asks of our Lightning node; a macaroon that reads is enough. */
export type LightningWitness = LightningHoldings &
  EndedWitness &
  Readonly<{
    /** Every invoice that is neither taken nor cancelled. */
    pending(): AsyncIterable<Seen & Readonly<{ hash: string }>>;
  }>;

const foreign = 'a payer is shown an invoice that our Lightning node has not made for the row';

/** I4, I5, I12 and I15 against the word of our Lightning node: it has what is booked, took and paid what was booked,
 *  has made what payers are shown, and holds money for our invoices alone. A node that does not answer is left for the
 *  next look. `mark`: keeps what it has said of what ended. */
export async function auditInvoices(db: DataSource, node: LightningWitness, mark: MarkEnded): Promise<Violation[]> {
  const pending = await answered(pendingBy(node));
  if (!pending) return [];
  const strangers = await strange(db, pending);
  const [invoices, payments] = [await compareInvoices(db, node, mark), await comparePayments(db, node, mark)];
  const textsOf = (found: typeof invoices, which: string): string[] =>
    found.filter(({ what }) => what === which).map(({ text }) => text);
  const found = [
    { invariant: 'I4', what: 'the Lightning node has less than the books say', found: await shortfall(db, node) },
    {
      invariant: 'I5',
      what: 'the Lightning node took something else than is booked',
      found: textsOf(invoices, 'wrong'),
    },
    {
      invariant: 'I5',
      what: 'the Lightning node paid something else than is booked',
      found: textsOf(payments, 'wrong'),
    },
    {
      invariant: 'I5',
      what: 'the Lightning node does not say how it ended',
      found: textsOf([...invoices, ...payments], 'silent'),
    },
    { invariant: 'I12', what: 'the Lightning node holds money that no invoice is for', found: strangers },
    {
      invariant: 'I15',
      what: foreign,
      found: [...(await foreignShown(db, node, pending)), ...textsOf(invoices, 'foreign')],
    },
  ];
  return found.filter((one) => one.found.length).map((one) => ({ ...one, found: one.found.slice(0, 20) }));
}

type Pending = ReadonlyMap<string, Seen>;
async function pendingBy(node: LightningWitness): Promise<Pending> {
  const pending = new Map<string, Seen>();
  for await (const { hash, ...seen } of node.pending()) pending.set(hash, seen);
  return pending;
}

async function shortfall(db: DataSource, node: LightningWitness): Promise<string[]> {
  const position = await answered(lightningPosition(db, node));
  // Without the amount, which differs from look to look: only what both looks find is named.
  return position?.missing ? ['the incident `unreconciled` of BTC_LN says how much'] : [];
}

/** Invoices that payers may see now: each is the very text that the node has written for its hash, payment and amount,
 *  whoever has written the row. */
async function foreignShown(db: DataSource, node: LightningWitness, pending: Pending): Promise<string[]> {
  type Row = AskedRow & { id: string; hash: string | null };
  const rows = await db.query<Row[]>(
    `SELECT id, hash, invoice, asked_msat, payment_id FROM lightning_invoice
      WHERE over_at IS NULL AND invoice IS NOT NULL ORDER BY random()`,
  );
  const wrong: string[] = [];
  let silent = 0;
  for (const row of rows) {
    const { id, hash } = row;
    if (hash === null) continue; // without one there is no text
    const seen = pending.get(hash) ?? (await answered(node.lookUp(hash)));
    // One without an answer hides none of the others; after some in a row the node is away.
    silent = seen ? 0 : silent + 1;
    if (silent >= mostSilent) return wrong;
    if (!seen) continue;
    if (!isMadeFor(row, seen)) wrong.push(`${id}: ${hash}`);
  }
  return wrong;
}

/** The node was asked first: a row names its hash before the node hears of it. */
async function strange(db: DataSource, pending: Pending): Promise<string[]> {
  const held = [...pending].flatMap(([hash, { state }]) => (state === 'accepted' ? [hash] : []));
  const rows = await db.query<Array<{ hash: string }>>(
    'SELECT h AS hash FROM unnest($1::text[]) h WHERE NOT EXISTS (SELECT FROM lightning_invoice i WHERE i.hash = h)',
    [held],
  );
  return rows.map(({ hash }) => hash);
}
