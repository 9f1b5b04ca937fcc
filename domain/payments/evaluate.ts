import {
  bookedDeposits,
  childDeposits,
  countedDeposits,
  crossDeposits,
  earlierChoices,
  idsOf,
  isLive,
  isMetBy,
  isOtherAsset,
  isOtherAssetComing,
  isOverpaid,
  isWholePrice,
  lostDeposits,
  missingRates,
  paidBy,
  rejectionOf,
  unbookedDeposits,
} from './counted';
import { type DepositFact, type Paid, type PaymentFacts, type Step } from './facts';
import { shareOf } from './payable';
import { type PaymentEventType, type PaymentException, type PaymentStatus } from './payment';

/** What every status looks at. */
type View = Readonly<{
  facts: PaymentFacts;
  counted: DepositFact[];
  live: DepositFact[];
  /** Confirmed deposits of another asset. */
  cross: DepositFact[];
  paid: Paid;
  isMet: boolean;
  isOver: boolean;
  /** No deposit in time can come any more. */
  isPast: boolean;
}>;

function viewOf(facts: PaymentFacts): View {
  const counted = countedDeposits(facts);
  const live = counted.filter(isLive);
  const paid = paidBy(facts, live);
  return {
    facts,
    counted,
    live,
    cross: crossDeposits(facts),
    paid,
    isMet: isMetBy(facts, live),
    isOver: isOverpaid(facts, paid),
    isPast: facts.scannedPastExpiry || facts.isChild,
  };
}

/** The next step of a payment: a row of docs/payment-states.md, or what must be done before one. While money of
 *  Lightning is being taken for it, what would change its status or its quote waits for the end of that; the books do
 *  not. Pure: the same facts, the same step. */
export function evaluate(facts: PaymentFacts): Step {
  const rates = missingRates(facts);
  if (rates && !(facts.isBeingTaken && rates.do === 'requote')) return rates;
  const gone = facts.deposits.filter(
    (deposit) => deposit.owner === facts.id && deposit.allocation === 'unallocated' && deposit.status !== 'confirmed',
  );
  if (gone.length) return { do: 'reverseUnallocated', depositIds: idsOf(gone) };
  const earlier = earlierChoices(facts);
  if (earlier.length) return { do: 'openChildren', depositIds: earlier, addExceptions: [] };
  // Every other step of a payment that waits would change what must stay.
  return facts.isBeingTaken ? otherAsset(facts) : byStatus[facts.status](viewOf(facts));
}

const byStatus: Readonly<Record<PaymentStatus, (view: View) => Step>> = {
  AWAITING_CURRENCY: (view) => (view.isPast ? expired(view) : { do: 'nothing' }),
  WAITING: evaluateWaiting,
  PARTIALLY_PAID: evaluatePartiallyPaid,
  CROSS_CHAIN_PENDING: evaluateCrossChainPending,
  CONFIRMING: evaluateConfirming,
  CONFIRMED: (view) => evaluateBooked(view, { do: 'queueSweep' }),
  SWEEP_QUEUED: (view) => evaluateBooked(view, { do: 'settle' }),
  SETTLED: evaluateSettled,
  EXPIRED: ({ facts }) => lateMoney(facts),
  CANCELLED: ({ facts }) => lateMoney(facts),
  FAILED: evaluateFailed,
};

function evaluateWaiting(view: View): Step {
  const { facts } = view;
  if (view.isMet) return fullyPaid(view);
  if (view.live.length) return moveTo(view, 'PARTIALLY_PAID', 'deposit-seen', ['payment.partially_paid']);
  if (view.cross.length) return crossPending(view);
  // Another asset that came in time may still get its confirmations.
  if (view.isPast && !isOtherAssetComing(facts)) return expired(view);
  return otherAsset(facts);
}

