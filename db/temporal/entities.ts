import { entity, bigint, boolean, integer, jsonb, key, nullable, text, timestamptz } from '../entity';

/** The outbox to Temporal. */

export const temporalRequestEntity = entity('temporal_request', {
  id: key(bigint()),
  kind: text<'start' | 'signal'>(),
  workflow: text(),
  workflow_id: text(),
  args: jsonb<unknown[]>(),
  signal: nullable(text()),
  attributes: jsonb<Record<string, string>>(),
  created_at: timestamptz(),
  claimed_until: nullable(timestamptz()),
  tries: integer(),
  last_error: nullable(text()),
  receiver: nullable(text()),
  is_behind: boolean(),
  start_at: nullable(timestamptz()),
  /** The span that asks for the workflow. */
  traceparent: nullable(text()),
});
