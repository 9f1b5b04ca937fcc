import { paymentStatuses, type PaymentStatus } from '../../domain/payments/payment';
import type { PaymentDay } from '../../domain/payments/summary';
import type { Queryable } from '../query';

/** What the payments of a merchant came to, by the day of their creation in UTC. `count_payment` keeps the rows in the
 *  transaction of each change, so that reading a month costs the same for a thousand payments and for a million. */

const counts = [
  'created',
  'paid',
  'settled',
  'partially_paid',
  'cross_chain_pending',
  'underpaid',
  'overpaid',
  'paid_late',
  'wrong_currency',
  'reorged',
] as const;
const sums = ['created_fiat', 'paid_fiat', 'settled_fiat'] as const;

type Row = Record<(typeof counts)[number], number> &
  Record<(typeof sums)[number], string> & { date: string; fiat: string };

/** The rows of the last `days` days, today's among them, oldest first; and which day is today. Days without a payment
 *  have no row. */
export async function paymentDays(
  db: Queryable,
  merchantId: string,
  days: number,
): Promise<{ today: string; rows: PaymentDay[] }> {
  const [clock] = await db.query<Array<{ today: string; first: string }>>(
    `SELECT to_char(t.day, 'YYYY-MM-DD') AS today, to_char(t.day - $1::integer + 1, 'YYYY-MM-DD') AS first
       FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS day) t`,
    [days],
  );
  const { today, first } = clock!;
  const rows = await db.query<Row[]>(
    `SELECT to_char(day, 'YYYY-MM-DD') AS date, fiat_currency AS fiat,
            ${counts.map((name) => `${name}::integer`).join(', ')},
            ${sums.map((name) => `${name}::text`).join(', ')}
       FROM payment_day WHERE merchant_id = $1 AND day BETWEEN $2::date AND $3::date ORDER BY day, fiat_currency`,
    [merchantId, first, today],
  );
  return { today, rows: rows.map(dayOf) };
}

const dayOf = (row: Row): PaymentDay => ({
  date: row.date,
  fiatCurrency: row.fiat,
  counts: {
    created: row.created,
    paid: row.paid,
    settled: row.settled,
    partiallyPaid: row.partially_paid,
    crossChainPending: row.cross_chain_pending,
    underpaid: row.underpaid,
    overpaid: row.overpaid,
    paidLate: row.paid_late,
    wrongCurrency: row.wrong_currency,
    reorged: row.reorged,
  },
  sums: { created: row.created_fiat, paid: row.paid_fiat, settled: row.settled_fiat },
});

/** How many payments of a merchant's days are in each status, zeros included; `dateTo` is exclusive. The names of the
 *  columns are those of the statuses. */
export async function statusesOfDays(
  db: Queryable,
  merchantId: string,
  { dateFrom, dateTo }: Readonly<{ dateFrom?: Date | undefined; dateTo?: Date | undefined }>,
): Promise<Record<PaymentStatus, number>> {
  const [row] = await db.query<Array<Record<string, string>>>(
    `SELECT ${paymentStatuses.map((status) => `coalesce(sum(${status}), 0)::text AS ${status}`).join(', ')}
       FROM payment_day WHERE merchant_id = $1
        AND ($2::timestamptz IS NULL OR day >= ($2::timestamptz AT TIME ZONE 'UTC')::date)
        AND ($3::timestamptz IS NULL OR day < ($3::timestamptz AT TIME ZONE 'UTC')::date)`,
    [merchantId, dateFrom ?? null, dateTo ?? null],
  );
  return Object.fromEntries(
    paymentStatuses.map((status) => [status, parseInt(row![status.toLowerCase()]!, 10)]),
  ) as Record<PaymentStatus, number>;
}

/** The same counted again from the payments themselves: what the rows of `payment_day` must say. */
export const recountSql = `SELECT p.merchant_id, (p.created_at AT TIME ZONE 'UTC')::date AS day, p.fiat_currency,
    count(*) AS created,
    count(*) FILTER (WHERE f.is_paid) AS paid, count(*) FILTER (WHERE p.status = 'SETTLED') AS settled,
    sum(p.fiat_amount) AS created_fiat, coalesce(sum(f.received) FILTER (WHERE f.is_paid), 0) AS paid_fiat,
    coalesce(sum(f.received) FILTER (WHERE p.status = 'SETTLED'), 0) AS settled_fiat,
    count(*) FILTER (WHERE p.status = 'PARTIALLY_PAID') AS partially_paid,
    count(*) FILTER (WHERE p.status = 'CROSS_CHAIN_PENDING') AS cross_chain_pending,
    count(*) FILTER (WHERE 'underpaid' = ANY(p.exceptions)) AS underpaid,
    count(*) FILTER (WHERE 'overpaid' = ANY(p.exceptions)) AS overpaid,
    count(*) FILTER (WHERE 'paidLate' = ANY(p.exceptions)) AS paid_late,
    count(*) FILTER (WHERE 'wrongCurrency' = ANY(p.exceptions)) AS wrong_currency,
    count(*) FILTER (WHERE 'reorged' = ANY(p.exceptions)) AS reorged,
    count(*) FILTER (WHERE p.status = 'AWAITING_CURRENCY') AS awaiting_currency,
    count(*) FILTER (WHERE p.status = 'WAITING') AS waiting,
    count(*) FILTER (WHERE p.status = 'CONFIRMING') AS confirming,
    count(*) FILTER (WHERE p.status = 'CONFIRMED') AS confirmed,
    count(*) FILTER (WHERE p.status = 'SWEEP_QUEUED') AS sweep_queued,
    count(*) FILTER (WHERE p.status = 'EXPIRED') AS expired,
    count(*) FILTER (WHERE p.status = 'CANCELLED') AS cancelled,
    count(*) FILTER (WHERE p.status = 'FAILED') AS failed
  FROM payment p CROSS JOIN LATERAL (
    SELECT p.status IN ('CONFIRMING', 'CONFIRMED', 'SWEEP_QUEUED', 'SETTLED') AS is_paid,
           coalesce(p.value_paid, p.amount_paid * p.exchange_rate, 0) AS received) f
 GROUP BY 1, 2, 3`;
