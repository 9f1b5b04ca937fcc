import type { DataSource, EntityManager } from 'typeorm';
import { baseUnits, type Currency } from '../../domain/chains/assets';
import type { GivenInvoice } from '../../domain/lightning/receiver';
import { invoicedKinds, kinds, type InvoicedKind, type KindFacts } from '../../domain/txmanager/kinds';
import { everyCurrency } from '../limits/outbound';
import { changedCount } from '../query';
import type { RowOf } from '../entity';
import type { lightningPaymentEntity } from './entities';

/** Rows of what our Lightning node pays. What each may become is checked once more by the database
 *  (guard_lightning_payment.sql). */

export type LightningPaymentRow = RowOf<typeof lightningPaymentEntity>;

/** How long after its time an invoice counts as one that the node refuses, whatever its clock says. */
export const clocksDifferBy = '10 minutes';

/** What a payment is for: one row of each has one payment, for ever. */
export type PaidFor = Readonly<{ kind: InvoicedKind; ref: string }>;
/** The columns that say it: one of them is filled. */
export type OwnerColumn = `${InvoicedKind}_id`;
export function paidFor(row: Pick<LightningPaymentRow, OwnerColumn>): PaidFor {
  const kind = invoicedKinds.find((one) => row[`${one}_id`] !== null)!;
  return { kind, ref: row[`${kind}_id`]! };
}

const ownerSql = (kind: string, table: string, status: string): string =>
  `SELECT ${status} AS status, o.updated_at, o.merchant_id FROM ${table} o WHERE o.id = l.${kind}_id`;
/** SQL: payments `l` with what each is for, `o`: its status in the words of withdrawals, since when it has it, and
 *  whose it is. */
export const paymentsWithRows = `lightning_payment l CROSS JOIN LATERAL (${Object.entries<KindFacts>(kinds)
  .flatMap(([kind, { invoiced }]) => (invoiced === null ? [] : [ownerSql(kind, invoiced.table, invoiced.status)]))
  .join(' UNION ALL ')}) o`;

/** What a row is to pay; it is locked. false: the invoice is somebody's already, or it has one. */
export async function planPayment(
  tx: EntityManager,
  { kind, ref }: PaidFor,
  planned: Readonly<{
    hash: string;
    invoice: string;
    amountMsat: bigint;
    feeLimitMsat: bigint;
    expiresAt: Date;
  }>,
): Promise<boolean> {
  const rows = await tx.query<unknown[]>(
    `INSERT INTO lightning_payment (hash, ${kind}_id, invoice, amount_msat, fee_limit_msat, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING hash`,
    [
      planned.hash,
      ref,
      planned.invoice,
      planned.amountMsat.toString(),
      planned.feeLimitMsat.toString(),
      planned.expiresAt,
    ],
  );
  return rows.length > 0;
}

/** Whether an invoice was given before, by whomever. */
export const isKnownHash = async (tx: EntityManager, hash: string): Promise<boolean> =>
  (await tx.query<unknown[]>('SELECT hash FROM lightning_payment WHERE hash = $1', [hash])).length > 0;

const awaitingSql = (kind: string, table: string, status: string): string =>
  `SELECT '${kind}' AS kind, o.id, o.merchant_id, o.address, o.currency, o.net_amount FROM ${table} o
      WHERE o.currency = 'BTC_LN' AND o.status = 'pending' AND ${status} = 'pending' AND o.address LIKE '%@%'
        AND NOT EXISTS (SELECT FROM lightning_payment l WHERE l.${kind}_id = o.id)`;
const awaitingRows = Object.entries<KindFacts>(kinds)
  .flatMap(([kind, { invoiced }]) => (invoiced === null ? [] : [awaitingSql(kind, invoiced.table, invoiced.status)]))
  .join(' UNION ALL ');
/** What goes to a Lightning address, may leave, and has no invoice yet. While its money is stopped no invoice is asked
 *  for: it would expire meanwhile. Merchants take turns, so that nobody waits for the mass payout of another. */
export type AwaitsInvoice = PaidFor &
  Readonly<{ merchantId: string; address: string; currency: Currency; net_amount: string }>;
export const awaitInvoices = (db: DataSource): Promise<AwaitsInvoice[]> =>
  db.query<AwaitsInvoice[]>(
    `SELECT o.kind, o.id AS ref, o.merchant_id AS "merchantId", o.address, o.currency, o.net_amount
       FROM (${awaitingRows}) o
       JOIN merchant m ON m.id = o.merchant_id
      WHERE m.held_because IS NULL AND NOT EXISTS (SELECT FROM egress_freeze f WHERE f.currency IN (o.currency, $1))
      ORDER BY row_number() OVER (PARTITION BY o.merchant_id ORDER BY o.id), o.id`,
    [everyCurrency],
  );

/** What of a row its invoice is held against. */
export type PayableRow = Readonly<{ id: string; currency: Currency; net_amount: string; network_fee: string }>;

/** The same for an invoice of exactly the net amount of its row; nodes on the way may take the row's network fee. */
export const planInvoice = (
  tx: EntityManager,
  kind: InvoicedKind,
  row: PayableRow,
  { text, invoice }: GivenInvoice,
): Promise<boolean> =>
  planPayment(
    tx,
    { kind, ref: row.id },
    {
      ...{ hash: invoice.hash, invoice: text, expiresAt: new Date(invoice.expiresAt * 1000) },
      amountMsat: 1000n * baseUnits(row.currency, row.net_amount),
      feeLimitMsat: 1000n * baseUnits(row.currency, row.network_fee),
    },
  );

/** When the newest was planned of those that were called for; null: none was. The others say nothing of how old a
 *  restored database is: they may have been planned in it. */
