import { livemodeSql } from '../instance';
import { eventDataColumn } from '../payments/donors';
import type { EntityManager } from 'typeorm';
import type { EventRow } from '../../domain/webhooks/event-view';
import { type Queryable, changedRows } from '../query';

export const deliveryStatuses = ['pending', 'succeeded', 'retrying', 'failed', 'cancelled'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** A delivery with the event it carries. */
export type DueDelivery = Omit<EventRow, 'id'> & {
  id: string;
  event_id: string;
  /** 'ipn' or the id of a webhook endpoint. */
  endpoint: string;
  status: DeliveryStatus;
  attempts: number;
  /** Attempts of earlier rounds: each round has the whole schedule. */
  attempts_before: number;
  url: string;
  /** Sealed; the newest first, then the one before it while it still signs. */
  secrets: string[];
  /** The merchant wants deliveries there. */
  is_on: boolean;
  /** It did not answer well when it was last asked. */
  is_slow: boolean;
  /** When it was due, as Postgres writes it. */
  due: string | null;
  /** What the event is about. */
  entity_id: string;
  /** The request that the event goes back to. */
  request_id: string | null;
  /** The span that its event came from. */
  traceparent: string | null;
  /** When it was read for this attempt, by the clock of the database: that of the machine may be wrong. */
  taken_at: Date;
};

/** The event of delivery `d`, its secrets and what its receiver is like: columns of a `DueDelivery`, where `e` is the
 *  event, `m` the merchant and `w` the endpoint. */
export const carriedEvent = `clock_timestamp() AS taken_at, e.id AS event_id, e.type, e.merchant_id, ${eventDataColumn},
  e.previous::text AS previous, e.seq::text AS seq, e.created_at, ${livemodeSql} AS livemode, e.entity_id, e.request_id,
  e.traceparent,
  CASE WHEN d.endpoint = 'ipn' THEN m.ipn_enabled ELSE coalesce(w.is_active, false) END AS is_on,
  array_remove(CASE WHEN d.endpoint = 'ipn'
       THEN ARRAY[m.ipn_secret_sealed,
         CASE WHEN m.previous_ipn_secret_until > now() THEN m.previous_ipn_secret_sealed END]
       ELSE ARRAY[w.secret_sealed,
         CASE WHEN w.previous_secret_until > now() THEN w.previous_secret_sealed END] END, NULL) AS secrets,
  EXISTS (SELECT FROM slow_receiver s
           WHERE s.merchant_id = d.merchant_id AND s.endpoint = d.endpoint) AS is_slow`;

/** The delivery with its attempt number raised, so that a repeat after a crash is an attempt of its own; null once it
 *  is over, and while a pool has claimed it. It leaves the queue, and goes where its endpoint is now. */
export async function beginAttempt(db: Queryable, id: string): Promise<DueDelivery | null> {
  const rows = await changedRows<DueDelivery>(
    db,
    `WITH left_queue AS (
       DELETE FROM delivery_queue
        WHERE delivery_id = $1 AND (claimed_until IS NULL OR claimed_until < now()) RETURNING tries
     )
     UPDATE delivery d SET attempts = d.attempts + 1 + coalesce((SELECT tries FROM left_queue), 0),
            url = coalesce(w.url, d.url), updated_at = now()
       FROM delivery x JOIN event e ON e.id = x.event_id JOIN merchant m ON m.id = x.merchant_id
            LEFT JOIN webhook_endpoint w ON w.id = x.endpoint::char(24)
      WHERE x.id = $1 AND d.id = x.id AND d.status IN ('pending', 'retrying')
        AND (EXISTS (SELECT FROM left_queue) OR NOT EXISTS (SELECT FROM delivery_queue q WHERE q.delivery_id = $1))
      RETURNING d.id, d.status, d.next_attempt_at::text AS due, d.attempts, d.attempts_before, d.url, d.endpoint,
                ${carriedEvent}`,
    [id],
  );
  return rows[0] ?? null;
}

/** Whose server a delivery goes to: the merchant and the address; null where there is no such delivery. */
export async function targetOf(db: Queryable, id: string): Promise<{ merchantId: string; url: string } | null> {
  const [row] = await db.query<Array<{ merchantId: string; url: string }>>(
    'SELECT merchant_id AS "merchantId", url FROM delivery WHERE id = $1',
    [id],
  );
  return row ?? null;
}

export type AttemptResult = Readonly<{
  status: DeliveryStatus;
  at: Date;
  durationMs: number;
  statusCode: number | null;
  responseBody: string;
  error: string | null;
  nextInMs: number | null;
}>;

/** Writes what an attempt came to, in the delivery log and on the delivery. True where it would be over without
 *  success, and was asked for again meanwhile, after it was due: a new round begins. One that waits and was asked for
 *  is due. */
export async function finishAttempt(
  tx: EntityManager,
  { id, attempts: n, due, url }: DueDelivery,
  result: AttemptResult,
): Promise<boolean> {
  await tx.query(
    `INSERT INTO delivery_attempt (delivery_id, n, at, duration_ms, status_code, response_body, error)
       VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT DO NOTHING`,
    [id, n, result.at, result.durationMs, result.statusCode, result.responseBody, result.error],
  );
  const rows = await changedRows<{ is_asked: boolean }>(
    tx,
    `UPDATE delivery d SET status = CASE WHEN x.is_asked AND $2 = 'failed' THEN 'pending' ELSE $2 END,
            attempts = greatest(d.attempts, $5), url = $6, updated_at = now(),
            attempts_before = CASE WHEN x.is_asked AND $2 = 'failed' THEN greatest(d.attempts, $5)
                                   ELSE d.attempts_before END,
            next_attempt_at = CASE WHEN x.is_asked THEN now()
                                   ELSE now() + make_interval(secs => $3::float8 / 1000) END
       FROM (SELECT id, $2 IN ('failed', 'retrying') AND next_attempt_at IS DISTINCT FROM $4::timestamptz AS is_asked
               FROM delivery WHERE id = $1 FOR UPDATE) x
      WHERE d.id = x.id AND d.status IN ('pending', 'retrying') RETURNING x.is_asked AND $2 = 'failed' AS is_asked`,
    [id, result.status, result.nextInMs, due, n, url],
  );
  return rows[0]?.is_asked ?? false;
}

/** A delivery as its log shows it. */
export type LoggedDelivery = {
  id: string;
  /** Its place in the log; bigint as text. */
  n: string;
  event_id: string;
  type: string;
  endpoint: string;
  url: string;
  status: DeliveryStatus;
  next_attempt_at: Date | null;
  attempts: Array<{
    n: number;
    at: string;
    durationMs: number;
    statusCode: number | null;
    responseBody: string | null;
    error: string | null;
  }>;
};

export type DeliveryFilter = Readonly<{
  id?: string;
  endpoint?: string;
  eventId?: string;
  /** What the events are about. */
  entityId?: string;
  status?: DeliveryStatus;
  /** Older than this place in the log. */
  cursor?: string;
}>;

/** A merchant's deliveries with their attempts, newest first. */
export async function deliveriesOf(
  db: Queryable,
  merchantId: string,
  filter: DeliveryFilter,
  limit: number,
): Promise<LoggedDelivery[]> {
  const values: unknown[] = [merchantId, limit];
  const conditions = (
    [
      ['d.id =', filter.id],
      ['d.endpoint =', filter.endpoint],
      ['d.event_id =', filter.eventId],
      ['e.entity_id =', filter.entityId],
      ['d.status =', filter.status],
      ['d.n <', filter.cursor],
    ] as const
  ).flatMap(([condition, value]) => (value === undefined ? [] : [`AND ${condition} $${values.push(value)}`]));
  return db.query<LoggedDelivery[]>(
    `SELECT d.id, d.n::text AS n, d.event_id, e.type, d.endpoint, d.url, d.status, d.next_attempt_at,
            (SELECT coalesce(json_agg(json_build_object('n', a.n,
                      'at', to_char(a.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                      'durationMs', a.duration_ms,
                      'statusCode', a.status_code, 'responseBody', a.response_body,
                      'error', a.error) ORDER BY a.n), '[]')
               FROM delivery_attempt a WHERE a.delivery_id = d.id) AS attempts
       FROM delivery d JOIN event e ON e.id = d.event_id
      WHERE d.merchant_id = $1 ${conditions.join(' ')} ORDER BY d.n DESC LIMIT $2`,
    values,
  );
}

/** How long the log is kept. Contract: G4. */
const keptDays = 60;

/** Forgets what the log need not keep any more, so many deliveries at a time; how many. */
export async function forgetOldDeliveries(tx: Queryable, limit: number): Promise<number> {
  const [row] = await tx.query<Array<{ n: number }>>(
    `WITH old AS (
       SELECT id FROM delivery WHERE created_at < now() - make_interval(days => $1)
         AND status NOT IN ('pending', 'retrying') LIMIT $2 FOR UPDATE
     ), attempts AS (
       DELETE FROM delivery_attempt a USING old WHERE a.delivery_id = old.id
     ), deliveries AS (
       DELETE FROM delivery d USING old WHERE d.id = old.id RETURNING d.id
     ) SELECT count(*)::int AS n FROM deliveries`,
    [keptDays, limit],
  );
  return row!.n;
}
