import { entity, id, jsonb, key, nullable, text, timestamptz } from '../entity';

/** What operators ask for and confirm. */

export const operatorRequestEntity = entity('operator_request', {
  id: key(id()),
  kind: text(),
  payload: jsonb<Readonly<Record<string, string>>>(),
  summary: text(),
  reason: text(),
  state: text<'open' | 'executed' | 'cancelled'>(),
  asked_by: nullable(id()),
  asked_by_name: text(),
  asked_at: timestamptz(),
  expires_at: timestamptz(),
  outcome: nullable(text()),
  ended_at: nullable(timestamptz()),
  ended_by_name: nullable(text()),
});

export const operatorConfirmationEntity = entity('operator_confirmation', {
  request_id: key(id()),
  user_id: key(id()),
  session_id: id(),
  user_name: text(),
  confirmed_at: timestamptz(),
});
