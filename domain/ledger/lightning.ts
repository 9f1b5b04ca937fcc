import { assetOf, type Currency } from '../chains/assets';
import { satoshiIn } from '../lightning/held-money';
import { fromUnits } from '../money';
import { journal, unsettled, type Account, type Journal } from './ledger';

/** What our Lightning node took for an invoice. */
export type TakenInvoice = Readonly<{
  /** The payment hash: one invoice for each, and one journal. */
  hash: string;
  merchantId: string;
  currency: Currency;
  takenMsat: bigint;
  /** `unsettled`: its payment is settled by it, in the same transaction. Else it waits for a decision. */
  allocation: 'unsettled' | 'unallocated';
}>;

const lightningKey = (hash: string): string => `lightning/${hash}`;

/** Whole units of `currency`, without what is less than a satoshi. */
export const takenAmount = ({ currency, takenMsat }: Pick<TakenInvoice, 'currency' | 'takenMsat'>): string =>
  fromUnits(satoshiIn(takenMsat), assetOf(currency).decimals);

/** J13: what came by Lightning is in the channels of our node at once, and no sweep brings it there. */
export const lightningJournal = (taken: TakenInvoice): Journal => {
  const { merchantId, currency, allocation } = taken;
  const credit: Account = allocation === 'unsettled' ? unsettled(merchantId) : `L:unallocated:${merchantId}`;
  const posting = { debit: 'A:lightning', credit, asset: currency, amount: takenAmount(taken) } as const;
  return journal(lightningKey(taken.hash), null, [posting]);
};
