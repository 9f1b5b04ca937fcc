import type { KeyRole } from '../../domain/chains/chain';
import { entity, bigint, boolean, id, integer, jsonb, key, nullable, numeric, text, timestamptz } from '../entity';

/** Addresses of ours, and how far each network has been followed. */

export const extendedKeyEntity = entity('extended_key', {
  network: key(text()),
  role: key(text<KeyRole>()),
  xpub: text(),
  created_at: timestamptz(),
  sequence_of: text(),
});

/** `xpub`: of the branches from `from_branch` on, as far as that of the next seed. */
export const seedKeyEntity = entity('seed_key', {
  network: key(text()),
  role: key(text<KeyRole>()),
  from_branch: key(integer()),
  xpub: text(),
  created_at: timestamptz(),
});

export const addressEntity = entity('address', {
  network: key(text()),
  address: key(text()),
  role: text<KeyRole>(),
  key_index: integer(),
  currency: nullable(text()),
  merchant_id: nullable(id()),
  payment_id: nullable(id()),
  created_at: timestamptz(),
  conversion_id: nullable(id()),
  balance_height: nullable(bigint()),
  balance_through: nullable(timestamptz()),
  branch: integer(),
  lane: nullable(text<'used' | 'dropped'>()),
  tag: key(text()),
  is_elsewhere: boolean(),
});

/** `units`: what it must hold and cannot send, in base units of the native coin. */
export const addressReserveEntity = entity('address_reserve', {
  network: key(text()),
  address: key(text()),
  units: numeric(60, 0),
  taken_at: timestamptz(),
});

export const chainCursorEntity = entity('chain_cursor', {
  network: key(text()),
  height: bigint(),
  hash: text(),
  head_height: bigint(),
  scanned_through: timestamptz(),
  updated_at: timestamptz(),
  stale_reason: nullable(text()),
  stale_since: nullable(timestamptz()),
  traces_off_since: nullable(timestamptz()),
  /** The last reorganisation. */
  reorganised_at: nullable(timestamptz()),
  reorganised_depth: nullable(integer()),
});

export const chainBlockEntity = entity('chain_block', {
  network: key(text()),
  height: key(bigint()),
  hash: text(),
  block_time: timestamptz(),
});

export const depositChangeEntity = entity('deposit_change', {
  id: key(bigint()),
  deposit_id: bigint(),
  at: timestamptz(),
  block_hash: text(),
  before: jsonb(),
  after: jsonb(),
});

export const identifiedTransferEntity = entity('identified_transfer', {
  network: key(text()),
  tx_id: key(text()),
  out_index: key(integer()),
  height: bigint(),
  deposit_id: key(bigint()),
  amount: numeric(60, 18),
  identified_at: timestamptz(),
});

export const untracedBlockEntity = entity('untraced_block', {
  network: key(text()),
  hash: key(text()),
  height: bigint(),
  reason: text(),
  tries: integer(),
  next_try_at: timestamptz(),
  created_at: timestamptz(),
  scanned_at: nullable(timestamptz()),
});

export const balanceScanEntity = entity('balance_scan', {
  network: key(text()),
  height: bigint(),
  after_address: text(),
  started_at: timestamptz(),
});

export const balanceDueEntity = entity('balance_due', {
  network: key(text()),
  address: key(text()),
  currency: key(text()),
  reason: text(),
  until_height: bigint(),
  looked_height: nullable(bigint()),
  tag: text(),
});

export const walletTotalEntity = entity('wallet_total', {
  network: key(text()),
  address: key(text()),
  currency: key(text()),
  arrived: numeric(60, 18),
  moved: numeric(78, 0),
  fees: numeric(78, 0),
});
