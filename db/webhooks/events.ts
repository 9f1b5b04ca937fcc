import { createHash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import type { EventType } from '../../domain/webhooks/event-types';
import { traceparentNow } from '../../domain/tracing';
import type { EventRow } from '../../domain/webhooks/event-view';
import { livemodeSql } from '../instance';
import { originNow } from '../origin';
import { eventDataColumn } from '../payments/donors';
import { type Queryable, prepared } from '../query';
import { noteEmitted } from './emitted';

/** 24 hex digits that are the same for the same parts, for ever: a repeat finds the first. */
const derivedId = (...parts: readonly (string | number)[]): string =>
  createHash('sha256').update(parts.join('/')).digest('hex').slice(0, 24);

/** Id of the event that an entity's version made; every delivery and a restored database repeat it. Invariants: 5. */
export const eventId = (entityId: string, stateVersion: number, type: EventType): string =>
  derivedId('event', entityId, stateVersion, type);
export const deliveryId = (event: string, endpoint: string): string => derivedId('delivery', event, endpoint);

export type NewEvent = Readonly<{
  merchantId: string;
  type: EventType;
  entityId: string;
  stateVersion: number;
  /** The resource exactly as GET returns it, as JSON text. */
  data: string;
  previous: Readonly<Record<string, unknown>>;
  /** Target of the payment's IPN; null: no delivery. */
  ipnUrl: string | null;
  /** Change of the merchant's number of open payments. */
  openDelta: number;
  /** Whose newest request it has where none is under way: see `followed`. */
  follows?: string | null;
}>;

/** Resources whose later events come of the request that made them or changed them last. What happens to others is
 *  told by their own requests alone. */
const hasLife = (type: EventType): boolean => /^(payment|refund|conversion|mass_payout|withdrawal)\./.test(type);

/** What an event goes back to: X-Request-Id and the trace. */
type Source = Readonly<{ request_id: string | null; traceparent: string | null }>;

/** The resource whose newest request an event has where none is under way. */
const followed = ({ type, entityId, follows }: Pick<NewEvent, 'type' | 'entityId' | 'follows'>): string | null =>
  follows === undefined ? (hasLife(type) ? entityId : null) : follows;

/** Writes an event in its merchant's order, with its delivery, in the transaction of the change. Locks the merchant's
 *  counter: call last. Contract: G4. */
export async function emitEvent(tx: EntityManager, event: NewEvent): Promise<string> {
  const { merchantId, type, entityId, data } = event;
  const id = eventId(entityId, event.stateVersion, type);
  const [row] = await prepared(tx, 'emit-event').query<Source[]>(
    `SELECT request_id, traceparent FROM emit_event_3($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      merchantId,
      id,
      type,
      entityId,
      event.stateVersion,
      data,
      event.previous,
      event.ipnUrl === null ? null : deliveryId(id, 'ipn'),
      event.ipnUrl,
      event.openDelta,
      originNow().requestId ?? null,
      followed(event),
      traceparentNow(),
    ],
  );
  const { request_id: requestId, traceparent } = row!;
  noteEmitted(tx, { id, type, merchantId, entityId, data, requestId, traceparent });
  return id;
}

/** Writes events without IPN in the order given, in one call. Locks the merchant's counter: call last. */
export async function emitEvents(
  tx: EntityManager,
  events: ReadonlyArray<Omit<NewEvent, 'ipnUrl' | 'openDelta'>>,
): Promise<void> {
  if (!events.length) return;
  const list = events.map((event) => ({
    ...event,
    id: eventId(event.entityId, event.stateVersion, event.type),
    follows: followed(event),
  }));
  const rows = await tx.query<Array<Source & { id: string }>>(
    `SELECT e->>'id' AS id, made.request_id, made.traceparent
       FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY list (e, n)
         CROSS JOIN LATERAL emit_event_3(e->>'merchantId', e->>'id', e->>'type', e->>'entityId',
           (e->>'stateVersion')::integer, e->>'data', e->'previous', NULL, NULL, 0, $2, e->>'follows', $3) made
      ORDER BY n`,
    [JSON.stringify(list), originNow().requestId ?? null, traceparentNow()],
  );
  const sources = new Map(rows.map((row) => [row.id, row]));
  for (const { id, type, merchantId, entityId, data } of list) {
    const { request_id: requestId = null, traceparent = null } = sources.get(id) ?? {};
    noteEmitted(tx, { id, type, merchantId, entityId, data, requestId, traceparent });
  }
}

const eventColumns = `e.id, e.type, e.merchant_id, e.seq::text AS seq, ${eventDataColumn}, e.previous::text AS previous,
  e.created_at, ${livemodeSql} AS livemode`;
/** Whether event `e` is of a type that the patterns in `parameter` name. As a CASE, of which PostgreSQL expects that
 *  half of the rows pass: of the bare operator it expects so few that it would sort all events of a merchant instead
 *  of reading the first ones by their index. */
const isOneOf = (parameter: string): string =>
  `CASE WHEN ${parameter}::text[] && ARRAY['*', e.type, split_part(e.type, '.', 1) || '.*'] THEN true ELSE false END`;

/** A merchant's events after `after`, oldest first, and how far the merchant's count is: what is not there by then is
 *  of another type. One snapshot, and numbers are given under a lock, so nothing appears later behind a reader. */
export async function eventsAfter(
  db: Queryable,
  merchantId: string,
  { after, types, limit }: Readonly<{ after: string; types: readonly string[]; limit: number }>,
): Promise<{ events: EventRow[]; head: string }> {
  const rows = await db.query<Array<EventRow & { head: string }>>(
    `SELECT c.event_seq::text AS head, found.* FROM merchant_counter c LEFT JOIN LATERAL (
        SELECT ${eventColumns} FROM event e WHERE e.merchant_id = $1 AND e.seq > $2 AND ${isOneOf('$3')}
          ORDER BY e.seq LIMIT $4
      ) found ON true WHERE c.merchant_id = $1 ORDER BY found.seq::bigint`,
    [merchantId, after, types, limit],
  );
  return {
    events: rows.filter(({ id }) => id !== null).map(({ head: _, ...event }) => event),
    head: rows[0]?.head ?? '0',
  };
}

/** A merchant's events before `before`, newest first; from the newest on where it is null. */
export function eventsBefore(
  db: Queryable,
  merchantId: string,
  { before, types, limit }: Readonly<{ before: string | null; types: readonly string[]; limit: number }>,
): Promise<EventRow[]> {
  return db.query<EventRow[]>(
    `SELECT ${eventColumns} FROM event e
      WHERE e.merchant_id = $1 AND e.seq < coalesce($2::bigint, 9223372036854775807) AND ${isOneOf('$3')}
      ORDER BY e.seq DESC LIMIT $4`,
    [merchantId, before, types, limit],
  );
}

/** One event of the merchant; null where there is none of that id. */
export async function readEvent(db: Queryable, merchantId: string, id: string): Promise<EventRow | null> {
  const [row] = await db.query<EventRow[]>(
    `SELECT ${eventColumns} FROM event e WHERE e.id = $1 AND e.merchant_id = $2`,
    [id, merchantId],
  );
  return row ?? null;
}

/** So many events are sent again by one request, at the most. */
export const replayLimit = 10_000;

/** Sends a merchant's events of a span of time to one endpoint, again or for the first time, and returns how many. What
 *  is on its way there already goes on as it is; all of it waits behind what is new. null where there are more than
 *  `replayLimit`. */
export async function replayEvents(
  tx: Queryable,
  endpoint: Readonly<{ id: string; merchantId: string; url: string }>,
  { since, until, types }: Readonly<{ since: Date; until: Date; types: readonly string[] }>,
): Promise<number | null> {
  const wanted = `SELECT e.id FROM event e WHERE e.merchant_id = $1::char(24) AND e.created_at >= $2
    AND e.created_at < $3 AND ${isOneOf('$4')}
    AND e.type <> 'webhook.test'`;
  const span = [endpoint.merchantId, since, until, types];
  const [all] = await tx.query<Array<{ n: number }>>(
    `SELECT count(*)::int AS n FROM (${wanted} LIMIT ${replayLimit + 1}) wanted`,
    span,
  );
  if (all!.n > replayLimit) return null;
  const [sent] = await tx.query<Array<{ n: number; pg_notify: string }>>(
    `WITH again AS (
       INSERT INTO delivery (id, event_id, merchant_id, endpoint, url, next_attempt_at)
         SELECT left(encode(sha256(convert_to('delivery/' || e.id || '/' || $5::text, 'UTF8')), 'hex'), 24), e.id,
           $1::char(24), $5, $6, now()
           FROM (${wanted} ORDER BY e.seq) e
         ON CONFLICT (event_id, endpoint) DO UPDATE
           SET status = 'pending', attempts_before = delivery.attempts, next_attempt_at = now(), updated_at = now()
           WHERE delivery.status NOT IN ('pending', 'retrying')
         RETURNING id
     ), queued AS (
       INSERT INTO delivery_queue (delivery_id, merchant_id, endpoint, is_behind)
         SELECT id, $1::char(24), $5, true FROM again ON CONFLICT (delivery_id) DO NOTHING
     )
     SELECT count(*)::int AS n, pg_notify('delivery_queue', '') FROM again`,
    [...span, endpoint.id, endpoint.url],
  );
  return sent!.n;
}
