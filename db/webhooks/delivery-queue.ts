import type { Receiver, Share } from '../../domain/webhooks/fair-shares';
import { changedRows, type Queryable } from '../query';
import { carriedEvent, type DueDelivery } from './deliveries';

/** The first attempt of each round of a delivery waits here, and the pool of the payments worker makes it. A claim ends
 *  by itself: what a process had when it died, another takes. Rows are locked after those of their deliveries.
 *  docs/decisions/0044-first-attempts.md */

/** Who does not answer well within this waits behind all others until it does. */
export const slowAfterMs = 1000;

/** Receivers that a delivery waits for, in the order of their ids, from behind `after` on; null: from the first on. */
export const waitingReceivers = (
  db: Queryable,
  isBehind: boolean,
  after: Receiver | null,
  limit: number,
): Promise<Receiver[]> =>
  db.query<Receiver[]>(
    `WITH RECURSIVE receiver AS (
       (SELECT merchant_id, endpoint FROM delivery_queue
         WHERE is_behind = $1 AND (merchant_id, endpoint) > ($2::char(24), $3)
           AND (claimed_until IS NULL OR claimed_until < now())
         ORDER BY merchant_id, endpoint LIMIT 1)
       UNION ALL
       SELECT next.* FROM receiver r CROSS JOIN LATERAL (
         SELECT q.merchant_id, q.endpoint FROM delivery_queue q
          WHERE q.is_behind = $1 AND (q.merchant_id, q.endpoint) > (r.merchant_id, r.endpoint)
            AND (q.claimed_until IS NULL OR q.claimed_until < now())
          ORDER BY q.merchant_id, q.endpoint LIMIT 1) next
     ) SELECT merchant_id AS "merchantId", endpoint FROM receiver LIMIT $4`,
    [isBehind, after?.merchantId ?? '', after?.endpoint ?? '', limit],
  );

/** A delivery whose first attempt is ours until the claim ends. `attempts`: the number of this attempt. */
export type ClaimedDelivery = DueDelivery &
  Readonly<{
    /** Claims so far, ours included. */
    tries: number;
    /** Attempts at its endpoint have failed since the last success. */
    is_failing: boolean;
  }>;

/** Claims the oldest deliveries that nobody holds, so many of each receiver at the most. Two pools never claim the same
 *  one at once. */
export async function claimDeliveries(
  db: Queryable,
  shares: readonly Share[],
  isBehind: boolean,
  seconds: number,
): Promise<ClaimedDelivery[]> {
  const list = shares.map(({ merchantId, endpoint, most }) => ({ merchant_id: merchantId, endpoint, most }));
  return db.query<ClaimedDelivery[]>(
    `WITH free AS MATERIALIZED (
       SELECT w.delivery_id FROM jsonb_to_recordset($1::jsonb) AS s (merchant_id char(24), endpoint text, most integer)
         CROSS JOIN LATERAL (
           SELECT q.delivery_id FROM delivery_queue q
            WHERE q.is_behind = $2 AND q.merchant_id = s.merchant_id AND q.endpoint = s.endpoint
              AND (q.claimed_until IS NULL OR q.claimed_until < now())
            ORDER BY q.n LIMIT s.most FOR UPDATE SKIP LOCKED) w
     ), claimed AS (
       UPDATE delivery_queue q
          SET claimed_until = clock_timestamp() + make_interval(secs => $3), tries = q.tries + 1
         FROM free WHERE q.delivery_id = free.delivery_id RETURNING q.delivery_id, q.tries
     )
     SELECT d.id, d.status, d.next_attempt_at::text AS due, d.attempts + c.tries AS attempts, d.attempts_before,
            coalesce(w.url, d.url) AS url, d.endpoint, c.tries, ${carriedEvent},
            w.failing_since IS NOT NULL AS is_failing
       FROM claimed c JOIN delivery d ON d.id = c.delivery_id JOIN event e ON e.id = d.event_id
            JOIN merchant m ON m.id = d.merchant_id LEFT JOIN webhook_endpoint w ON w.id = d.endpoint::char(24)`,
    [JSON.stringify(list), isBehind, seconds],
  );
}

/** An attempt that the receiver took, at once, and of which nothing else is to be noted. */
export type Delivered = Readonly<{
  id: string;
  n: number;
  url: string;
  at: Date;
  durationMs: number;
  statusCode: number | null;
  responseBody: string;
}>;

