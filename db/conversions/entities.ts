import type { ConversionRow, PairMode } from '../../domain/conversions/conversion';
import type { SwapFacts } from '../../domain/conversions/swap';
import { entity, bigint, bigints, boolean, id, integer, key, nullable, numeric, text, timestamptz } from '../entity';

/** Conversions, and what they are executed at. */

export const conversionEntity = entity<ConversionRow>('conversion', {
  id: key(id()),
  merchant_id: id(),
  idempotency_key: nullable(text()),
  body_hash: text(),
  status: text(),
  state_version: integer(),
  execution_mode: text(),
  from_currency: text(),
  to_currency: text(),
  from_amount: numeric(60, 18),
  to_amount: nullable(numeric(60, 18)),
  exchange_rate: nullable(numeric(60, 24)),
  commission_amount: nullable(numeric(60, 18)),
  net_from_amount: nullable(numeric(60, 18)),
  from_rate_id: nullable(bigint()),
  to_rate_id: nullable(bigint()),
  is_debited: boolean(),
  price_protection_pct: nullable(numeric(10, 6)),
  estimated_seconds: nullable(integer()),
  accepted_minimum: nullable(numeric(60, 18)),
  credit_amount: nullable(numeric(60, 18)),
  merchant_message: nullable(text()),
  key_id: nullable(id()),
  created_by: nullable(id()),
  requested_at: timestamptz(),
  completed_at: nullable(timestamptz()),
  created_at: timestamptz(),
  updated_at: timestamptz(),
});

export const conversionPairEntity = entity('conversion_pair', {
  from_currency: key(text()),
  to_currency: key(text()),
  mode: text<PairMode>(),
  max_usd: nullable(numeric(20, 2)),
  changed_at: timestamptz(),
});

export const fxPositionEntity = entity('fx_position', {
  asset: key(text()),
  amount: numeric(60, 18),
  limit_usd: nullable(numeric(20, 2)),
  beyond: text<'external' | 'off'>(),
  changed_at: timestamptz(),
});

export const swapRateEntity = entity('swap_rate', {
  from_currency: key(text()),
  to_currency: key(text()),
  min_amount: numeric(60, 18),
  max_amount: nullable(numeric(60, 18)),
  low_amount: numeric(60, 18),
  low_output: numeric(60, 18),
  high_amount: numeric(60, 18),
  high_output: numeric(60, 18),
  seconds: nullable(integer()),
  taken_at: timestamptz(),
});

export const swapOrderEntity = entity('swap_order', {
  conversion_id: key(id()),
  provider: text(),
  /** Made for this order alone, one to be paid at, one to be paid back at. */
  payout_address: text(),
  refund_address: text(),
  /** What we send. */
  amount: numeric(60, 18),
  state: nullable(text<NonNullable<SwapFacts['order']>>()),
  /** The provider's own word for the state. */
  status: nullable(text()),
  order_id: nullable(text()),
  deposit_address: nullable(text()),
  /** What the provider has fixed. */
  promised: nullable(numeric(60, 18)),
  valid_until: nullable(timestamptz()),
  credited_deposit_ids: bigints(),
  created_at: timestamptz(),
  changed_at: timestamptz(),
  /** What it says it has paid out with. */
  payout_tx_id: nullable(text()),
});
