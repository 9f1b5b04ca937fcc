import type { Currency } from '../chains/assets';
import { add, compare, Decimal, divide, fit, isPositive, subtract } from '../money';

/** Somebody outside who changes one asset into another at a rate fixed beforehand. Contract: 4.4, external mode. */

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

/** waiting: for our deposit. working: it has it. finished: it says that it has paid out. failed: it keeps it for now.
 *  refunded: it says that it has sent it back. expired: no deposit came in time. unknown: a status that we do not
 *  know. */
const swapStates = ['waiting', 'working', 'finished', 'failed', 'refunded', 'expired', 'unknown'] as const;
export type SwapState = (typeof swapStates)[number];

/** What is kept of an order. refused: the provider makes none. worse: it would give less than was accepted. */
export const orderStates = [...swapStates, 'refused', 'worse'] as const;
export type OrderState = (typeof orderStates)[number];

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
  /** The transaction that it says it has paid out with. null: it names none. */
  payoutTxId: string | null;
  /** ISO 8601; the deposit must come before. null: it names no time. */
  validUntil: string | null;
}>;

export type NewSwapOrder = SwapPair &
  Readonly<{ conversionId: string; rateId: string; fromAmount: string; payoutAddress: string; refundAddress: string }>;

/** The provider has answered that it will not: asking again in the same words is of no use. `code`: the provider's, for
 *  operators. */
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

/** What the price may worsen, in percent, between a quote and its order: the least output of a quote is so much below
 *  what the provider would give. */
export const priceProtectionPct = '0.5';
const protectedShare = subtract('1', divide(priceProtectionPct, '100', 12, 'up'));

/** What a provider gave for two amounts a while ago: it charges a share, and a fee for paying out, so that two points
 *  tell the rest. */
export type SwapRate = Readonly<{
  min: string;
  max: string | null;
  low: Readonly<{ fromAmount: string; toAmount: string }>;
  high: Readonly<{ fromAmount: string; toAmount: string }>;
  seconds: number | null;
}>;

/** The least that a provider shall pay out for `net`: on the line through the two points, less the protection band,
 *  rounded down. null: nothing. */
export function leastOutput(rate: SwapRate, net: string, decimals: number): string | null {
  const { low, high } = rate;
  const span = subtract(high.fromAmount, low.fromAmount);
  if (!isPositive(span)) return null;
  const slope = new Decimal(high.toAmount).minus(low.toAmount).dividedBy(span);
  const output = new Decimal(low.toAmount).plus(slope.times(new Decimal(net).minus(low.fromAmount)));
  const least = fit(output.times(protectedShare).toFixed(), decimals, 'down');
  return isPositive(least) ? least : null;
}

/** Money at an address that was made for an order. */
export type SwapArrival = Readonly<{ id: string; currency: Currency | null; amount: string }>;

/** How far our deposit is. lost: its transaction was mined and reverted. */
export type SwapFunding = 'none' | 'planned' | 'signed' | 'sent' | 'lost';

export type SwapFacts = Readonly<{
  status: 'processing' | 'completed' | 'failed';
  toCurrency: Currency;
  /** What the merchant accepted as the least. */
  minimum: string;
  /** null: none has been made. refused: the provider will make none. */
  order: OrderState | null;
  /** The order takes a deposit until then. */
  isOverdue: boolean;
  funding: SwapFunding;
  /** Confirmed at the receiving address, the first first. */
  arrived: readonly SwapArrival[];
  /** Whether the transaction that the provider names as its payout is among those, in the right asset. */
  isPaidOut: boolean;
  /** On its way to one of our addresses, and not confirmed yet. */
  isComing: boolean;
  /** Those that were credited, once it is completed. */
  credited: readonly string[];
  /** Confirmed at the refund address. */
  returned: readonly SwapArrival[];
  /** Nothing has changed for a day. */
  isSilent: boolean;
}>;

export type SwapIncident =
  `swap-${'contradiction' | 'wrong-asset' | 'surplus' | 'unknown' | 'expired' | 'silent' | 'reorged'}`;
/** order: make one. fund: send our deposit. drop: nobody has signed our deposit; forget its plan, and look again.
 *  complete: credit these deposits. fail: credit back. wait: look again. end: nothing more to do. `incident`: people
 *  have to know. */
export type SwapStep = Readonly<
  { incident?: SwapIncident } & (
    | { do: 'order' | 'fund' | 'drop' | 'end' }
    | { do: 'complete'; depositIds: readonly string[]; amount: string }
    | { do: 'fail'; message: string }
    | { do: 'wait'; reason: string }
  )
>;

