import { assetOf, type Currency } from '../chains/assets';
import { lightningCurrency } from '../lightning/currency';
import { satoshiIn } from '../lightning/held-money';
import { fromUnits } from '../money';
import {
  available,
  captureJournal,
  journal,
  unsettled,
  type Account,
  type Hold,
  type Journal,
  type Posting,
} from './ledger';

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
export const coinsOf = (msat: bigint, currency: Currency = lightningCurrency): string =>
  fromUnits(satoshiIn(msat), assetOf(currency).decimals);

/** J13: what came by Lightning is in the channels of our node at once, and no sweep brings it there. */
export const lightningJournal = (taken: TakenInvoice): Journal => {
  const { merchantId, currency, takenMsat, allocation } = taken;
  const credit: Account = allocation === 'unsettled' ? unsettled(merchantId) : `L:unallocated:${merchantId}`;
  const posting = { debit: 'A:lightning', credit, asset: currency, amount: coinsOf(takenMsat, currency) } as const;
  return journal(lightningKey(taken.hash), null, [posting]);
};

/** What its owner does with the money of our node, or what befalls it, by no act of the service: the account that is
 *  debited, and the one that is credited. check_request_journal.sql lists them once more. */
const byOwner = {
  'taken-out': ['Q:capital', 'A:lightning'],
  'put-in': ['A:lightning', 'Q:capital'],
  fees: ['E:network', 'A:lightning'],
  lost: ['E:loss', 'A:lightning'],
} as const;
export type OwnersMove = keyof typeof byOwner;
export const ownersMoves = Object.keys(byOwner) as OwnersMove[];

/** What two operators have confirmed that became of the node's money. `amount`: whole units. */
export const lightningCapitalJournal = (
  booked: Readonly<{ requestId: string; what: OwnersMove; currency: Currency; amount: string; reason: string }>,
): Journal => {
  const { requestId, what, currency, amount, reason } = booked;
  const [debit, credit] = byOwner[what];
  const posting = { debit, credit, asset: currency, amount } as const;
  return journal(`lightning-capital/${requestId}`, null, [posting], { what, reason });
};

/** What became of money that was taken for nobody. `to`: into the balance of its merchant, less our commission; null:
 *  it is the owner's own. */
export const lightningClaimJournal = (
  claimed: Pick<TakenInvoice, 'hash' | 'merchantId' | 'currency'> &
    Readonly<{ amount: string; to: Readonly<{ paymentId: string; net: string; commission: string }> | null }>,
): Journal => {
  const { hash, merchantId, currency: asset, amount, to } = claimed;
  const debit: Account = `L:unallocated:${merchantId}`;
  const key = `claimed/${hash}`;
  if (to === null) return journal(key, null, [{ debit, credit: 'Q:capital', asset, amount }]);
  const { paymentId, net, commission } = to;
  const entry = { type: 'payment_credit', sourceType: 'payment', sourceId: paymentId } as const;
  const postings = [
    { debit, credit: available(merchantId), asset, amount: net },
    { debit, credit: 'I:commission', asset, amount: commission },
  ] as const;
  return journal(key, entry, postings, { txId: hash });
};

/** J6 of what our node paid to an invoice: all of it, with what nodes on the way took, leaves its channels. What is
 *  less than a satoshi of that counts as one: the books never say that the node has more than it has. */
export const lightningCaptureJournal = (
  paid: Hold & Readonly<{ net: string; feeMsat: bigint; hash: string }>,
): Journal => {
  const { currency, feeMsat, hash } = paid;
  const chainFee = fromUnits((feeMsat + 999n) / 1000n, assetOf(currency).decimals);
  const captured = captureJournal({ ...paid, native: currency, chainFee, gasFrom: 'A:treasury', txId: hash });
  const byNode = ({ credit, ...posting }: Posting): Posting => ({
    ...posting,
    credit: credit === 'A:treasury' ? 'A:lightning' : credit,
  });
  return { ...captured, postings: captured.postings.map(byNode) };
};
