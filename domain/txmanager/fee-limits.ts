import { networks, type NetworkId } from '../chains/assets';
import { compare, divide, fit, larger, smaller, times } from '../money';

/** What the transactions of one intent may pay at the most, in base units of the network's native coin as decimal
 *  strings: for one unit of work, and in all. One of them is mined at the most, so the budget is what the intent can
 *  cost. */
export type FeeLimits = Readonly<{ maxUnitPrice: string; feeBudget: string }>;

/** A price may rise to so many times that of the planning. */
const rise = '4';
/** A smaller transaction that replaces a larger one pays an eighth more than it, and change that is too small to send
 *  is paid as fee. */
const budgetMargin = '1.25';

/** The most that a transaction planned at `unitPrice` may pay per unit of work: four times that price, but at least the
 *  network's `leastPriceCap`, and no more than its `mostPrice`. Whole base units. */
export function priceCap(network: NetworkId, unitPrice: string): string {
  const { leastPriceCap, mostPrice } = networks[network];
  const cap = larger(times(unitPrice, rise, 0, 'up'), leastPriceCap);
  return mostPrice === undefined ? cap : smaller(cap, mostPrice);
}

/** Limits around a cap that is given: where gas was bought, or a fee kept back, for that price. */
export const limitsFor = (maxUnitPrice: string, work: bigint): FeeLimits => ({
  maxUnitPrice,
  feeBudget: times(times(maxUnitPrice, work.toString(), 18, 'up'), budgetMargin, 0, 'up'),
});

/** The limits of what was planned for `before` work and takes `work`. `isKept`: what its fee may be was kept back for
 *  it when it was planned, so that the price gives way; otherwise the budget does. */
export const limitsWith = (maxUnitPrice: string, work: bigint, before: bigint, isKept: boolean): FeeLimits =>
  limitsFor(
    isKept && work > before
      ? fit(divide(times(maxUnitPrice, before.toString(), 18, 'down'), work.toString(), 18, 'down'), 0, 'down')
      : maxUnitPrice,
    work,
  );

/** Limits of what is planned at this price and takes so much work. */
export const feeLimits = (network: NetworkId, unitPrice: string, work: bigint): FeeLimits =>
  limitsFor(priceCap(network, unitPrice), work);

/** A bumped price: at least an eighth more than the last, rounded up to a whole base unit; never below today's.
 *  Invariants: 5, step 5. */
export function bumpedPrice(last: string, today: string): string {
  const raised = divide(times(last, '9', 18, 'up'), '8', 0, 'up');
  return compare(raised, today) > 0 ? raised : fit(today, 0, 'up');
}

/** The price of the attempt after one at `last`; null where the cap allows none that nodes would take in
 *  its place. */
export function nextPrice(last: string, today: string, maxUnitPrice: string): string | null {
  const price = smaller(bumpedPrice(last, today), maxUnitPrice);
  return compare(price, times(last, '1.125', 18, 'up')) < 0 ? null : price;
}

/** Which limit a transaction would exceed; null where it is within both. */
export function exceeds(limits: FeeLimits, unitPrice: string, feeUnits: bigint): string | null {
  if (compare(unitPrice, limits.maxUnitPrice) > 0)
    return `a price of ${fit(unitPrice, 3, 'up')} is above its cap of ${fit(limits.maxUnitPrice, 3, 'down')}`;
  if (compare(feeUnits.toString(), limits.feeBudget) > 0)
    return `a fee of ${feeUnits} is above its budget of ${fit(limits.feeBudget, 0, 'down')}`;
  return null;
}
