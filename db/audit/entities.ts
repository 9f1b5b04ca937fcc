import { entity, bigint, integer, jsonb, key, numeric, text, timestamptz } from '../entity';

/** Runs of the checks, and what they compared last. */

export const auditRunEntity = entity('audit_run', {
  id: key(bigint()),
  at: timestamptz(),
  violations: jsonb(),
  duration_ms: integer(),
});

export const reconciliationEntity = entity('reconciliation', {
  currency: key(text()),
  at: timestamptz(),
  height: bigint(),
  ledger: numeric(60, 18),
  arriving: numeric(60, 18),
  leaving: numeric(60, 18),
  open: numeric(60, 18),
  chain: numeric(60, 18),
  unexplained: numeric(60, 18),
  details: jsonb(),
});
