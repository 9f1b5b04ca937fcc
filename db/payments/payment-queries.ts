import { networks } from '../../domain/chains/assets';
import { isId, isSlug } from '../../domain/ids';
import type { InvoiceBranding } from '../../domain/branding/branding';
import type { PaymentNow } from '../../domain/payments/payment-view';
import {
  paymentStatuses,
  type PaymentException,
  type PaymentRow,
  type PaymentStatus,
} from '../../domain/payments/payment';
import type { Payer } from '../../domain/payments/payer';
import type { SeenDeposit } from '../../domain/payments/seen';
import type { RefundStatus } from '../../domain/refunds/refund';
import { brandingColumns, brandingIn, type BrandingColumns } from '../branding/branding';
import { metadataColumn } from './donors';
import { payerColumns, payerIn, type PayerColumns } from './payer-browsers';
import { statusesOfDays } from './payment-days';
import { nowColumns, splitNow, type NowColumns } from './payment-now';
import type { Queryable } from '../query';

/** Reading payments. Every query by a merchant carries the merchant's id, so that a foreign id is an unknown one. */

export type Found = PaymentRow & NowColumns;

export type PaymentRead = Readonly<{ row: PaymentRow; now: PaymentNow }>;

export const readOf = (found: Found): PaymentRead => splitNow(found);

/** The payment of a merchant, or null: unknown and foreign are the same. */
export async function readPayment(db: Queryable, merchantId: string, id: string): Promise<PaymentRead | null> {
  const [found] = await db.query<Found[]>(
    `SELECT p.*, ${metadataColumn}, ${nowColumns} FROM payment p WHERE p.id = $1 AND p.merchant_id = $2`,
    [id, merchantId],
  );
  return found ? readOf(found) : null;
}

/** `underpaidRefund`: where the refund stands that the policy for underpayments has opened. Its id is not read: the
 *  public id of an invoice must not lead to its link. `isLocked`: money has been seen, so that nobody becomes the payer
 *  any more. `isDelayed`: the node of its network stands still. */
export type InvoiceRead = PaymentRead &
  Readonly<{
    merchantName: string;
    serverTime: Date;
    underpaidRefund: RefundStatus | null;
    payer: Payer;
    isLocked: boolean;
    isDelayed: boolean;
    branding: InvoiceBranding;
    /** Of the widget whose checkout it is. */
    thankYouText: string | null;
    /** Deposits that a status may not count yet. */
    seen: readonly SeenDeposit[];
    /** The invoice of Lightning that can be paid in place of its address; null: there is none. */
    besideInvoice: string | null;
  }>;
type FoundInvoice = Found &
  PayerColumns &
  BrandingColumns & {
    merchant_name: string;
    server_time: Date;
    underpaid_refund: RefundStatus | null;
    is_delayed: boolean;
    thank_you_text: string | null;
    seen: SeenDeposit[] | null;
    beside_invoice: string | null;
  };
/** The deposits that `countedDeposits` and `otherAssetDeposits` in domain/payments/counted.ts would look at, of those
 *  that no decision has taken. */
const seenSql = `(SELECT json_agg(json_build_object('currency', d.currency, 'amount', d.amount::text,
            'txId', CASE d.found_by WHEN 'transfer' THEN d.tx_id END,
            'isOther', d.status = 'confirmed' AND d.currency <> a.currency) ORDER BY d.id)
     FROM deposit d JOIN address a ON a.network = d.network AND a.address = d.address AND a.tag = d.tag
    WHERE (d.payment_id = p.id AND d.child_payment_id IS NULL OR d.child_payment_id = p.id)
      AND d.currency IS NOT NULL AND NOT d.is_dust AND d.status IN ('pool', 'mined', 'confirmed')
      AND (d.allocation IN ('unsettled', 'settled')
        OR d.allocation IS NULL AND (p.parent_payment_id IS NOT NULL OR d.first_seen_at <= p.expires_at)))`;
