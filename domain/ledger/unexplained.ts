import { assetOf, type Currency } from '../chains/assets';
import { isPositive, negate, toUnits } from '../money';
import type { Journal } from './ledger';

/** A difference between a chain and the ledger that nothing explains. `amount`: what the chain holds beyond the ledger,
 *  not zero; below zero: what it lacks. Throws where it is finer than its asset. */
export function unexplainedJournal(
  difference: Readonly<{ key: string; currency: Currency; amount: string; details?: Journal['details'] }>,
): Journal {
  const { key, currency: asset, amount, details } = difference;
  const isSurplus = isPositive(amount);
  const magnitude = isSurplus ? amount : negate(amount);
  toUnits(magnitude, assetOf(asset).decimals);
  return {
    key: `unexplained/${key}`,
    entry: null,
    postings: [
      isSurplus
        ? { debit: 'A:treasury', credit: 'Q:unexplained', asset, amount: magnitude }
        : { debit: 'Q:unexplained', credit: 'A:treasury', asset, amount: magnitude },
    ],
    ...(details ? { details } : {}),
  };
}
