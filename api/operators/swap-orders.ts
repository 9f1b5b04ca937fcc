import { Type } from 'typebox';
import { orderStates } from '../../domain/conversions/swap';
import { workflowIds } from '../../domain/workflow-ids';
import { listOrders, type ListedOrder, type OrderFilter } from '../../db/operators/swap-orders';
import type { ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { exact, limit, named, nullable, pageOf, time } from '../http/schemas';
import { workflowUrl } from './workflow-url';

/** Orders at swap providers. A conversion that waits for good is ended by the request `end-conversion`. */

const text = Type.String();
const state = Type.String({
  enum: [...orderStates],
  description: '`refused`: the provider makes none. `worse`: it would give less than was accepted.',
});
const orderSchema = named('SwapOrder', {
  conversion: Type.Object({ id: text, status: text, fromCurrency: text, toCurrency: text }),
  merchant: Type.Object({ id: text, name: text }),
  workflow: Type.Object({ id: text, url: nullable(Type.String({ description: 'In the Temporal UI.' })) }),
  provider: text,
  orderId: nullable(Type.String({ description: 'The number of the order at its provider; null: not made yet.' })),
  state: nullable(state),
  status: nullable(Type.String({ description: 'The provider’s own word for the state.' })),
  amount: exact('What we send.'),
  promised: nullable(exact('What the provider has fixed.')),
  credited: nullable(exact('What the merchant was credited.')),
  depositAddress: nullable(text),
  payoutAddress: text,
  refundAddress: text,
  payoutTxId: nullable(text),
  validUntil: nullable(time),
  createdAt: time,
  changedAt: time,
});
const present = (deps: Pick<ApiDeps, 'config'>, row: ListedOrder) => {
  const id = workflowIds.conversion(row.conversion_id);
  return {
    conversion: {
      id: row.conversion_id,
      status: row.conversion_status,
      fromCurrency: row.from_currency,
      toCurrency: row.to_currency,
    },
    merchant: { id: row.merchant_id, name: row.merchant_name },
    workflow: { id, url: workflowUrl(deps, id) },
    provider: row.provider,
    orderId: row.order_id,
    state: row.state,
    status: row.status,
    amount: row.amount,
    promised: row.promised,
    credited: row.credited,
    depositAddress: row.deposit_address,
    payoutAddress: row.payout_address,
    refundAddress: row.refund_address,
    payoutTxId: row.payout_tx_id,
    validUntil: row.valid_until?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    changedAt: row.changed_at.toISOString(),
  };
};

export const listSwapOrders = route({
  name: 'listSwapOrders',
  method: 'get',
  path: '/api/v1/platform/swap-orders',
  summary: 'List orders at swap providers',
  tag: 'Platform',
  envelope: 'A',
  query: Type.Object({
    state: Type.Optional(state),
    isOpen: Type.Optional(Type.Boolean({ description: 'true: those alone whose conversion has not ended.' })),
    cursor: Type.Optional(Type.String({ pattern: '^[0-9a-f]{24}$', description: 'The id of a conversion.' })),
    limit,
  }),
  success: {
    status: 200,
    schema: Type.Object({ items: Type.Array(orderSchema), nextCursor: nullable(Type.String()) }),
    description: 'Newest first; `nextCursor` null at the end.',
  },
  errors: [],
  async answer({ query }, deps) {
    const { state, isOpen = false, cursor, limit } = pageOf(query);
    const rows = await listOrders(deps.db, {
      state: (state as OrderFilter['state'] | undefined) ?? null,
      isOpen,
      cursor: cursor ?? null,
      limit: limit + 1,
    });
    const items = rows.slice(0, limit);
    return {
      data: {
        items: items.map((row) => present(deps, row)),
        nextCursor: rows.length > limit ? items.at(-1)!.conversion_id : null,
      },
    };
  },
});