function evaluatePartiallyPaid(view: View): Step {
  const { facts, live } = view;
  if (view.isMet) return fullyPaid(view);
  if (live.length === 0) return depositLost(view);
  if (view.cross.length) return crossPending(view);
  if (!view.isPast) return atRest(view);
  if (facts.underpaidPolicy === 'accept')
    return moveTo(view, 'CONFIRMING', 'underpaid-accepted', ['payment.confirming'], {
      addExceptions: ['underpaid'],
      accept: shareOf(live),
    });
  return moveTo(view, 'FAILED', 'expired', ['payment.failed'], {
    addExceptions: ['underpaid'],
    unallocated: unbookedDeposits(live),
  });
}

function evaluateCrossChainPending(view: View): Step {
  const { facts, cross } = view;
  if (view.isMet) {
    // Row 22: the right asset came in full; the other becomes a payment of its own.
    if (cross.length) return { do: 'openChildren', depositIds: idsOf(cross), addExceptions: [] };
    return moveTo(view, 'CONFIRMING', 'deposit-seen', ['payment.detected', 'payment.confirming']);
  }
  if (cross.length === 0) return depositLost(view);
  const unbooked = cross.filter((deposit) => deposit.allocation === null);
  if (unbooked.length) return { do: 'bookOther', depositIds: idsOf(unbooked) };
  const offered = cross.filter((deposit) => deposit.currency === facts.offerCurrency);
  if (!offered.length) return { do: 'offer', depositIds: sameAsset(cross) };
  // What is there now decides, not what was there when the deadline was set.
  if (facts.autoAcceptAt && facts.now >= facts.autoAcceptAt)
    return isWholePrice(facts, offered) ? { do: 'acceptCross', depositIds: idsOf(offered) } : { do: 'leaveToMerchant' };
  if (!facts.autoAcceptAt && facts.now > facts.crossDeadline)
    return moveTo(view, 'FAILED', 'other-asset-not-accepted', ['payment.failed'], {
      addExceptions: rejectionOf(facts),
      unallocated: unbookedDeposits(view.live),
    });
  return atRest(view);
}

function evaluateConfirming(view: View): Step {
  const { facts, live, counted } = view;
  if (live.length === 0 || (facts.quoteAmount !== null && !view.isMet)) return depositLost(view);
  const confirmed = live.filter((deposit) => deposit.status === 'confirmed');
  // Money in a block that is not deep enough yet is waited for, so that one payment is not cut in two.
  const isComing = live.some((deposit) => deposit.status === 'mined');
  if (isMetBy(facts, confirmed) && !isComing) {
    const arrived = paidBy(facts, confirmed);
    return moveTo(view, 'CONFIRMED', 'confirmed', ['payment.confirmed'], {
      credit: unbookedDeposits(confirmed),
      reverse: lostDeposits(counted),
      paid: arrived,
      addExceptions: isOverpaid(facts, arrived) ? ['overpaid'] : [],
    });
  }
  if (facts.now > facts.confirmBy)
    return moveTo(view, 'FAILED', 'not-confirmed', ['payment.failed'], { reverse: bookedDeposits(counted) });
  return atRest(view);
}

/** CONFIRMED and SWEEP_QUEUED: row 16 and row 18 come before what the payment waits for. */
function evaluateBooked(view: View, otherwise: Step): Step {
  const lost = lostDeposits(view.counted);
  if (lost.length)
    return moveTo(view, 'CONFIRMING', 'deposit-lost', ['payment.reorged'], {
      addExceptions: ['reorged'],
      reverse: lost,
    });
  const late = lateMoney(view.facts);
  return late.do === 'nothing' ? otherwise : late;
}

function evaluateSettled({ facts, counted }: View): Step {
  const settled = counted.filter((deposit) => deposit.allocation === 'settled');
  const gone = settled.filter((deposit) => deposit.status !== 'confirmed' && !deposit.isLost);
  if (gone.length) return { do: 'alarm', depositIds: idsOf(gone) };
  const back = settled.filter((deposit) => deposit.status === 'confirmed' && deposit.isLost);
  if (back.length) return { do: 'recover', depositIds: idsOf(back) };
  return lateMoney(facts);
}

