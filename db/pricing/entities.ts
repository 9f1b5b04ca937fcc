import { entity, bigint, boolean, jsonb, key, numeric, text, texts, timestamptz } from '../entity';

/** Rates and fees. */

export const rateEntity = entity('rate', {
  id: key(bigint()),
  currency: text(),
  fiat: text(),
  value: numeric(60, 18),
  sources: jsonb(),
  taken_at: timestamptz(),
});

export const rateLatestEntity = entity('rate_latest', {
  currency: key(text()),
  fiat: key(text()),
  rate_id: bigint(),
  value: numeric(60, 18),
  taken_at: timestamptz(),
});

export const rateLookEntity = entity('rate_look', {
  only_one: key(boolean()),
  started_at: timestamptz(),
  currencies: texts(),
});

export const networkFeeEntity = entity('network_fee', {
  network: key(text()),
  unit_price: numeric(60, 18),
  tip_price: numeric(60, 18),
  data_part: numeric(60, 18),
  taken_at: timestamptz(),
});
