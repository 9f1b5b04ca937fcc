import { DomainError } from '../errors';
import { compare, fit } from '../money';
import { assetOf } from './assets';

/** An amount that somebody asks for, in a currency that has all of its digits: what is too fine is refused, and not
 *  cut, because what would be paid is not what was asked for. Throws VALIDATION_ERROR. */
export function exactAmount(currency: string, amount: string): string {
  const { decimals } = assetOf(currency);
  const exact = fit(amount, decimals, 'down');
  if (compare(exact, amount) !== 0)
    throw new DomainError('VALIDATION_ERROR', `amount must have at most ${decimals} decimals in ${currency}`);
  return exact;
}
