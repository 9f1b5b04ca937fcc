import { entity, bigint, id, integer, key, nullable, numeric, text, timestamptz } from '../entity';

/** What may leave, and what was let out. */

export const egressLimitEntity = entity('egress_limit', {
  id: key(bigint()),
  scope: text(),
  daily_usd: nullable(numeric(60, 18)),
  hourly_count: nullable(integer()),
  approval_usd: nullable(numeric(60, 18)),
  set_by: text(),
  created_at: timestamptz(),
  active_at: timestamptz(),
});

export const egressAdmissionEntity = entity('egress_admission', {
  kind: key(text()),
  ref: key(id()),
  merchant_id: id(),
  usd: numeric(60, 18),
  admitted_at: timestamptz(),
  signed_at: nullable(timestamptz()),
  released_at: nullable(timestamptz()),
});

export const egressFreezeEntity = entity('egress_freeze', {
  currency: key(text()),
  reason: text(),
  frozen_at: timestamptz(),
});
