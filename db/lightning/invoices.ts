import type { DataSource, EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import { newId } from '../../domain/ids';
import { lostForGoodAfter } from '../../domain/lightning/held-money';
import { asLedgerErrors } from '../ledger/ledger';
import { changedCount, changedRows } from '../query';
import type { RowOf } from '../entity';
import type { lightningInvoiceEntity } from './entities';

/** Rows of Lightning invoices. What each may become is checked once more by the database (guard_lightning.sql). */

export type InvoiceRow = RowOf<typeof lightningInvoiceEntity>;

/** Planned in one look, of those beside an address. */
const mostBeside = 16;

/** An invoice that a payment is to have; the node makes it later. `id` names its preimage too. The payment is locked.
 *  An earlier one that nothing is decided about must be decided first. */
export async function planInvoice(
  tx: EntityManager,
  planned: Readonly<{ paymentId: string; currency: string; askedMsat: bigint; expiresAt: Date }>,
): Promise<string> {
  const id = newId();
  await tx.query(
    `INSERT INTO lightning_invoice (id, payment_id, currency, asked_msat, expires_at) VALUES ($1, $2, $3, $4, $5)`,
    [id, planned.paymentId, planned.currency, planned.askedMsat.toString(), planned.expiresAt],
  );
  return id;
}

/** Whole seconds until it ends, by the database's clock, the only one that deadlines know; below 0 after its end. */
export async function secondsLeft(db: DataSource, { id }: Pick<InvoiceRow, 'id'>): Promise<number> {
  const [row] = await db.query<Array<{ left: number | null }>>(
    `SELECT floor(extract(epoch FROM expires_at - clock_timestamp()))::integer AS left
       FROM lightning_invoice WHERE id = $1`,
    [id],
  );
  return row?.left ?? 0;
}

/** Plans invoices beside the addresses of payments of bitcoin whose merchants take both. Returns how many.
 *  `receivable`: satoshi. */
export async function planBeside(db: DataSource, receivable: bigint): Promise<number> {
  const ids = Array.from({ length: mostBeside }, newId);
  const [row] = await db.query<Array<{ planned: number | null }>>('SELECT plan_beside($1::text[], $2) AS planned', [
    ids,
    receivable.toString(),
  ]);
  return row?.planned ?? 0;
}

/** Names the hash that the node is about to be asked for, and returns the one that the invoice has, now or before; null
 *  where it is over. */
export async function nameHash(db: DataSource, id: string, hash: string): Promise<string | null> {
  const [row] = await changedRows<{ hash: string | null }>(
    db,
    'UPDATE lightning_invoice SET hash = coalesce(hash, $2) WHERE id = $1 AND over_at IS NULL RETURNING hash',
    [id, hash],
  );
  return row?.hash ?? null;
}

/** The invoice as the node wrote it. 0: it was noted before, or is decided about. */
export const noteOpen = (tx: EntityManager, id: string, invoice: string): Promise<number> =>
  changedCount(
    tx,
    `UPDATE lightning_invoice SET invoice = $2, state = 'open'
      WHERE id = $1 AND state = 'planned' AND hash IS NOT NULL`,
    [id, invoice],
  );

export const noteHeld = (tx: EntityManager, id: string): Promise<number> =>
  changedCount(tx, `UPDATE lightning_invoice SET state = 'held' WHERE id = $1 AND state = 'open'`, [id]);

/** Notes that the node was asked about it, which has nothing that a recovery has lost. */
export const noteLooked = (tx: EntityManager, id: string): Promise<number> =>
  changedCount(tx, 'UPDATE lightning_invoice SET looked_at = clock_timestamp() WHERE id = $1', [id]);

/** `isQuiet`: its payment waits and has time left, it is open by the row and by the node, and was asked about since the
 *  last recovery: nothing is to be done. `isPast`: the time of its payment is over. `isToMake`: the node has to make
 *  it, for its payment still waits. */
export type UnfinishedInvoice = InvoiceRow & Readonly<{ isQuiet: boolean; isPast: boolean; isToMake: boolean }>;

/** All that something may still happen to: first what the node may hold money of, then what it has to make, of each
 *  merchant in turn, so that none waits for all of another's; then those beside an address, for nobody waits for them.
 *  Last what nobody wants any more: a payer who waits must not wait for that. `open`: what the node says is open. */
export const unfinishedInvoices = (db: DataSource, open: ReadonlySet<string>): Promise<UnfinishedInvoice[]> =>
  db.query<UnfinishedInvoice[]>(
    `SELECT i.*, p.expires_at <= clock_timestamp() AS "isPast",
            i.state = 'open' AND i.hash = ANY($1::text[]) AND p.expires_at > clock_timestamp()
              AND (greatest(i.created_at, i.looked_at) < (SELECT restored_at())) IS NOT TRUE
              AND wants_lightning(i.id) AS "isQuiet",
            i.state = 'planned' AND wants_lightning(i.id) AS "isToMake"
       FROM lightning_invoice i JOIN payment p ON p.id = i.payment_id WHERE i.over_at IS NULL
      ORDER BY coalesce(i.state IN ('planned', 'cancelling') OR i.hash = ANY($1::text[]), true),
               i.state = 'planned' AND NOT wants_lightning(i.id),
               i.beside IS NOT NULL,
               row_number() OVER (PARTITION BY p.merchant_id, i.beside
                                      ORDER BY i.state <> 'planned', i.created_at, i.id),
               i.created_at, i.id`,
    [[...open]],
  );

/** Every invoice of a payment, the newest last. */
export const invoicesOf = (tx: EntityManager, paymentId: string): Promise<InvoiceRow[]> =>
  tx.query<InvoiceRow[]>('SELECT * FROM lightning_invoice WHERE payment_id = $1 ORDER BY created_at, id', [paymentId]);

/** `isWanted`: the payment waits for the money. `isInDoubt`: a recovery has brought the row back, and the node was not
 *  asked about it since. `isLostForGood`: its money was to be taken so long ago that it has gone back. */
type LockedInvoice = Readonly<{ row: InvoiceRow; isWanted: boolean; isInDoubt: boolean; isLostForGood: boolean }>;

/** The row after its payment, both locked until the transaction ends. */
export async function lockInvoice(tx: EntityManager, id: string): Promise<LockedInvoice> {
  await tx.query<unknown[]>(
    'SELECT FROM payment WHERE id = (SELECT payment_id FROM lightning_invoice WHERE id = $1) FOR UPDATE',
    [id],
  );
  const [row] = await tx.query<InvoiceRow[]>('SELECT * FROM lightning_invoice WHERE id = $1 FOR UPDATE', [id]);
  if (!row) throw new DomainError('PAYMENT_NOT_FOUND', `There is no Lightning invoice ${id}`);
  const [now] = await tx.query<Array<Record<'isWanted' | 'isInDoubt' | 'isLostForGood', boolean | null>>>(
    `SELECT wants_lightning($1) AS "isWanted", is_lightning_in_doubt($2) AS "isInDoubt",
            $3::timestamptz < clock_timestamp() - $4::interval AS "isLostForGood"`,
    [id, row.payment_id, row.decided_at, lostForGoodAfter],
  );
  const is = { isWanted: now!.isWanted === true, isInDoubt: now!.isInDoubt === true };
  return { row, ...is, isLostForGood: now!.isLostForGood === true };
}

/** Decides about its money, and returns what is decided, now or before. */
export async function decideInvoice(
  tx: EntityManager,
  id: string,
  decision: 'take' | 'return',
  why: string,
): Promise<'take' | 'return'> {
  const [row] = await tx.query<Array<{ decided: string | null }>>('SELECT decide_lightning($1, $2, $3) AS decided', [
    id,
    decision,
    why,
  ]);
  return row!.decided === 'take' ? 'take' : 'return';
}

/** Notes what the node took; false where it was noted before. Throws JOURNAL_CONFLICT (final) for another amount. */
export async function recordTaken(tx: EntityManager, id: string, msat: bigint): Promise<boolean> {
  const [row] = await asLedgerErrors(
    tx.query<Array<{ isNew: boolean | null }>>('SELECT record_lightning_taken($1, $2) AS "isNew"', [
      id,
      msat.toString(),
    ]),
  );
  return row!.isNew === true;
}

export const freeIdempotencyKey = (tx: EntityManager, paymentId: string): Promise<unknown> =>
  tx.query<unknown[]>('SELECT free_idempotency_key($1)', [paymentId]);

export const endInvoice = (tx: EntityManager, id: string): Promise<unknown> =>
  tx.query<unknown[]>('SELECT end_lightning($1)', [id]);
