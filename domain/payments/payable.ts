import { assetOf } from '../chains/assets';
import { add, compare, divide, fit, larger, subtract, times } from '../money';

/** What deposits are worth towards a price: each at the rate of the quote in force when it was first seen. */

/** A deposit and the quote it counts at; null: it has none yet, and counts for nothing. */
export type Rated = Readonly<{
  amount: string;
  /** Fiat per whole unit. */
  exchangeRate: string | null;
  /** The whole price in the coin at that quote, the payer's fee included. */
  quoteAmount: string | null;
}>;
/** A deposit whose transaction replaced others: the parts inherited from them count at their own quotes, and the rest
 *  at the deposit's. */
export type RatedDeposit = Rated & Readonly<{ inherited: readonly Rated[] }>;

/** A deposit in parts of one quote each. */
const partsOf = (deposit: RatedDeposit): Rated[] => {
  if (!deposit.inherited.length) return [deposit];
  const rest = subtract(deposit.amount, add('0', ...deposit.inherited.map(({ amount }) => amount)));
  return [...deposit.inherited, { ...deposit, amount: rest }];
};

/** Shares of a price are cut here, downwards, so that rounding never completes a price. */
const shareDecimals = 40;
const totalOf = (deposits: readonly Rated[]): string => add('0', ...deposits.map(({ amount }) => amount));
const isAt = (quoteAmount: string, deposit: Rated): boolean =>
  deposit.quoteAmount !== null && compare(deposit.quoteAmount, quoteAmount) === 0;

/** The fiat value of deposits, each at its own rate, exact; null where one of them has none. */
export function valueOf(deposits: readonly RatedDeposit[]): string | null {
  const parts = deposits.flatMap(partsOf);
  if (parts.some(({ exchangeRate }) => exchangeRate === null)) return null;
  return add('0', ...parts.map(({ amount, exchangeRate }) => times(amount, exchangeRate!, 36, 'down')));
}

/** The share of the price that deposits cover: '1' is the whole of it. Amounts of one quote are added up before the
 *  division. */
export const shareOf = (deposits: readonly RatedDeposit[]): string => shareOfParts(deposits.flatMap(partsOf));

function shareOfParts(parts: readonly Rated[]): string {
  const paid = new Map<string, string>();
  for (const { amount, quoteAmount } of parts) {
    if (quoteAmount === null) continue;
    const quote = fit(quoteAmount, 18, 'down');
    paid.set(quote, add(paid.get(quote) ?? '0', amount));
  }
  return add('0', ...[...paid].map(([quote, amount]) => divide(amount, quote, shareDecimals, 'down')));
}

/** What the payer pays in all: what came, and the rest of the price at `quoteAmount`. */
function amountAt(quoteAmount: string, paid: readonly Rated[], payDecimals: number): string {
  const others = paid.filter((deposit) => !isAt(quoteAmount, deposit));
  if (!others.length) return quoteAmount;
  const left = larger(subtract('1', shareOfParts(others)), '0');
  return fit(add(totalOf(others), times(quoteAmount, left, payDecimals, 'up')), payDecimals, 'up');
}

/** The amount of a payment: what came, and what is missing at the current quote. Once the price is met, the coins that
 *  met it; everything above them is excess. `deposits`: in the order in which they were first seen. */
export function payableOf(quoteAmount: string, currency: string, deposits: readonly RatedDeposit[]): string {
  const { payDecimals } = assetOf(currency);
  const rated = deposits.flatMap(partsOf).filter((deposit) => deposit.quoteAmount !== null);
  for (const [index, deposit] of rated.entries()) {
    const whole = amountAt(deposit.quoteAmount!, rated.slice(0, index), payDecimals);
    if (compare(totalOf(rated.slice(0, index + 1)), whole) >= 0) return whole;
  }
  return amountAt(quoteAmount, rated, payDecimals);
}

/** The share that must be covered: all but the tolerance. */
export const neededShare = (tolerancePct: string): string => {
  const share = divide(subtract('100', tolerancePct), '100', 8, 'up');
  return compare(share, '0') > 0 ? share : '1';
};
