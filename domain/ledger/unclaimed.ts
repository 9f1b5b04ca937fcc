import type { DepositRef, Journal } from './ledger';

/** J8 of a deposit whose address a recovery has forgotten: it is owed to somebody, and nobody knows to whom. Its key is
 *  one of its own: once it is claimed, the deposit is booked for its payment like any other. */
export const unclaimedJournal = (deposit: DepositRef): Journal => ({
  key: unclaimedKey(deposit),
  entry: null,
  postings: [
    { debit: 'A:deposit', credit: 'L:unallocated:unclaimed', asset: deposit.currency, amount: deposit.amount },
  ],
});

export const unclaimedKey = (deposit: Pick<DepositRef, 'network' | 'txId' | 'index'>): string =>
  `unclaimed/${deposit.network}/${deposit.txId}/${deposit.index}`;
