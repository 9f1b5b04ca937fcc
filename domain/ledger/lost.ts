import type { Currency } from '../chains/assets';
import { journal, type Journal } from './ledger';

/** Accounts of our own addresses. */
export type ChainAccount = 'A:deposit' | 'A:treasury' | 'A:gas';

/** What a recovery of the database has lost left the chain all the same. What went to an address of ours moved there;
 *  the rest is a loss until two people charge a merchant. */
export const lostJournal = (gone: {
  intentId: string;
  currency: Currency;
  native: Currency;
  from: ChainAccount;
  feeFrom: ChainAccount;
  moves: ReadonlyArray<Readonly<{ to: ChainAccount | 'E:loss'; amount: string }>>;
  chainFee: string;
}): Journal =>
  journal(`lost/${gone.intentId}`, null, [
    ...gone.moves
      .filter(({ to }) => to !== gone.from)
      .map(({ to, amount }) => ({ debit: to, credit: gone.from, asset: gone.currency, amount })),
    { debit: 'E:network', credit: gone.feeFrom, asset: gone.native, amount: gone.chainFee },
  ]);
