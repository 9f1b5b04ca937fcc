import type { Currency } from './assets';

/** Somebody outside who changes one asset into another at a rate fixed beforehand. Spec: 4.4, external mode. */

export type SwapPair = Readonly<{ from: Currency; to: Currency }>;

/** What a provider would give now. Amounts: decimal strings in whole units. */
export type SwapEstimate = Readonly<{
  /** Fixes the rate of an order that is made before `validUntil`. */
  rateId: string;
  fromAmount: string;
  toAmount: string;
  /** ISO 8601. */
  validUntil: string;
  /** From the deposit to the payout, as far as the provider says. */
  seconds: number | null;
}>;

/** Least and most that a provider takes; `max` null: it names none. */
export type SwapRange = Readonly<{ min: string; max: string | null }>;

/** waiting: for our deposit. working: it has it. finished: it says that it has paid out. failed: it keeps it for now. refunded: it says
 *  that it has sent it back. expired: no deposit came in time. unknown: a status that we do not know. */
export type SwapState = 'waiting' | 'working' | 'finished' | 'failed' | 'refunded' | 'expired' | 'unknown';

export type SwapOrder = Readonly<{
  id: string;
  state: SwapState;
  /** The provider's own word for `state`, for operators. */
  status: string;
  /** Where our deposit has to go. */
  depositAddress: string;
  /** Where it pays out to, and back to. */
  payoutAddress: string;
  refundAddress: string;
  fromAmount: string;
  toAmount: string;
  /** ISO 8601; the deposit must come before. null: it names no time. */
  validUntil: string | null;
}>;

export type NewSwapOrder = SwapPair &
  Readonly<{ conversionId: string; rateId: string; fromAmount: string; payoutAddress: string; refundAddress: string }>;

/** The provider has answered that it will not: asking again in the same words is of no use. `code`: the provider's, for operators. */
export class SwapRefused extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** No usable answer: whether anything was done is not known, and the same question may be asked again. */
export class SwapUnavailable extends Error {}

/** Every call throws SwapRefused or SwapUnavailable, and nothing else that is the provider's doing. */
export interface SwapProvider {
  readonly name: string;
  /** What it takes at the least and the most. */
  range(pair: SwapPair): Promise<SwapRange>;
  /** A rate for exactly `fromAmount`, fixed for a while. Makes nothing. */
  estimate(pair: SwapPair, fromAmount: string): Promise<SwapEstimate>;
  /** The order that was made for a conversion, found by the address it pays out to, which no other conversion has. */
  findOrder(conversionId: string, payoutAddress: string): Promise<SwapOrder | null>;
  createOrder(order: NewSwapOrder): Promise<SwapOrder>;
  readOrder(id: string): Promise<SwapOrder>;
}
