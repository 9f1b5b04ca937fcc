import { assetOf, type Currency } from '../chains/assets';
import { fromUnits } from '../money';
import type { Decision } from '../txmanager/differing';
import { journal, type Journal, type Posting } from './ledger';
import type { ChainAccount } from './lost';

/** A transfer that moved something else than was signed, in one block. */
type Differing = Readonly<{ txId: string; blockHash: string; decision: Decision }>;

/** Of one decision about one mining of it: after a reorganisation both may be others. */
export const differingKey = ({ txId, blockHash, decision }: Differing): string =>
  `differs/${txId}/${blockHash}/${decision}`;

/** Brings the accounts of our own addresses to what was really moved; what is missing is the platform's loss, and what
 *  stayed beyond what was signed makes it less. `corrections`: base units to be added to each. */
export function differingJournal(
  one: Differing & Readonly<{ currency: Currency; corrections: ReadonlyMap<ChainAccount, bigint> }>,
): Journal {
  const { decimals } = assetOf(one.currency);
  const left = [...one.corrections]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([place, units]) => ({ place, units }));
  const [more, less] = [left.filter(({ units }) => units > 0n), left.filter(({ units }) => units < 0n)];
  const postings: Posting[] = [];
  const move = (debit: Posting['debit'], credit: Posting['credit'], units: bigint): void => {
    postings.push({ debit, credit, asset: one.currency, amount: fromUnits(units, decimals) });
  };
  // What one of ours has of another first.
  for (const to of more)
    for (const from of less) {
      const units = to.units < -from.units ? to.units : -from.units;
      if (units === 0n) continue;
      move(to.place, from.place, units);
      to.units -= units;
      from.units += units;
    }
  for (const { place, units } of more) if (units > 0n) move(place, 'E:loss', units);
  for (const { place, units } of less) if (units < 0n) move('E:loss', place, -units);
  return journal(differingKey(one), null, postings, { txId: one.txId });
}
