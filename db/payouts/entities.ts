import type { BatchRow, PayoutLineRow } from '../../domain/payouts/payout';
import { entity, bigint, boolean, id, integer, jsonb, key, nullable, numeric, text, timestamptz } from '../entity';

/** Mass payouts and their lines. */

export const payoutBatchEntity = entity<BatchRow>('payout_batch', {
  id: key(id()),
  merchant_id: id(),
  status: text(),
  state_version: integer(),
  label: nullable(text()),
  idempotency_key: nullable(text()),
  rows_hash: text(),
  row_count: integer(),
  totals: jsonb(),
  fees: jsonb(),
  created_by: text(),
  created_by_id: id(),
  approved_by: nullable(text()),
  approved_at: nullable(timestamptz()),
  sent_at: nullable(timestamptz()),
  cancelled_at: nullable(timestamptz()),
  completed_at: nullable(timestamptz()),
  created_at: timestamptz(),
  updated_at: timestamptz(),
  needs_second_person: boolean(),
  approved_by_id: nullable(id()),
});

export const payoutLineEntity = entity<PayoutLineRow>('payout_leg', {
  id: key(id()),
  batch_id: id(),
  merchant_id: id(),
  row_index: integer(),
  currency: text(),
  network: text(),
  address: text(),
  destination_tag: nullable(text()),
  amount: numeric(60, 18),
  network_fee: numeric(60, 18),
  added_fee: nullable(numeric(60, 18)),
  net_amount: numeric(60, 18),
  status: text(),
  state_version: integer(),
  intent_id: nullable(bigint()),
  tx_id: nullable(text()),
  merchant_message: nullable(text()),
  updated_at: timestamptz(),
});
