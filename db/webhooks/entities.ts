import { entity, bigint, boolean, id, integer, json, jsonb, key, nullable, text, texts, timestamptz } from '../entity';

/** Events and their deliveries. */

export const eventEntity = entity('event', {
  id: key(id()),
  merchant_id: id(),
  seq: bigint(),
  type: text(),
  entity_id: id(),
  state_version: integer(),
  data: json(),
  previous: jsonb(),
  created_at: timestamptz(),
  /** X-Request-Id of the request that it goes back to. */
  request_id: nullable(text()),
  /** The span that has emitted it, or that of the event before it. */
  traceparent: nullable(text()),
});

export const webhookEndpointEntity = entity('webhook_endpoint', {
  id: key(id()),
  merchant_id: id(),
  url: text(),
  enabled_events: texts(),
  description: nullable(text()),
  is_active: boolean(),
  /** Why we switched it off: it answered 410, or nothing worked for days. Null where nobody did, or the merchant. */
  disabled_reason: nullable(text<'gone' | 'failing'>()),
  secret_sealed: text(),
  previous_secret_sealed: nullable(text()),
  previous_secret_until: nullable(timestamptz()),
  failing_since: nullable(timestamptz()),
  /** Grows with each event about the endpoint. */
  version: integer(),
  created_at: timestamptz(),
  updated_at: timestamptz(),
});

export const deliveryEntity = entity('delivery', {
  id: key(id()),
  event_id: id(),
  merchant_id: id(),
  endpoint: text(),
  url: text(),
  status: text<'pending' | 'succeeded' | 'retrying' | 'failed' | 'cancelled'>(),
  attempts: integer(),
  next_attempt_at: nullable(timestamptz()),
  created_at: timestamptz(),
  updated_at: timestamptz(),
  n: bigint(),
  attempts_before: integer(),
});

/** Deliveries that wait for the first attempt of a round, or have it under way. */
export const deliveryQueueEntity = entity('delivery_queue', {
  delivery_id: key(id()),
  merchant_id: id(),
  endpoint: text(),
  is_behind: boolean(),
  n: bigint(),
  tries: integer(),
  claimed_until: nullable(timestamptz()),
  created_at: timestamptz(),
});

export const deliveryAttemptEntity = entity('delivery_attempt', {
  delivery_id: key(id()),
  n: key(integer()),
  at: timestamptz(),
  duration_ms: integer(),
  status_code: nullable(integer()),
  response_body: nullable(text()),
  error: nullable(text()),
});

export const slowReceiverEntity = entity('slow_receiver', {
  merchant_id: key(id()),
  endpoint: key(text()),
  since: timestamptz(),
});