/** Notes attempts that succeeded, in one statement: they leave the queue, whoever has a claim by now. */
export async function noteDelivered(db: Queryable, delivered: readonly Delivered[]): Promise<void> {
  await db.query(
    `WITH taken AS MATERIALIZED (
       SELECT * FROM jsonb_to_recordset($1::jsonb) AS t (id char(24), n integer, url text, at timestamptz,
         "durationMs" integer, "statusCode" integer, "responseBody" text)
     ), logged AS (
       INSERT INTO delivery_attempt (delivery_id, n, at, duration_ms, status_code, response_body)
         SELECT id, n, at, "durationMs", "statusCode", "responseBody" FROM taken ON CONFLICT DO NOTHING
     ), left_queue AS (
       DELETE FROM delivery_queue q USING taken t WHERE q.delivery_id = t.id
     )
     UPDATE delivery d SET status = 'succeeded', attempts = greatest(d.attempts, t.n), url = t.url,
            next_attempt_at = NULL, updated_at = now()
       FROM taken t WHERE d.id = t.id AND d.status IN ('pending', 'retrying')`,
    [JSON.stringify(delivered)],
  );
}

/** Takes a delivery out of the queue, unless another pool has claimed it meanwhile; true where it was there. */
export async function leaveQueue(tx: Queryable, { id, tries }: ClaimedDelivery): Promise<boolean> {
  const left = await changedRows<{ delivery_id: string }>(
    tx,
    'DELETE FROM delivery_queue WHERE delivery_id = $1 AND tries = $2 RETURNING delivery_id',
    [id, tries],
  );
  return left.length > 0;
}

/** SQL: what the workflow of delivery `d` of event `e` is started with, for operators. */
export const deliveryAttributes = `jsonb_strip_nulls(jsonb_build_object(
  'MerchantId', d.merchant_id, 'EventType', e.type,
  'PaymentId', CASE WHEN e.type LIKE 'payment.%' THEN e.entity_id ELSE e.data->>'paymentId' END,
  'summary', e.type || ' to ' || CASE d.endpoint WHEN 'ipn' THEN 'the IPN address'
                                                 ELSE 'endpoint ' || d.endpoint END))`;

/** Asks for the workflow that makes the next attempt, when it is due: until then the request waits in the outbox. */
export const requestRetry = (tx: Queryable, id: string): Promise<unknown> =>
  tx.query(
    `INSERT INTO temporal_request (kind, workflow, workflow_id, args, signal, attributes, created_at, claimed_until,
         traceparent)
       SELECT 'signal', 'webhook', 'webhook/' || d.id, jsonb_build_array(d.id), 'updated',
              ${deliveryAttributes}, d.next_attempt_at, d.next_attempt_at, e.traceparent
         FROM delivery d JOIN event e ON e.id = d.event_id
        WHERE d.id = $1 AND d.status IN ('pending', 'retrying')`,
    [id],
  );

/** Gives back a claim that came to nothing, because the server had no place for one more: it waits for a moment, and
 *  behind all others. */
export const putBack = (db: Queryable, { id, tries }: ClaimedDelivery, pauseMs: number): Promise<unknown> =>
  db.query(
    `UPDATE delivery_queue SET tries = tries - 1, is_behind = true,
            claimed_until = clock_timestamp() + make_interval(secs => $3::float8 / 1000)
      WHERE delivery_id = $1 AND tries = $2`,
    [id, tries, pauseMs],
  );

type SlowReceiver = Readonly<{ merchant_id: string; endpoint: string }>;

/** Deliveries to this receiver start when nothing else waits, from now on and of those that have not started yet. */
export const holdBack = (db: Queryable, { merchant_id, endpoint }: SlowReceiver): Promise<unknown> =>
  db.query(
    `WITH slow AS (
       INSERT INTO slow_receiver (merchant_id, endpoint) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING merchant_id
     ) UPDATE delivery_queue q SET is_behind = true FROM slow
        WHERE q.merchant_id = slow.merchant_id AND q.endpoint = $2 AND NOT q.is_behind AND q.claimed_until IS NULL`,
    [merchant_id, endpoint],
  );

/** The next deliveries to this receiver start in their turn. What it missed goes on behind. */
export const letForward = (db: Queryable, { merchant_id, endpoint }: SlowReceiver): Promise<unknown> =>
  db.query('DELETE FROM slow_receiver WHERE merchant_id = $1 AND endpoint = $2', [merchant_id, endpoint]);

/** Queues the first attempt of a new round. */
export const enqueue = (tx: Queryable, id: string): Promise<unknown> =>
  tx.query(
    `WITH queued AS (
       INSERT INTO delivery_queue (delivery_id, merchant_id, endpoint, is_behind)
         SELECT d.id, d.merchant_id, d.endpoint, false FROM delivery d WHERE d.id = $1
       ON CONFLICT (delivery_id) DO UPDATE SET is_behind = false
     ) SELECT pg_notify('delivery_queue', '')`,
    [id],
  );

/** A queued delivery waits behind nobody any more; false where it is not queued. */
export async function moveToFront(tx: Queryable, id: string): Promise<boolean> {
  const moved = await changedRows<{ delivery_id: string }>(
    tx,
    'UPDATE delivery_queue SET is_behind = false WHERE delivery_id = $1 RETURNING delivery_id',
    [id],
  );
  return moved.length > 0;
}