function evaluateFailed({ facts, counted }: View): Step {
  const unbooked = facts.exceptions.includes('underpaid') ? unbookedDeposits(counted) : [];
  return unbooked.length ? { do: 'leaveUnallocated', depositIds: unbooked } : lateMoney(facts);
}

// --- steps that several statuses take -----------------------------------------------------------------------------

function moveTo(
  { paid }: View,
  to: PaymentStatus,
  cause: string,
  events: PaymentEventType[],
  more: Partial<Extract<Step, { do: 'move' }>> = {},
): Step {
  const none = { addExceptions: [], credit: [], unallocated: [], reverse: [], accept: null, offer: null };
  return { do: 'move', to, cause, events, paid, ...none, ...more };
}

const expired = (view: View): Step => moveTo(view, 'EXPIRED', 'expired', ['payment.expired']);

/** Row 8. */
const fullyPaid = (view: View): Step =>
  moveTo(view, 'CONFIRMING', 'deposit-seen', ['payment.detected', 'payment.confirming'], {
    addExceptions: view.isOver ? ['overpaid'] : [],
  });

/** Row 19. */
const crossPending = (view: View): Step =>
  moveTo(view, 'CROSS_CHAIN_PENDING', 'other-asset', ['payment.cross_chain_pending'], {
    unallocated: idsOf(view.cross.filter((deposit) => deposit.allocation === null)),
    offer: sameAsset(view.cross),
  });

/** Of deposits of other assets, those of the asset that came first. */
const sameAsset = (cross: readonly DepositFact[]): string[] =>
  idsOf(cross.filter(({ currency }) => currency === cross[0]!.currency));

/** Rows 12 and 13. */
function depositLost(view: View): Step {
  const { counted, live } = view;
  const reverse = bookedDeposits(counted);
  const more = { addExceptions: ['reorged' as const], reverse };
  if (live.length === 0) {
    return view.isPast
      ? moveTo(view, 'EXPIRED', 'deposit-lost', ['payment.reorged', 'payment.expired'], more)
      : moveTo(view, 'WAITING', 'deposit-lost', ['payment.reorged'], more);
  }
  // No deposit is gone: one that was mined too late is worth less than before.
  if (counted.every(isLive))
    return moveTo(view, 'PARTIALLY_PAID', 'deposit-mined-late', ['payment.partially_paid'], { reverse });
  return moveTo(view, 'PARTIALLY_PAID', 'deposit-lost', ['payment.reorged', 'payment.partially_paid'], more);
}

/** The status stays: what came in another asset, and takes no part in it, is booked first. */
function atRest(view: View): Step {
  const other = otherAsset(view.facts);
  return other.do === 'nothing' ? note(view) : other;
}

/** What arrived may have changed; the status has not. */
function note({ facts, paid, isOver }: View): Step {
  const addExceptions: PaymentException[] = isOver && !facts.exceptions.includes('overpaid') ? ['overpaid'] : [];
  return { do: 'note', paid, addExceptions };
}

/** Row 18, of a payment that takes no more money. */
function lateMoney(facts: PaymentFacts): Step {
  // A deposit has one child, for ever: money that returns to a child that has ended waits in `unallocated`.
  if (facts.isChild) {
    const unbooked = unbookedDeposits(countedDeposits(facts));
    return unbooked.length ? { do: 'leaveUnallocated', depositIds: unbooked } : { do: 'nothing' };
  }
  const depositIds = childDeposits(facts);
  if (depositIds.length)
    return { do: 'openChildren', depositIds, addExceptions: facts.status === 'EXPIRED' ? ['paidLate'] : [] };
  return otherAsset(facts);
}

/** A confirmed deposit of another asset, which no row takes, waits in `unallocated`. */
function otherAsset(facts: PaymentFacts): Step {
  const unbooked = facts.deposits.filter(
    (deposit) =>
      deposit.owner === facts.id &&
      deposit.allocation === null &&
      !deposit.isDust &&
      deposit.status === 'confirmed' &&
      isOtherAsset(facts, deposit),
  );
  return unbooked.length ? { do: 'bookOther', depositIds: idsOf(unbooked) } : { do: 'nothing' };
}
