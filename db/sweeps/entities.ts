import { entity, bigint, bigints, id, integer, key, nullable, numeric, text, timestamptz } from '../entity';

/** Sweeps of many payments. */

export const sweepGroupEntity = entity('sweep_group', {
  merchant_id: key(id()),
  currency: key(text()),
  settlement_address: key(text()),
});

export const sweepShareEntity = entity('sweep_share', {
  intent_id: key(bigint()),
  payment_id: key(id()),
  position: integer(),
  deposit_ids: bigints(),
  brought_units: numeric(78, 0),
  /** Custody external: what the merchant's own address gets of it. */
  net_units: nullable(numeric(78, 0)),
  /** Its part of the chain's fee; null while that is not known. */
  fee_units: nullable(numeric(78, 0)),
  dropped_at: nullable(timestamptz()),
  dropped_because: nullable(text()),
});
