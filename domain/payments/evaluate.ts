import { add, compare } from '../money';
import { type DepositFact, type PaymentFacts, type Paid, type Step } from './facts';
import { valueOf, payableOf, shareOf, neededShare } from './payable';
import { type PaymentStatus, type PaymentEventType, type PaymentException } from './payment';

export const isLive = (deposit: Pick<DepositFact, 'status'>): boolean =>
  ['pool', 'mined', 'confirmed'].includes(deposit.status);
const total = (deposits: readonly DepositFact[]): string => add('0', ...deposits.map((deposit) => deposit.amount));
const ids = (deposits: readonly DepositFact[]): string[] => deposits.map((deposit) => deposit.id);
const txIdsOf = (deposits: readonly DepositFact[]): string[] => [...new Set(deposits.map((deposit) => deposit.txId))];
/** Deposits that count towards the payment: of its currency, above dust, seen in time, not another payment's. */

export const countedDeposits = (facts: PaymentFacts): DepositFact[] =>
  facts.deposits.filter(
    (deposit) =>
      deposit.owner === facts.id &&
      deposit.home !== 'own' &&
      !deposit.isDust &&
      deposit.currency === facts.currency &&
      deposit.home !== 'unallocated' &&
      deposit.home !== 'refunded' &&
      (facts.isChild || deposit.home !== null || deposit.firstSeenAt <= facts.expiresAt),
  );
/** What these deposits come to; the amount is the first asked for again where there are none. */

export function paidBy(facts: Pick<PaymentFacts, 'quoteAmount' | 'currency'>, deposits: readonly DepositFact[]): Paid {
  const inOrder = [...deposits].sort((a, b) => a.firstSeenAt.getTime() - b.firstSeenAt.getTime());
  return {
    amountPaid: total(deposits),
    value: valueOf(deposits),
    amount: facts.quoteAmount && facts.currency ? payableOf(facts.quoteAmount, facts.currency, inOrder) : null,
    txIds: txIdsOf(deposits),
  };
}
/** Whether these deposits meet the price, each at its own rate: all of it but the tolerance, or what was accepted. */

export const isMetBy = (facts: PaymentFacts, deposits: readonly DepositFact[]): boolean =>
  deposits.length > 0 &&
  facts.quoteAmount !== null &&
  compare(shareOf(deposits), facts.isChild ? '1' : (facts.acceptedShare ?? neededShare(facts.tolerancePct))) >= 0;
/** Deposits that need a rate before anything is judged, oldest moment first: those without one, and those mined too late
 *  for the one they have. What is in the books keeps its rate. A child has the rate it was opened with. */

export function unratedDeposits(facts: PaymentFacts): DepositFact[] {
  if (facts.isChild || !['WAITING', 'PARTIALLY_PAID', 'CROSS_CHAIN_PENDING', 'CONFIRMING'].includes(facts.status))
    return [];
  return countedDeposits(facts)
    .filter(isLive)
    .filter(({ ratedAt, rateMoment, home }) =>
      ratedAt === null ? true : home === null && ratedAt.getTime() !== rateMoment.getTime(),
    )
    .sort((a, b) => a.rateMoment.getTime() - b.rateMoment.getTime());
}
/** The next legal move of docs/payment-states.md that the facts call for. Pure: the same facts, the same step. */

