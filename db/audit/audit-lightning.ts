import type { DataSource } from 'typeorm';
import { lightningPosition } from './reconcile-lightning';
import type { HeldSighting } from '../../domain/lightning/held-money';
import type { Violation } from './violation';

/** What the audit asks of our Lightning node; a macaroon that reads is enough. */
export type LightningWitness = Readonly<{
  /** All that the node has of its own, at the most. Millisatoshi. */
  holds(): Promise<bigint>;
  lookUp(hash: string): Promise<Readonly<{ state: HeldSighting['state']; paidMsat?: bigint }>>;
  /** What became of what it was to pay. */
  track(hash: string): Promise<Readonly<{ state: string; amountMsat?: bigint }>>;
  /** Every invoice that is neither taken nor cancelled. */
  pending(): AsyncIterable<Readonly<{ hash: string; state: HeldSighting['state'] }>>;
}>;

/** Invoices checked per look, those that ended last: the node's word about them never changes. */
const invoicesPerLook = 200;

/** I4, I5 and I12 against the word of our Lightning node: it has what is booked, took and paid what was booked and
 *  nothing that was not, and holds money for our invoices alone. A node that does not answer is left for the next look.
 *  */
export async function auditInvoices(db: DataSource, node: LightningWitness): Promise<Violation[]> {
  const found = [
    {
      invariant: 'I4',
      what: 'the Lightning node has less than the books say',
      found: await shortfall(db, node),
    },
    {
      invariant: 'I5',
      what: 'the Lightning node took something else than is booked',
      found: await wronglyEnded(db, node),
    },
    {
      invariant: 'I5',
      what: 'the Lightning node paid something else than is booked',
      found: await wronglyPaid(db, node),
    },
    { invariant: 'I12', what: 'the Lightning node holds money that no invoice is for', found: await strange(db, node) },
  ];
  return found.filter((one) => one.found.length).map((one) => ({ ...one, found: one.found.slice(0, 20) }));
}

async function shortfall(db: DataSource, node: LightningWitness): Promise<string[]> {
  const position = await lightningPosition(db, node).catch(() => null);
  return position?.missing ? [`it lacks ${position.missing}`] : [];
}

async function wronglyEnded(db: DataSource, node: LightningWitness): Promise<string[]> {
  const rows = await db.query<Array<{ hash: string | null; state: string; taken_msat: string | null }>>(
    `SELECT hash, state, taken_msat FROM lightning_invoice WHERE over_at IS NOT NULL AND hash IS NOT NULL
      ORDER BY over_at DESC LIMIT $1`,
    [invoicesPerLook],
  );
  const wrong: string[] = [];
  for (const { hash, state, taken_msat: taken } of rows) {
    if (hash === null) continue; // the node never heard of it
    const seen = await node.lookUp(hash).catch(() => null);
    if (!seen) return wrong;
    const isAsBooked =
      state === 'taken'
        ? seen.state === 'settled' && seen.paidMsat === BigInt(taken!)
        : seen.state !== 'settled' && seen.state !== 'accepted';
    if (!isAsBooked) wrong.push(`${hash}: ${state} ${taken ?? ''}, node ${seen.state} ${seen.paidMsat ?? ''}`);
  }
  return wrong;
}

/** Those that ended last, whichever way: what a node has called failed must not have been paid after all. */
async function wronglyPaid(db: DataSource, node: LightningWitness): Promise<string[]> {
  const rows = await db.query<Array<{ hash: string; outcome: string | null; amount_msat: string }>>(
    `SELECT hash, outcome, amount_msat FROM lightning_payment WHERE over_at IS NOT NULL
      ORDER BY over_at DESC LIMIT $1`,
    [invoicesPerLook],
  );
  const wrong: string[] = [];
  for (const { hash, outcome, amount_msat: amount } of rows) {
    const seen = await node.track(hash).catch(() => null);
    if (!seen) return wrong;
    const isPaid = seen.state === 'paid';
    const isAsBooked = outcome === 'paid' ? isPaid && seen.amountMsat === BigInt(amount) : !isPaid;
    if (!isAsBooked) wrong.push(`${hash}: ${outcome} ${amount}, node ${seen.state} ${seen.amountMsat ?? ''}`);
  }
  return wrong;
}

/** The node first: a row names its hash before the node hears of it. */
async function strange(db: DataSource, node: LightningWitness): Promise<string[]> {
  const held: string[] = [];
  try {
    for await (const { hash, state } of node.pending()) if (state === 'accepted') held.push(hash);
  } catch {
    return [];
  }
  const rows = await db.query<Array<{ hash: string }>>(
    'SELECT h AS hash FROM unnest($1::text[]) h WHERE NOT EXISTS (SELECT FROM lightning_invoice i WHERE i.hash = h)',
    [held],
  );
  return rows.map(({ hash }) => hash);
}
