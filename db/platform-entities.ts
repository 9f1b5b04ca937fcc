import { entity, bigint, boolean, integer, jsonb, key, nullable, text, timestamptz } from './entity';

/** The service itself: what operators look at, which instance this is, and what was applied to the database. */

export const incidentEntity = entity('incident', {
  id: key(bigint()),
  kind: text(),
  key: text(),
  subject_kind: text(),
  subject_id: text(),
  details: jsonb(),
  created_at: timestamptz(),
  resolved_at: nullable(timestamptz()),
  resolved_by: nullable(text()),
  resolution: nullable(text()),
});

export const instanceEntity = entity('instance', {
  id: key(boolean()),
  mode: text<'live' | 'test'>(),
  created_at: timestamptz(),
});

export const appliedFunctionEntity = entity('applied_function', {
  file: key(text()),
  hash: text(),
  applied_at: timestamptz(),
});

export const failPointEntity = entity('fail_point', {
  name: key(text()),
  action: text(),
  remaining: integer(),
});