const invoiceSql = `SELECT p.*, NULL AS metadata, ${nowColumns}, ${payerColumns}, ${brandingColumns},
  m.name AS merchant_name,  clock_timestamp() AS server_time,
  (SELECT r.status FROM refund r WHERE r.payment_id = p.id AND r.type = 'underpaid'
      AND r.key_id IS NULL AND r.created_by IS NULL AND r.status <> 'cancelled'
    ORDER BY r.status = 'awaiting_address' DESC, r.id LIMIT 1) AS underpaid_refund,
  EXISTS (SELECT FROM chain_cursor c WHERE c.network = p.network AND c.stale_since IS NOT NULL) AS is_delayed,
  (SELECT w.thank_you_text FROM widget w WHERE w.id = p.widget_id) AS thank_you_text,
  ${seenSql} AS seen,
  (SELECT i.invoice FROM lightning_invoice i
    WHERE i.payment_id = p.id AND i.beside = p.currency AND i.state = 'open' AND i.expires_at > clock_timestamp()
      AND wants_lightning(i.id)) AS beside_invoice
  FROM payment p JOIN merchant m ON m.id = p.merchant_id LEFT JOIN merchant_branding mb ON mb.merchant_id = m.id`;
const invoiceOf = (found: FoundInvoice): InvoiceRead => {
  const {
    merchant_name,
    server_time,
    underpaid_refund,
    is_delayed,
    thank_you_text,
    payer_browsers,
    first_seen_at,
    seen,
    beside_invoice,
    ...rest
  } = found;
  return {
    ...readOf(rest),
    merchantName: merchant_name,
    serverTime: server_time,
    underpaidRefund: underpaid_refund,
    payer: payerIn(found, rest.network),
    isLocked: first_seen_at !== null,
    isDelayed: is_delayed,
    branding: brandingIn(found),
    thankYouText: thank_you_text,
    seen: seen ?? [],
    besideInvoice: beside_invoice,
  };
};

/** The invoice with this public id, or null. Without its metadata: payers never see it. */
export async function readInvoice(db: Queryable, slug: string): Promise<InvoiceRead | null> {
  if (!isSlug(slug)) return null;
  const [found] = await db.query<FoundInvoice[]>(`${invoiceSql} WHERE p.slug = $1`, [slug]);
  return found ? invoiceOf(found) : null;
}

/** Invoices by payment id, those that exist. */
export async function readInvoicesById(db: Queryable, ids: readonly string[]): Promise<InvoiceRead[]> {
  const found = await db.query<FoundInvoice[]>(`${invoiceSql} WHERE p.id = ANY($1::char(24)[])`, [ids]);
  return found.map(invoiceOf);
}

/** Whose payments these are, each merchant once. */
export async function merchantsOf(db: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await db.query<Array<{ merchant_id: string }>>(
    'SELECT DISTINCT merchant_id FROM payment WHERE id = ANY($1::char(24)[])',
    [ids],
  );
  return rows.map((row) => row.merchant_id);
}

/** Contract: G2. `dateFrom` inclusive, `dateTo` exclusive, by creation. */
export type PaymentFilter = Readonly<{
  status?: PaymentStatus;
  exception?: PaymentException;
  currency?: string;
  dateFrom?: Date;
  dateTo?: Date;
  /** Prices, both inclusive; decimal strings. */
  amountFrom?: string;
  amountTo?: string;
  orderId?: string;
  merchantOrderId?: string;
  /** Id, slug, deposit address or transaction hash, whole. */
  search?: string;
  /** Other spellings of `search`, as the networks write addresses. */
  spellings?: readonly string[];
  excludeAbandoned?: boolean;
}>;

const networkList = `'{${Object.keys(networks).join()}}'::text[]`;