export async function newestCalledAt(tx: EntityManager): Promise<Date | null> {
  const [row] = await tx.query<Array<{ newest: Date | null }>>(
    'SELECT max(created_at) AS newest FROM lightning_payment WHERE calls > 0',
  );
  return row?.newest ?? null;
}

/** Whether one of these has an invoice that has not ended. */
export const hasOpenInvoice = async (
  tx: EntityManager,
  kind: InvoicedKind,
  refs: readonly string[],
): Promise<boolean> =>
  (
    await tx.query<unknown[]>(`SELECT FROM lightning_payment WHERE ${kind}_id = ANY($1) AND outcome IS NULL LIMIT 1`, [
      refs,
    ])
  ).length > 0;

/** How many of a merchant the node was told to pay, and has not ended. */
export async function countUnderWay(tx: EntityManager, merchantId: string): Promise<number> {
  const [row] = await tx.query<[{ count: number | null }]>(
    `SELECT count(*)::int AS count FROM ${paymentsWithRows}
      WHERE l.outcome IS NULL AND l.calls > 0 AND o.merchant_id = $1`,
    [merchantId],
  );
  return row.count ?? 0;
}

/** Those that have not ended: let go, or called for. The oldest first. */
export const openPayments = (db: DataSource): Promise<Array<{ hash: string; merchantId: string }>> =>
  db.query<Array<{ hash: string; merchantId: string }>>(
    `SELECT l.hash, o.merchant_id AS "merchantId" FROM ${paymentsWithRows}
      WHERE l.outcome IS NULL AND (o.status IN ('pending', 'processing', 'broadcast') OR l.calls > 0)
      ORDER BY l.created_at, l.hash`,
  );

/** `isExpired`: the node refuses it from now on. `isTooSoon`: it was called for less than `pauseMs` ago, by whichever
 *  process. Read before the node is asked. */
export async function readPayment(
  db: DataSource,
  hash: string,
  pauseMs: number,
): Promise<LightningPaymentRow & Readonly<Record<'isExpired' | 'isTooSoon', boolean>>> {
  const [row] = await db.query<Array<LightningPaymentRow & Record<'isExpired' | 'isTooSoon', boolean | null>>>(
    `SELECT l.*, l.expires_at + $2::interval < clock_timestamp() AS "isExpired",
            l.called_at > clock_timestamp() - make_interval(secs => $3::double precision / 1000) AS "isTooSoon"
       FROM lightning_payment l WHERE hash = $1`,
    [hash, clocksDifferBy, pauseMs],
  );
  if (!row) throw new Error(`No payment by Lightning ${hash}`);
  return { ...row, isExpired: row.isExpired === true, isTooSoon: row.isTooSoon === true };
}

/** Locked until the transaction ends; after what it is for. */
export async function lockLightningPayment(tx: EntityManager, hash: string): Promise<LightningPaymentRow> {
  const [row] = await tx.query<LightningPaymentRow[]>('SELECT * FROM lightning_payment WHERE hash = $1 FOR UPDATE', [
    hash,
  ]);
  if (!row) throw new Error(`No payment by Lightning ${hash}`);
  return row;
}

/** Before the node is called. */
export const countCall = (tx: EntityManager, hash: string): Promise<number> =>
  changedCount(tx, 'UPDATE lightning_payment SET calls = calls + 1, unanswered = unanswered + 1 WHERE hash = $1', [
    hash,
  ]);

/** After the node has answered a call, with whatever: it cannot arrive any more. */
export const noteAnswered = (db: DataSource, hash: string, isUnderWay: boolean): Promise<number> =>
  changedCount(
    db.manager,
    `UPDATE lightning_payment
        SET unanswered = unanswered - 1,
            under_way_at = CASE WHEN $2 THEN coalesce(under_way_at, clock_timestamp()) ELSE under_way_at END
      WHERE hash = $1 AND unanswered > 0 AND outcome IS NULL`,
    [hash, isUnderWay],
  );

/** Notes what the node says of an open payment, where that is news. Returns whether it does not know what it had under
 *  way by its last word. */
export async function noteWord(
  tx: EntityManager,
  { hash, under_way_at: underWayAt, forgotten_at: forgottenAt, outcome }: LightningPaymentRow,
  said: 'unknown' | 'under way' | 'failed' | 'paid',
): Promise<boolean> {
  const isForgotten = said === 'unknown' && underWayAt !== null && outcome === null;
  const isUnderWay = said === 'under way' || isForgotten;
  const isNews = isUnderWay !== (underWayAt !== null) || isForgotten !== (forgottenAt !== null);
  if (isNews && outcome === null)
    await tx.query(
      `UPDATE lightning_payment
          SET under_way_at = CASE WHEN $2 THEN coalesce(under_way_at, clock_timestamp()) END,
              forgotten_at = CASE WHEN $3 THEN coalesce(forgotten_at, clock_timestamp()) END
        WHERE hash = $1`,
      [hash, isUnderWay, isForgotten],
    );
  return isForgotten;
}

/** Notes how it ended. */
export const endPayment = (
  tx: EntityManager,
  hash: string,
  end: Readonly<{ outcome: 'paid'; preimage: string; feeMsat: bigint } | { outcome: 'failed' }>,
): Promise<number> =>
  changedCount(
    tx,
    `UPDATE lightning_payment SET outcome = $2, preimage = $3, fee_msat = $4, over_at = clock_timestamp()
      WHERE hash = $1`,
    end.outcome === 'paid' ? [hash, 'paid', end.preimage, end.feeMsat.toString()] : [hash, 'failed', null, null],
  );
