import { transactionsOf } from '../chains/balance-deposit';
import { add, compare } from '../money';
import { type DepositFact, type Moment, type PaymentFacts, type Paid, type PartId, type Step } from './facts';
import { valueOf, payableOf, shareOf, neededShare } from './payable';
import { type PaymentException } from './payment';

/** Which deposits a payment counts, which it waits for, and which belong elsewhere. Pure. */

export const isLive = (deposit: Pick<DepositFact, 'status'>): boolean =>
  ['pool', 'mined', 'confirmed'].includes(deposit.status);

const total = (deposits: readonly DepositFact[]): string => add('0', ...deposits.map((deposit) => deposit.amount));
/** Transactions that brought these deposits; what was found by balance names none. */
const txIdsOf = (deposits: readonly DepositFact[]): string[] => transactionsOf(deposits.map((deposit) => deposit.txId));
export const idsOf = (deposits: readonly DepositFact[]): string[] => deposits.map((deposit) => deposit.id);

/** Deposits that count towards the payment: of its currency, above dust, seen in time, not another payment's. */
export const countedDeposits = (facts: PaymentFacts): DepositFact[] =>
  facts.deposits.filter(
    (deposit) =>
      deposit.owner === facts.id &&
      deposit.allocation !== 'own' &&
      !deposit.isDust &&
      deposit.currency === facts.currency &&
      deposit.allocation !== 'unallocated' &&
      deposit.allocation !== 'refunded' &&
      (facts.isChild || deposit.allocation !== null || deposit.firstSeenAt <= facts.expiresAt),
  );

/** The sum of these deposits. Without deposits, `amount` is the quote's. */
export function paidBy(facts: Pick<PaymentFacts, 'quoteAmount' | 'currency'>, deposits: readonly DepositFact[]): Paid {
  const inOrder = [...deposits].sort((a, b) => a.firstSeenAt.getTime() - b.firstSeenAt.getTime());
  return {
    amountPaid: total(deposits),
    value: valueOf(deposits),
    amount: facts.quoteAmount && facts.currency ? payableOf(facts.quoteAmount, facts.currency, inOrder) : null,
    txIds: txIdsOf(deposits),
  };
}

/** Whether these deposits meet the price, each at its own rate: all of it but the tolerance, or the accepted share. */
export const isMetBy = (facts: PaymentFacts, deposits: readonly DepositFact[]): boolean =>
  deposits.length > 0 &&
  facts.quoteAmount !== null &&
  compare(shareOf(deposits), facts.isChild ? '1' : (facts.acceptedShare ?? neededShare(facts.tolerancePct))) >= 0;

/** Whether these deposits, of another asset, cover the price without the merchant's acceptance. */
export const isWholePrice = ({ tolerancePct }: PaymentFacts, deposits: readonly DepositFact[]): boolean =>
  compare(shareOf(deposits), neededShare(tolerancePct)) >= 0;

export const isOverpaid = (facts: PaymentFacts, paid: Paid): boolean =>
  paid.amount !== null && !facts.isChild && compare(paid.amountPaid, paid.amount) > 0;

/** What needs a rate before anything else is decided, oldest moment first: deposits, or parts of them, without one, and
 *  those mined too late for the one they have. A booked deposit keeps its rate. A child has the rate it was opened
 *  with. */
export function unratedParts(facts: PaymentFacts): Array<PartId & Moment> {
  if (facts.isChild || !['WAITING', 'PARTIALLY_PAID', 'CROSS_CHAIN_PENDING', 'CONFIRMING'].includes(facts.status))
    return [];
  return countedDeposits(facts)
    .filter(isLive)
    .flatMap(({ id: depositId, allocation, inherited, rateMoment, ratedAt }) =>
      [{ n: 0, rateMoment, ratedAt }, ...inherited].map((part) => ({ ...part, depositId, allocation })),
    )
    .filter(({ ratedAt, rateMoment, allocation }) =>
      ratedAt === null ? true : allocation === null && ratedAt.getTime() !== rateMoment.getTime(),
    )
    .sort((a, b) => a.rateMoment.getTime() - b.rateMoment.getTime());
}

/** The rates that are missing. What came after the quote had ended gets a new quote first, from its moment on; what
 *  came before it is rated by the quotes that exist. Row 6; null when everything has its rate. */
