import { fit } from '../../../domain/money';
import type { Order } from './orders';
import { tickerOf } from './prices';

/** A JSON number with every digit of an amount. */
export const number = (amount: string | null): unknown =>
  amount === null ? null : (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(fit(amount, 18, 'down'));

/** An order as `GET /v2/exchange/by-id` shows it. */
export const viewOf = (order: Order): object => {
  const [fromCurrency, fromNetwork] = tickerOf(order.from);
  const [toCurrency, toNetwork] = tickerOf(order.to);
  const paid = order.status === 'finished' && order.fault !== 'wrong-asset' ? order.toAmount : null;
  return {
    id: order.id,
    status: order.status,
    actionsAvailable: false,
    ...{ fromCurrency, fromNetwork, toCurrency, toNetwork },
    expectedAmountFrom: number(order.fromAmount),
    expectedAmountTo: number(order.toAmount),
    amountFrom: number(order.received),
    amountTo: number(paid),
    payinAddress: order.payinAddress,
    payoutAddress: order.payoutAddress,
    payinExtraId: null,
    payoutExtraId: null,
    refundAddress: order.refundAddress,
    refundExtraId: null,
    createdAt: order.createdAt,
    updatedAt: new Date().toISOString(),
    depositReceivedAt: null,
    payinHash: order.payinHash,
    payoutHash: order.payoutHashes[0] ?? null,
    refundHash: order.refundHash,
    refundAmount: number(order.refundAmount),
    userId: null,
    validUntil: order.validUntil,
    relatedExchangesInfo: [],
    repeatedExchangesInfo: [],
  };
};

/** An order as `GET /v2/exchanges` lists it. */
export const listed = (order: Order): object => ({
  createdAt: order.createdAt,
  exchangeId: order.id,
  requestId: order.id,
  status: order.status,
  validUntil: order.validUntil,
  flow: 'fixed-rate',
  payin: {
    currency: tickerOf(order.from)[0],
    address: order.payinAddress,
    expectedAmount: number(order.fromAmount),
  },
  payout: {
    currency: tickerOf(order.to)[0],
    address: order.payoutAddress,
    hash: order.payoutHashes[0] ?? null,
  },
  refund: { currency: tickerOf(order.from)[0], address: order.refundAddress, hash: order.refundHash },
  partnerInfo: { userId: null, payload: order.payload },
});