export function judge(facts: PaymentFacts): Step {
  const counted = countedDeposits(facts);
  const live = counted.filter(isLive);
  const past = facts.scannedPastExpiry || facts.isChild;
  const isMet = isMetBy(facts, live);
  const isOver = (paid: Paid): boolean =>
    paid.amount !== null && !facts.isChild && compare(paid.amountPaid, paid.amount) > 0;
  const paid = paidBy(facts, live);
  const overpaid = isOver(paid);

  const moveTo = (
    to: PaymentStatus,
    cause: string,
    events: PaymentEventType[],
    more: Partial<Extract<Step, { do: 'move' }>> = {},
  ): Step => ({
    do: 'move',
    to,
    cause,
    events,
    paid,
    addExceptions: [],
    credit: [],
    hold: [],
    reverse: [],
    accept: null,
    offer: null,
    ...more,
  });
  const lost = (): Step => {
    const more = { addExceptions: ['reorged' as const], reverse: posted(counted) };
    if (live.length === 0) {
      return past
        ? moveTo('EXPIRED', 'deposit-lost', ['payment.reorged', 'payment.expired'], more)
        : moveTo('WAITING', 'deposit-lost', ['payment.reorged'], more);
    }
    // Nothing is gone: what was mined too late is worth less than it was.
    if (counted.every(isLive))
      return moveTo('PARTIALLY_PAID', 'deposit-mined-late', ['payment.partially_paid'], { reverse: posted(counted) });
    return moveTo('PARTIALLY_PAID', 'deposit-lost', ['payment.reorged', 'payment.partially_paid'], more);
  };

  const cross = crossDeposits(facts);
  const crossPending = (): Step =>
    moveTo('CROSS_CHAIN_PENDING', 'other-asset', ['payment.cross_chain_pending'], {
      hold: ids(cross.filter((deposit) => deposit.home === null)),
      offer: cross[0]!.id,
    });

  const released = facts.deposits.filter(
    (deposit) => deposit.owner === facts.id && deposit.home === 'unallocated' && deposit.status !== 'confirmed',
  );
  if (released.length) return { do: 'release', depositIds: ids(released) };

  switch (facts.status) {
    case 'AWAITING_CURRENCY':
      return past ? moveTo('EXPIRED', 'expired', ['payment.expired']) : { do: 'nothing' };

    case 'WAITING': {
      const strays = strayDeposits(facts);
      if (strays.length) return { do: 'adopt', depositIds: strays, addExceptions: [] };
      if (isMet) {
        return moveTo('CONFIRMING', 'deposit-seen', ['payment.detected', 'payment.confirming'], {
          addExceptions: overpaid ? ['overpaid'] : [],
        });
      }
      if (live.length) return moveTo('PARTIALLY_PAID', 'deposit-seen', ['payment.partially_paid']);
      if (cross.length) return crossPending();
      // What came in time in another asset is waited for until it is deep enough.
      if (past && !isOtherAssetComing(facts)) return moveTo('EXPIRED', 'expired', ['payment.expired']);
      return wrongAsset(facts);
    }

    case 'PARTIALLY_PAID':
      if (isMet) {
        return moveTo('CONFIRMING', 'deposit-seen', ['payment.detected', 'payment.confirming'], {
          addExceptions: overpaid ? ['overpaid'] : [],
        });
      }
      if (live.length === 0) return lost();
      if (cross.length) return crossPending();
      if (past && facts.underpaidPolicy === 'accept') {
        return moveTo('CONFIRMING', 'underpaid-accepted', ['payment.confirming'], {
          addExceptions: ['underpaid'],
          accept: shareOf(live),
        });
      }
      if (past) {
        return moveTo('FAILED', 'expired', ['payment.failed'], {
          addExceptions: ['underpaid'],
          hold: homeless(live),
        });
      }
      return noteOf(facts, paid, overpaid);

    case 'CROSS_CHAIN_PENDING': {
      if (isMet) {
        // Row 22: the right asset came in full; the other becomes a payment of its own.
        if (cross.length) return { do: 'adopt', depositIds: ids(cross), addExceptions: [] };
        return moveTo('CONFIRMING', 'deposit-seen', ['payment.detected', 'payment.confirming']);
      }
      if (cross.length === 0) return lost();
      if (facts.autoAcceptAt && facts.now >= facts.autoAcceptAt) return { do: 'acceptCross', depositIds: ids(cross) };
      if (!facts.autoAcceptAt && facts.now > facts.crossDeadline) {
        return moveTo('FAILED', 'other-asset-not-accepted', ['payment.failed'], {
          addExceptions: rejectionOf(facts),
          hold: homeless(live),
        });
      }
      return noteOf(facts, paid, overpaid);
    }

    case 'CONFIRMING': {
      const confirmed = live.filter((deposit) => deposit.status === 'confirmed');
      if (live.length === 0 || (facts.quoteAmount !== null && !isMet)) return lost();
      // Money that is in a block but not deep enough yet is waited for, so that one payment is not cut in two.
      const settling = live.some((deposit) => deposit.status === 'mined');
      if (isMetBy(facts, confirmed) && !settling) {
        const arrived = paidBy(facts, confirmed);
        return moveTo('CONFIRMED', 'confirmed', ['payment.confirmed'], {
          credit: ids(confirmed.filter((deposit) => deposit.home === null)),
          reverse: toReverse(counted),
          paid: arrived,
          addExceptions: isOver(arrived) ? ['overpaid'] : [],
        });
      }
      if (facts.now > facts.confirmBy)
        return moveTo('FAILED', 'not-confirmed', ['payment.failed'], { reverse: posted(counted) });
      return noteOf(facts, paid, overpaid);
    }

    case 'CONFIRMED':
    case 'SWEEP_QUEUED': {
      const gone = toReverse(counted);
      if (gone.length) {
        return moveTo('CONFIRMING', 'deposit-lost', ['payment.reorged'], { addExceptions: ['reorged'], reverse: gone });
      }
      return strays(facts);
    }

    case 'SETTLED': {
      const gone = counted.filter(
        (deposit) => deposit.home === 'settled' && deposit.status !== 'confirmed' && !deposit.isLost,
      );
      if (gone.length) return { do: 'alarm', depositIds: ids(gone) };
      const back = counted.filter(
        (deposit) => deposit.home === 'settled' && deposit.status === 'confirmed' && deposit.isLost,
      );
      if (back.length) return { do: 'recover', depositIds: ids(back) };
      return strays(facts);
    }

    case 'FAILED': {
      const underpaid = facts.exceptions.includes('underpaid');
      const held = underpaid ? homeless(counted) : [];
      return held.length ? { do: 'hold', depositIds: held } : strays(facts);
    }

    default:
      return strays(facts);
  }
}
/** What a payment says of itself when another asset is rejected: a part that came in its own coin is held too, as in row 10. Row 21. */

