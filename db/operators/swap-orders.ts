import type { ConversionRow } from '../../domain/conversions/conversion';
import type { SwapOrderRow } from '../conversions/swaps';
import type { Queryable } from '../query';
import type { RowOf } from '../entity';
import type { swapOrderEntity } from '../conversions/entities';

/** Orders at swap providers, for operators: merchants see neither their numbers nor their addresses. */

export type ListedOrder = Omit<RowOf<typeof swapOrderEntity>, 'credited_deposit_ids'> & {
  merchant_id: string;
  merchant_name: string;
  conversion_status: ConversionRow['status'];
  from_currency: string;
  to_currency: string;
  credited: string | null;
};

export type OrderFilter = Readonly<{
  state: NonNullable<SwapOrderRow['state']> | null;
  /** Those alone whose conversion has not ended. */
  isOpen: boolean;
  cursor: string | null;
  limit: number;
}>;

/** Newest first, older than `cursor`. */
export const listOrders = (db: Queryable, { state, isOpen, cursor, limit }: OrderFilter): Promise<ListedOrder[]> =>
  db.query<ListedOrder[]>(
    `SELECT o.conversion_id, c.merchant_id, m.name AS merchant_name, c.status AS conversion_status, c.from_currency,
            c.to_currency, o.provider, o.order_id, o.state, o.status, trim_scale(o.amount)::text AS amount,
            trim_scale(o.promised)::text AS promised, trim_scale(c.credit_amount)::text AS credited, o.deposit_address,
            o.payout_address, o.refund_address, o.payout_tx_id, o.valid_until, o.created_at, o.changed_at
       FROM swap_order o JOIN conversion c ON c.id = o.conversion_id JOIN merchant m ON m.id = c.merchant_id
      WHERE ($1::text IS NULL OR o.state = $1)
        AND (NOT $2::boolean OR c.status IN ('initializing', 'pending', 'processing'))
        AND ($3::text IS NULL OR o.conversion_id < $3) ORDER BY o.conversion_id DESC LIMIT $4`,
    [state, isOpen, cursor, limit],
  );
