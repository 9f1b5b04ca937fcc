import type { Screen, ScreenCause } from '../../domain/screening/screening';
import { entity, bigint, id, integer, jsonb, key, nullable, text, texts, timestamptz } from '../entity';

/** What deposits are screened with, and what came of it. */

export const screeningListEntity = entity('screening_list', {
  network: key(text()),
  address: key(text()),
  category: key(text()),
  score: integer(),
  source: key(text()),
  imported_at: timestamptz(),
});

export const amlScreenEntity = entity('aml_screen', {
  id: key(bigint()),
  payment_id: id(),
  cause: text<ScreenCause>(),
  look: nullable(text()),
  status: text<Screen['status']>(),
  risk_score: nullable(integer()),
  risk_band: nullable(text<NonNullable<Screen['riskBand']>>()),
  severity: nullable(text<NonNullable<Screen['severity']>>()),
  categories: nullable(texts()),
  reason: nullable(text()),
  skip_cause: nullable(text()),
  checked_at: timestamptz(),
  providers: texts(),
  tx_ids: texts(),
  /** Which address was known to whom, and for what. */
  matches: jsonb(),
});

export const amlDueEntity = entity('aml_due', {
  payment_id: key(id()),
  since: timestamptz(),
});
