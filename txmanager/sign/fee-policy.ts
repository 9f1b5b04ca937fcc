import type { Currency } from '../../domain/chains/assets';
import { mostAboveQuote } from '../../domain/chains/costs';
import { compare, fit } from '../../domain/money';
import { exceeds, type FeeLimits } from '../../domain/txmanager/fee-limits';
import type { RowFacts } from '../obligation';
import type { Price } from './price';

/** The part of the signing policy for what transactions cost, and who bears it. */

/** What is wrong with what was added to the network fee that a receiver bears; null: nothing. An estimate adds it, by
 *  the role of a worker: within what such a transfer may take at the most, whatever that worker says. */
export function faultOfFees(currency: Currency, { name, addedFees }: Pick<RowFacts, 'name' | 'addedFees'>) {
  const odd = addedFees.find(({ quoted, added }) => compare(added, mostAboveQuote(currency, quoted)) > 0);
  return odd
    ? `${name}: ${fit(odd.added, 18, 'up')} is too much to add to a fee of ${fit(odd.quoted, 18, 'up')}`
    : null;
}

/** What a transaction costs, and what its address holds beside it; `heldUnits` null: it moves what is there. */
type CostFacts = Readonly<{
  limits: FeeLimits;
  price: Pick<Price, 'unitPrice' | 'dataPart'>;
  feeUnits: bigint;
  from: string;
  neededUnits: bigint;
  heldUnits: bigint | null;
}>;
type CostVerdict = Readonly<{ state: 'pay' } | { state: 'capped' | 'short'; reason: string }>;

/** May a transaction of an intent that may be signed cost this much? */
export function mayCost({ limits, price, feeUnits, from, neededUnits, heldUnits }: CostFacts): CostVerdict {
  const { unitPrice, dataPart } = price;
  if (compare(unitPrice, dataPart) <= 0)
    return { state: 'capped', reason: `a price of ${fit(unitPrice, 0, 'up')} leaves nothing beside that of its data` };
  const above = exceeds(limits, unitPrice, feeUnits);
  if (above) return { state: 'capped', reason: above };
  if (heldUnits !== null && heldUnits < neededUnits)
    return { state: 'short', reason: `${from} holds ${heldUnits} of the ${neededUnits} that it takes` };
  return { state: 'pay' };
}