export const swapMessages = {
  refused: 'The conversion could not be executed at present; the full amount is back in the balance',
  worse: 'The price moved beyond the protection band before execution; the full amount is back in the balance',
  late: 'The conversion could not be executed in time; the full amount is back in the balance',
  failed: 'The conversion could not be completed; the full amount is back in the balance',
} as const;

/** What an external conversion does next. The first final answer wins: enough money at our address, or a provider that
 *  will not pay. What comes after it credits nobody and is an incident. Nothing goes back to the balance while our
 *  deposit may still leave, or while something is on its way to us. Contract: 3.2; Ledger: J10, J11. */
export function nextSwapStep(facts: SwapFacts): SwapStep {
  const step = facts.status === 'processing' ? nextStepOfOpen(facts) : nextStepOfEnded(facts);
  return step.do === 'wait' && facts.isSilent && !step.incident ? { ...step, incident: 'swap-silent' } : step;
}

function nextStepOfOpen(facts: SwapFacts): SwapStep {
  const { order, funding } = facts;
  const right = facts.arrived.filter((one) => one.currency === facts.toCurrency);
  // Anybody may send a little to the address: less than was accepted is credited only with what the provider says it
  // paid.
  const isAll = order === 'finished' && facts.isPaidOut && !facts.isComing;
  const enough = firstEnough(right, facts.minimum) ?? (isAll ? right : null);
  if (enough)
    return {
      do: 'complete',
      depositIds: enough.map((one) => one.id),
      amount: add(...enough.map((one) => one.amount)),
      ...(isGivenUp(order) ? { incident: 'swap-contradiction' as const } : {}),
    };
  if (facts.isComing) return { do: 'wait', reason: 'money is on its way to us' };
  if (facts.arrived.length > right.length)
    return { do: 'wait', reason: 'another asset than agreed has come', incident: 'swap-wrong-asset' };
  if (funding === 'signed') return { do: 'wait', reason: 'our deposit is being sent' };
  if (funding === 'lost') return { do: 'fail', message: swapMessages.failed };
  if (funding === 'none' || funding === 'planned') {
    if (order === 'waiting' && !facts.isOverdue) return { do: 'fund' };
    if (order === 'working' || order === 'finished' || order === 'unknown')
      return {
        do: 'wait',
        reason: `the provider says ${order} before we have sent anything`,
        incident: 'swap-unknown',
      };
    if (funding === 'planned') return { do: 'drop' };
    if (order === null) return { do: 'order' };
    return { do: 'fail', message: order === 'refused' || order === 'worse' ? swapMessages[order] : swapMessages.late };
  }
  switch (order) {
    case 'failed':
    case 'refunded':
      return { do: 'fail', message: swapMessages.failed };
    case 'expired':
      return { do: 'wait', reason: 'the provider has not seen our deposit in time', incident: 'swap-expired' };
    case 'unknown':
      return { do: 'wait', reason: 'the provider says something that we do not know', incident: 'swap-unknown' };
    case 'finished':
      return { do: 'wait', reason: 'the provider says that it has paid; that has not come yet' };
    default:
      return { do: 'wait', reason: 'the provider is at work' };
  }
}

function nextStepOfEnded(facts: SwapFacts): SwapStep {
  const { order } = facts;
  if (facts.isComing) return { do: 'wait', reason: 'more money is on its way to us' };
  const beyond = facts.arrived.filter((one) => !facts.credited.includes(one.id));
  if (facts.status === 'failed') {
    if (facts.arrived.length || order === 'finished') return { do: 'end', incident: 'swap-contradiction' };
    if (facts.funding === 'sent' && !facts.returned.length)
      return facts.isSilent
        ? { do: 'end', incident: 'swap-silent' }
        : { do: 'wait', reason: 'the provider has not sent our deposit back yet' };
    return { do: 'end' };
  }
  if (facts.credited.some((id) => !facts.arrived.some((one) => one.id === id)))
    return { do: 'wait', reason: 'a reorganisation has taken what was credited', incident: 'swap-reorged' };
  if (isGivenUp(order) || facts.returned.length) return { do: 'end', incident: 'swap-contradiction' };
  return beyond.length ? { do: 'end', incident: 'swap-surplus' } : { do: 'end' };
}

const isGivenUp = (order: SwapFacts['order']): boolean => order === 'failed' || order === 'refunded';

/** The first arrivals that make up `minimum` together; null where all do not. */
function firstEnough(arrived: readonly SwapArrival[], minimum: string): readonly SwapArrival[] | null {
  let total = '0';
  for (const [index, one] of arrived.entries()) {
    total = add(total, one.amount);
    if (compare(total, minimum) >= 0) return arrived.slice(0, index + 1);
  }
  return null;
}
