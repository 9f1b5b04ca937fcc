import { assetOf } from '../chains/assets';
import { settlementWork } from '../chains/costs';
import { DomainError } from '../errors';
import { add, compare, divide, fit, fromUnits, isPositive, larger, smaller, subtract, times } from '../money';

/** Fiat currencies a merchant can price in, with their minor units. */
export const fiatDecimals: Readonly<Record<string, number>> = { USD: 2, EUR: 2, GBP: 2, JPY: 0 };
export type FeeBearer = 'customer' | 'merchant';

/** An estimate of a network's fee counts for so long: nothing is priced, planned or signed by an older one. */
export const feeMaxAgeSeconds = 600;

/** A fiat amount as people write it, in the currency's own minor units. Rounded down unless told otherwise. */
export const fitFiat = (amount: string, fiat: string, rounding: 'up' | 'down' = 'down'): string =>
  fit(amount, fiatDecimals[fiat] ?? 2, rounding);

/** A price as it was asked for, in whole minor units: what arithmetic with doubles adds or takes away, up to a
 *  thousandth of a minor unit, is not the price. Throws VALIDATION_ERROR, naming `property`, where it is finer, or
 *  nothing. */
export function fiatPrice(amount: string, fiat: string, property = 'amount'): string {
  const decimals = fiatDecimals[fiat] ?? 2;
  const noise = fromUnits(1n, decimals + 3);
  const down = fit(amount, decimals, 'down');
  const price = compare(subtract(amount, down), noise) <= 0 ? down : fit(amount, decimals, 'up');
  if (!isPositive(price) || compare(subtract(price, amount), noise) > 0)
    throw new DomainError('VALIDATION_ERROR', `${property} must be a multiple of ${fromUnits(1n, decimals)} ${fiat}`);
  return price;
}

/** Whether a price is less than one minor unit, the noise of doubles aside: it is below every minimum. */
export function isBelowUnit(amount: string, fiat: string): boolean {
  const decimals = fiatDecimals[fiat] ?? 2;
  return compare(add(amount, fromUnits(1n, decimals + 3)), fromUnits(1n, decimals)) < 0;
}

/** What a quote is made of; all decimal strings. `rate`: fiat per whole unit of `currency`. */
export type QuoteInput = Readonly<{
  currency: string;
  fiatAmount: string;
  rate: string;
  /** Commission, basis points of what arrives. */
  feeBps: number;
  feeBearer: FeeBearer;
  /** Network-fee provision, in `currency`. */
  networkFee: string;
}>;

export type Quote = Readonly<{
  /** What the payer pays, in whole units; at most the asset's payDecimals. Rounded up. */
  amount: string;
  commissionAmount: string;
  networkFeeAmount: string;
  /** commissionAmount + networkFeeAmount. */
  feeAmount: string;
  /** amount − feeAmount; never negative. */
  netAmount: string;
}>;

/** Commissions that a merchant can have, in hundredths of a percent. The table's CHECK says the same. */
export const feeBpsRange = { minimum: 1, maximum: 5000 } as const;
export const isFeeBps = (bps: number): boolean =>
  Number.isInteger(bps) && bps >= feeBpsRange.minimum && bps <= feeBpsRange.maximum;

/** Commission on `paid`, rounded up to the asset's decimals. `feeBps`: 40 = 0.4 %. */
export const commissionOn = (paid: string, feeBps: number, currency: string): string =>
  times(paid, divide(String(feeBps), '10000', 6, 'up'), assetOf(currency).decimals, 'up');

/** Splits what was paid: fee rounded up and never above `paid`, net the rest, so that the parts add up.
 *  Contract: 2.2. */
export function splitPaid(
  paid: string,
  currency: string,
  feeBps: number,
  networkFee: string,
): Readonly<{ commission: string; network: string; fee: string; net: string }> {
  const decimals = assetOf(currency).decimals;
  const commission = smaller(commissionOn(paid, feeBps, currency), paid);
  const network = smaller(fit(networkFee, decimals, 'up'), subtract(paid, commission));
  const fee = add(commission, network);
  return { commission, network, fee, net: subtract(paid, fee) };
}

/** The crypto quote of a fiat price. With feeBearer `customer` the amount is the least whose net covers the whole
 *  price. Contract: 2.2, fee rules 1–2. */
export function quote(input: QuoteInput): Quote {
  const { decimals, payDecimals } = assetOf(input.currency);
  const price = divide(input.fiatAmount, input.rate, decimals, 'up');
  let amount = fit(price, payDecimals, 'up');
  if (input.feeBearer === 'customer') {
    const kept = divide(String(10_000 - input.feeBps), '10000', 6, 'down');
    amount = divide(add(price, input.networkFee), kept, payDecimals, 'up');
    const step = divide('1', `1${'0'.repeat(payDecimals)}`, payDecimals, 'up');
    // Rounding the commission up can leave the net one unit short.
    while (compare(splitPaid(amount, input.currency, input.feeBps, input.networkFee).net, price) < 0)
      amount = add(amount, step);
  }
  const split = splitPaid(amount, input.currency, input.feeBps, input.networkFee);
  return {
    amount,
    commissionAmount: split.commission,
    networkFeeAmount: split.network,
    feeAmount: split.fee,
    netAmount: split.net,
  };
}

/** Cost of settling one deposit of `currency`, in that currency, rounded up. `unitPrice`: native base units per unit of
 *  work; `nativeRate`: units of `currency` per whole native unit (1 for the native asset itself). */
export function settlementCost(
  currency: string,
  unitPrice: string,
  nativeDecimals: number,
  nativeRate: string,
): string {
  const asset = assetOf(currency);
  const native = divide(
    times(unitPrice, settlementWork(currency).toString(), 0, 'up'),
    `1${'0'.repeat(nativeDecimals)}`,
    nativeDecimals,
    'up',
  );
  return times(native, nativeRate, asset.decimals, 'up');
}

/** Settling must not eat more than a fifth of a payment, and what is left must stay clear of dust. Rounded up to
 *  payDecimals. Contract: 2.8. */
export function minimumAmount(currency: string, networkFee: string, feeBps: number): string {
  const asset = assetOf(currency);
  const clearOfCost = divide(
    times(networkFee, '5', asset.decimals, 'up'),
    divide(String(10_000 - feeBps), '10000', 6, 'down'),
    asset.payDecimals,
    'up',
  );
  return larger(clearOfCost, times(asset.dust, '2', asset.payDecimals, 'up'));
}

/** Fiat value of a crypto amount, in the fiat's minor units. */
export const fiatValue = (amount: string, rate: string, fiat: string, rounding: 'up' | 'down' = 'down'): string =>
  times(amount, rate, fiatDecimals[fiat] ?? 2, rounding);

/** The share of the amount that must be seen before a payment counts as paid. Rounded up. Invariants: 3 (`need`). */
export function needOf(amount: string, tolerancePct: string, currency: string): string {
  const factor = divide(subtract('100', tolerancePct), '100', 8, 'up');
  const need = times(amount, factor, assetOf(currency).decimals, 'up');
  return isPositive(need) ? need : amount;
}