export const rejectionOf = (facts: PaymentFacts): PaymentException[] => [
  'wrongCurrency',
  ...(countedDeposits(facts).some(isLive) ? ['underpaid' as const] : []),
];
/** Deposits that a payment gives back when it can no longer be confirmed with them: others may take them. */
const posted = (counted: readonly DepositFact[]): string[] =>
  ids(counted.filter((deposit) => deposit.home === 'unsettled'));
const homeless = (counted: readonly DepositFact[]): string[] =>
  ids(counted.filter((deposit) => deposit.status === 'confirmed' && deposit.home === null));
/** Posted deposits that are no longer confirmed: their journals are mirrored. */
const toReverse = (counted: readonly DepositFact[]): string[] =>
  ids(counted.filter((deposit) => deposit.home === 'unsettled' && deposit.status !== 'confirmed'));
function noteOf(facts: PaymentFacts, paid: Paid, overpaid: boolean): Step {
  const addExceptions: PaymentException[] = overpaid && !facts.exceptions.includes('overpaid') ? ['overpaid'] : [];
  return { do: 'note', paid, addExceptions };
}
/** Deposits that arrived for this payment but have no place in it: they get payments of their own. Row 18. */
function strayDeposits(facts: PaymentFacts): string[] {
  const isOpenForMoney = ['WAITING', 'PARTIALLY_PAID', 'CONFIRMING'].includes(facts.status);
  const underpaid = facts.status === 'FAILED' && facts.exceptions.includes('underpaid');
  return ids(
    facts.deposits.filter((deposit) => {
      if (deposit.owner !== facts.id || deposit.home !== null || deposit.isDust || !isLive(deposit)) return false;
      if (deposit.currency === null) return false;
      // Another asset waits for a decision, unless it has become the payment's own since.
      if (deposit.currency !== deposit.addressCurrency && deposit.currency !== facts.currency) return false;
      // Money to an address of an earlier choice of currency.
      if (deposit.currency !== facts.currency) return true;
      if (isOpenForMoney) return false;
      return !(underpaid && deposit.firstSeenAt <= facts.expiresAt);
    }),
  );
}
function strays(facts: PaymentFacts): Step {
  // A deposit has one child, for ever: what comes back to a child that has ended waits in `unallocated`.
  if (facts.isChild) {
    const held = homeless(countedDeposits(facts));
    return held.length ? { do: 'hold', depositIds: held } : { do: 'nothing' };
  }
  const depositIds = strayDeposits(facts);
  if (depositIds.length) {
    return { do: 'adopt', depositIds, addExceptions: facts.status === 'EXPIRED' ? ['paidLate'] : [] };
  }
  return wrongAsset(facts);
}
/** Money of another asset than its address was made for, seen in time: not yet somebody else's, and above dust. */
const otherAsset = (facts: PaymentFacts): DepositFact[] =>
  facts.deposits.filter(
    (deposit) =>
      deposit.owner === facts.id &&
      !deposit.isDust &&
      deposit.currency !== null &&
      deposit.currency !== deposit.addressCurrency &&
      deposit.currency !== facts.currency &&
      (deposit.home === null || deposit.home === 'unallocated') &&
      deposit.firstSeenAt <= facts.expiresAt,
  );
/** The same at depth: rows 19 to 22. */
export const crossDeposits = (facts: PaymentFacts): DepositFact[] =>
  facts.isChild ? [] : otherAsset(facts).filter((deposit) => deposit.status === 'confirmed');
const isOtherAssetComing = (facts: PaymentFacts): boolean =>
  !facts.isChild && otherAsset(facts).some((deposit) => deposit.status === 'mined');
/** Another asset at depth, with no currency of its own here, waits in `unallocated`. */
function wrongAsset(facts: PaymentFacts): Step {
  const depositIds = ids(
    facts.deposits.filter(
      (deposit) =>
        deposit.owner === facts.id &&
        deposit.home === null &&
        !deposit.isDust &&
        deposit.status === 'confirmed' &&
        deposit.currency !== null &&
        deposit.currency !== deposit.addressCurrency &&
        deposit.currency !== facts.currency,
    ),
  );
  return depositIds.length ? { do: 'hold', depositIds } : { do: 'nothing' };
}