export function missingRates(facts: PaymentFacts): Extract<Step, { do: 'rate' | 'requote' }> | null {
  const unrated = unratedParts(facts);
  if (!unrated.length) return null;
  const { quoteExpiresAt, expiresAt, status } = facts;
  const firstAfterQuote = unrated.findIndex(
    ({ rateMoment }) =>
      status !== 'CROSS_CHAIN_PENDING' &&
      quoteExpiresAt !== null &&
      rateMoment > quoteExpiresAt &&
      rateMoment < expiresAt,
  );
  if (firstAfterQuote === 0) return { do: 'requote', at: unrated[0]!.rateMoment };
  const parts = firstAfterQuote > 0 ? unrated.slice(0, firstAfterQuote) : unrated;
  return { do: 'rate', parts: parts.map(({ depositId, n }) => ({ depositId, n })) };
}

/** Booked deposits (J1) that return to the address when the payment can no longer be confirmed with them. */
export const bookedDeposits = (counted: readonly DepositFact[]): string[] =>
  idsOf(counted.filter((deposit) => deposit.allocation === 'unsettled'));

/** Confirmed deposits that no ledger account has yet. */
export const unbookedDeposits = (counted: readonly DepositFact[]): string[] =>
  idsOf(counted.filter((deposit) => deposit.status === 'confirmed' && deposit.allocation === null));

/** Booked deposits that are no longer confirmed: their journals are reversed. */
export const lostDeposits = (counted: readonly DepositFact[]): string[] =>
  idsOf(counted.filter((deposit) => deposit.allocation === 'unsettled' && deposit.status !== 'confirmed'));

/** Deposits that arrived for a payment that takes no more money: they become child payments. Row 18. */
export function childDeposits(facts: PaymentFacts): string[] {
  const underpaid = facts.status === 'FAILED' && facts.exceptions.includes('underpaid');
  return idsOf(
    facts.deposits.filter(
      (deposit) =>
        mayBeChild(facts, deposit) &&
        (deposit.currency !== facts.currency || !(underpaid && deposit.firstSeenAt <= facts.expiresAt)),
    ),
  );
}

/** Deposits to addresses of earlier choices of currency, of a payment that still takes money: they become child
 *  payments at once, whatever it waits for. Row 18. */
export const earlierChoices = (facts: PaymentFacts): string[] =>
  facts.isChild || !['WAITING', 'PARTIALLY_PAID', 'CROSS_CHAIN_PENDING', 'CONFIRMING'].includes(facts.status)
    ? []
    : idsOf(facts.deposits.filter((one) => mayBeChild(facts, one) && one.currency !== facts.currency));

/** It is nobody's yet. Another asset waits for a decision, unless it has become the payment's own since. */
const mayBeChild = (facts: PaymentFacts, deposit: DepositFact): boolean =>
  deposit.owner === facts.id &&
  deposit.allocation === null &&
  !deposit.isDust &&
  isLive(deposit) &&
  deposit.currency !== null &&
  !isOtherAsset(facts, deposit);

/** Money of another asset than its address was made for: seen in time, above dust, and not another payment's. */
const otherAssetDeposits = (facts: PaymentFacts): DepositFact[] =>
  facts.deposits.filter(
    (deposit) =>
      deposit.owner === facts.id &&
      !deposit.isDust &&
      isOtherAsset(facts, deposit) &&
      (deposit.allocation === null || deposit.allocation === 'unallocated') &&
      deposit.firstSeenAt <= facts.expiresAt,
  );

export const isOtherAsset = (facts: PaymentFacts, deposit: DepositFact): boolean =>
  deposit.currency !== null && deposit.currency !== deposit.addressCurrency && deposit.currency !== facts.currency;

/** Confirmed deposits of another asset: rows 19 to 22. */
export const crossDeposits = (facts: PaymentFacts): DepositFact[] =>
  facts.isChild ? [] : otherAssetDeposits(facts).filter((deposit) => deposit.status === 'confirmed');

export const isOtherAssetComing = (facts: PaymentFacts): boolean =>
  !facts.isChild && otherAssetDeposits(facts).some((deposit) => deposit.status === 'mined');

/** The exceptions of a payment whose other asset is rejected: a part that came in its own coin stays unallocated too,
 *  as in row 10. Row 21. */
export const rejectionOf = (facts: PaymentFacts): PaymentException[] => [
  'wrongCurrency',
  ...(countedDeposits(facts).some(isLive) ? ['underpaid' as const] : []),
];