/** The filter as SQL on `payment p`; every part of it has an index that begins with the merchant. */
export function conditions(merchantId: string, filter: PaymentFilter): { sql: string; values: unknown[] } {
  const values: unknown[] = [merchantId];
  const parts = ['p.merchant_id = $1'];
  const where = (sql: (parameter: string) => string, value: unknown) => {
    values.push(value);
    parts.push(sql(`$${values.length}`));
  };
  if (filter.status) where((v) => `p.status = ${v}`, filter.status);
  // Payments with an exception have an index of their own: most have none.
  if (filter.exception) where((v) => `(p.exceptions <> '{}' AND ${v} = ANY(p.exceptions))`, filter.exception);
  if (filter.currency) where((v) => `p.currency = ${v}`, filter.currency.toUpperCase());
  if (filter.dateFrom) where((v) => `p.created_at >= ${v}`, filter.dateFrom);
  if (filter.dateTo) where((v) => `p.created_at < ${v}`, filter.dateTo);
  if (filter.amountFrom !== undefined) where((v) => `p.fiat_amount >= ${v}::numeric`, filter.amountFrom);
  if (filter.amountTo !== undefined) where((v) => `p.fiat_amount <= ${v}::numeric`, filter.amountTo);
  if (filter.orderId !== undefined) where((v) => `p.order_id = ${v}`, filter.orderId);
  if (filter.merchantOrderId !== undefined) where((v) => `p.merchant_order_id = ${v}`, filter.merchantOrderId);
  if (filter.search !== undefined) {
    const text = filter.search.trim();
    const spellings = [...new Set([text, text.toLowerCase(), ...(filter.spellings ?? [])])];
    if (isId(text)) where((v) => `p.id = ${v}`, text);
    else if (isSlug(text)) where((v) => `p.slug = ${v}`, text);
    else
      where(
        (v) => `p.id IN (
          SELECT a.payment_id FROM address a WHERE a.network = ANY(${networkList}) AND a.address = ANY(${v}::text[])
          UNION SELECT unnest(ARRAY[d.payment_id, d.child_payment_id]) FROM deposit d
           WHERE d.network = ANY(${networkList}) AND d.tx_id = ANY(${v}::text[]))`,
        spellings,
      );
  }
  if (filter.excludeAbandoned)
    parts.push(
      `NOT (p.source = 'widget' AND p.status IN ('EXPIRED', 'CANCELLED') AND p.amount_paid = 0
         AND NOT EXISTS (SELECT FROM payment x WHERE x.parent_payment_id = p.id))`,
    );
  return { sql: parts.join(' AND '), values };
}

const isMidnight = (moment: Date | undefined): boolean => !moment || moment.getTime() % 86_400_000 === 0;

/** Whether what a filter finds is all payments of whole days, maybe of one status: these are counted as they change. */
function isOfDays({ status: _, dateFrom, dateTo, ...rest }: PaymentFilter): boolean {
  return (
    isMidnight(dateFrom) &&
    isMidnight(dateTo) &&
    Object.values(rest).every((part) => part === undefined || part === false)
  );
}

/** How many payments the filter finds. */
async function countAll(db: Queryable, merchantId: string, filter: PaymentFilter): Promise<number> {
  if (isOfDays(filter)) {
    const counts = await statusesOfDays(db, merchantId, filter);
    return filter.status ? counts[filter.status] : Object.values(counts).reduce((sum, count) => sum + count, 0);
  }
  const { sql, values } = conditions(merchantId, filter);
  const [row] = await db.query<Array<{ total: string }>>(
    `SELECT count(*)::text AS total FROM payment p WHERE ${sql}`,
    values,
  );
  return parseInt(row!.total, 10);
}

/** One page of a merchant's payments, newest first, and how many there are in all. The ids of the page come first, from
 *  an index alone where there is one: rows that are skipped are not looked at. */
export async function listPayments(
  db: Queryable,
  merchantId: string,
  filter: PaymentFilter,
  page: Readonly<{ page: number; limit: number }>,
): Promise<{ items: PaymentRead[]; total: number }> {
  const { sql, values } = conditions(merchantId, filter);
  const [total, found] = await Promise.all([
    countAll(db, merchantId, filter),
    db.query<Found[]>(
      `WITH page AS MATERIALIZED (SELECT p.id FROM payment p WHERE ${sql}
          ORDER BY p.created_at DESC, p.id DESC LIMIT $${values.length + 1} OFFSET $${values.length + 2})
       SELECT p.*, ${metadataColumn}, ${nowColumns} FROM page JOIN payment p ON p.id = page.id
        ORDER BY p.created_at DESC, p.id DESC`,
      [...values, page.limit, (page.page - 1) * page.limit],
    ),
  ]);
  return { items: found.map(readOf), total };
}

/** How many payments are in each status, zeros included. */
export async function countByStatus(
  db: Queryable,
  merchantId: string,
  filter: Omit<PaymentFilter, 'status'>,
): Promise<Record<PaymentStatus, number>> {
  if (isOfDays(filter)) return statusesOfDays(db, merchantId, filter);
  const { sql, values } = conditions(merchantId, filter);
  const rows = await db.query<Array<{ status: PaymentStatus; total: string }>>(
    `SELECT p.status, count(*)::text AS total FROM payment p WHERE ${sql} GROUP BY p.status`,
    values,
  );
  const counts = Object.fromEntries(paymentStatuses.map((status) => [status, 0])) as Record<PaymentStatus, number>;
  for (const { status, total } of rows) counts[status] = parseInt(total, 10);
  return counts;
}
