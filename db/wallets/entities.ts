import { entity, bigint, boolean, id, key, nullable, text, timestamptz } from '../entity';

/** Merchants' wallets, and where money may go. */

export const merchantWalletEntity = entity('merchant_wallet', {
  id: key(id()),
  merchant_id: id(),
  currency: text(),
  settlement_address: text(),
  destination_tag: nullable(text()),
  custody: text<'platform' | 'external'>(),
  is_active: boolean(),
  created_at: timestamptz(),
  deactivated_at: nullable(timestamptz()),
});

export const merchantWalletHistoryEntity = entity('merchant_wallet_history', {
  id: key(bigint()),
  wallet_id: id(),
  settlement_address: text(),
  destination_tag: nullable(text()),
  custody: text(),
  is_active: boolean(),
  at: timestamptz(),
});

export const settlementChangeEntity = entity('settlement_change', {
  id: key(id()),
  merchant_id: id(),
  wallet_id: id(),
  status: text<'awaiting_approval' | 'cooling_off' | 'applied' | 'stopped' | 'replaced'>(),
  address: text(),
  before_address: text(),
  before_custody: text<'platform' | 'external'>(),
  requested_by: id(),
  requested_by_name: text(),
  needs_second_person: boolean(),
  approved_by: nullable(id()),
  approved_by_name: nullable(text()),
  /** It counts from then on, where it is approved. */
  active_at: timestamptz(),
  created_at: timestamptz(),
  applied_at: nullable(timestamptz()),
  ended_at: nullable(timestamptz()),
});

export const whitelistEntryEntity = entity('whitelist_entry', {
  id: key(id()),
  merchant_id: id(),
  type: text<'wallet' | 'ip'>(),
  currency: nullable(text()),
  /** Normalised, as the network's codec spells it. */
  address: nullable(text()),
  destination_tag: nullable(text()),
  ip: nullable(text()),
  label: nullable(text()),
  created_by: text(),
  created_by_id: id(),
  created_at: timestamptz(),
  /** It counts from then on. */
  active_at: timestamptz(),
  removed_at: nullable(timestamptz()),
  removed_by_id: nullable(id()),
});
