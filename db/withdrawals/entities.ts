import type { WithdrawalRow } from '../../domain/withdrawals/withdrawal';
import { entity, boolean, id, integer, key, nullable, numeric, text, timestamptz } from '../entity';

/** Withdrawals. */

export const withdrawalEntity = entity<WithdrawalRow>('withdrawal', {
  id: key(id()),
  merchant_id: id(),
  idempotency_key: text(),
  body_hash: text(),
  status: text(),
  state_version: integer(),
  currency: text(),
  network: text(),
  fee_mode: text(),
  amount: numeric(60, 18),
  network_fee: numeric(60, 18),
  added_fee: nullable(numeric(60, 18)),
  gross_amount: numeric(60, 18),
  net_amount: numeric(60, 18),
  address: text(),
  destination_tag: nullable(text()),
  note: nullable(text()),
  merchant_message: nullable(text()),
  requested_by: id(),
  requested_by_name: text(),
  needs_approval: boolean(),
  approved_by: nullable(id()),
  approved_by_name: nullable(text()),
  approved_at: nullable(timestamptz()),
  tx_id: nullable(text()),
  broadcast_at: nullable(timestamptz()),
  completed_at: nullable(timestamptz()),
  created_at: timestamptz(),
  updated_at: timestamptz(),
});
