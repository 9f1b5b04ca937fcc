import { assetOf } from '../chains/assets';
import { add, compare, isPositive } from '../money';
import type { ErrorCode } from '../errors';
import type { EventType } from '../webhooks/event-types';
import { neededShare, payableOf, shareOf, valueOf, type Rated } from './payable';

/** Contract: 3.1, G1. The order is the life of a payment. */
export const paymentStatuses = [
  'AWAITING_CURRENCY',
  'WAITING',
  'PARTIALLY_PAID',
  'CROSS_CHAIN_PENDING',
  'CONFIRMING',
  'CONFIRMED',
  'SWEEP_QUEUED',
  'SETTLED',
  'EXPIRED',
  'CANCELLED',
  'FAILED',
] as const;
export type PaymentStatus = (typeof paymentStatuses)[number];
export const finalStatuses: readonly PaymentStatus[] = ['SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED'];
export const isFinal = (status: PaymentStatus): boolean => finalStatuses.includes(status);

export type PaymentException = 'underpaid' | 'overpaid' | 'paidLate' | 'wrongCurrency' | 'reorged' | 'amlFlagged';

/** Contract: G4. One event per visible change. */
export type PaymentEventType = Extract<EventType, `payment.${string}`>;

/** A payment as Postgres keeps it; numerics are decimal strings, times are Dates. Column names are the table's. */
export type PaymentRow = {
  id: string;
  merchant_id: string;
  slug: string;
  status: PaymentStatus;
  state_version: number;
  exceptions: PaymentException[];
  source: 'api' | 'platform' | 'widget';
  idempotency_key: string | null;
  merchant_order_id: string | null;
  customer_id: string | null;
  extra_id: string | null;
  /** Raw JSON text, byte for byte as it came: select it as `metadata::text`. */
  metadata: string | null;
  order_id: string | null;
  ipn_callback_url: string | null;
  invoice_callback_url: string | null;
  invoice_cancel_url: string | null;
  fiat_amount: string;
  fiat_currency: string;
  fee_bearer: 'customer' | 'merchant';
  fee_bps: number;
  tolerance_pct: string;
  underpaid_policy: 'hold' | 'accept' | 'refund';
  currency: string | null;
  network: string | null;
  /** What the payer pays in all: what came, each part at its own quote, and the rest at the current one. */
  amount: string | null;
  /** Of the current quote; what was paid at: `exchangeRateOf` in domain/payments/payment-view.ts. */
  exchange_rate: string | null;
  /** The whole price at the current quote. */
  quote_amount: string | null;
  commission_amount: string | null;
  network_fee_amount: string | null;
  fee_amount: string | null;
  net_amount: string | null;
  rate_id: string | null;
  /** Units of `currency` per whole native unit of its network, at the quote. */
  native_rate: string | null;
  quoted_at: Date | null;
  /** Never after `expires_at`. */
  quote_expires_at: Date | null;
  required_confirmations: number | null;
  deposit_address: string | null;
  settlement_address: string | null;
  custody: 'platform' | 'external' | null;
  expires_at: Date;
  expires_in: number;
  amount_paid: string;
  /** Fiat value of what arrived, each deposit at its own rate; null: all of it at `exchange_rate`. */
  value_paid: string | null;
  tx_ids: string[];
  settled_fee_amount: string | null;
  settled_net_amount: string | null;
  settled_stamp_incomplete: boolean;
  sweep_state: 'queued' | 'broadcast' | 'confirmed' | null;
  sweep_tx_id: string | null;
  address_role: 'primary' | 'repeat';
  parent_payment_id: string | null;
  child_deposit_id: string | null;
  /** The share of the price that counts as the whole since less was accepted. */
  accepted_share: string | null;
  auto_accept_cross_chain_hours: number | null;
  cross_offer: CrossOffer | null;
  cross_chain_auto_accept_at: Date | null;
  original_currency: string | null;
  original_amount: string | null;
  confirmed_at: Date | null;
  settled_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

/** The price of another asset that came, when it was noticed. Decimal strings, as in `Price` of db/pricing/pricing.ts. */
export type CrossOffer = Readonly<{
  currency: string;
  rateId: string;
  exchangeRate: string;
  nativeRate: string;
  networkFee: string;
}>;

export type DepositStatus = 'pool' | 'mined' | 'confirmed' | 'orphaned' | 'replaced' | 'void';
/** A deposit as the judgement sees it. `home`: where the ledger put it, null while nothing is posted. */
export type DepositFact = Rated &
  Readonly<{
    id: string;
    txId: string;
    currency: string | null;
    isDust: boolean;
    status: DepositStatus;
    firstSeenAt: Date;
    /** The moment whose rate it counts at: first seen, or its block's where it was mined too late for that. */
    rateMoment: Date;
    /** The moment of the rate it has; null while it has none. */
    ratedAt: Date | null;
    home: 'own' | 'capital' | 'unsettled' | 'unallocated' | 'settled' | 'refunded' | null;
    /** The currency its address was made for. */
    addressCurrency: string | null;
    /** The payment that owns it: the address's own, or the child that took it. */
    owner: string;
    /** Its loss is in the books: J12. */
    isLost: boolean;
  }>;

export type PaymentFacts = Readonly<{
  id: string;
  status: PaymentStatus;
  currency: string | null;
  /** The whole price at the current quote; of a child, what it was opened with. */
  quoteAmount: string | null;
  tolerancePct: string;
  /** The share of the price that arrived, and was accepted all the same. */
  acceptedShare: string | null;
  underpaidPolicy: 'hold' | 'accept' | 'refund';
  /** When another asset is accepted by itself; null: never. */
  autoAcceptAt: Date | null;
  expiresAt: Date;
  isChild: boolean;
  now: Date;
  /** Every network on which money could come has been scanned past `expiresAt`. Invariants: 1.5. */
  scannedPastExpiry: boolean;
  /** After this a payment that is still not confirmed fails. Invariants: 3, row 14. */
  confirmBy: Date;
  /** After this another asset that nobody has accepted fails the payment. Row 21. */
  crossDeadline: Date;
  deposits: readonly DepositFact[];
  exceptions: readonly PaymentException[];
}>;

/** What deposits come to. `value`: fiat, each at its own rate, null where one has none; `amount`: what the payer pays in
 *  all. */
export type Paid = Readonly<{ amountPaid: string; value: string | null; amount: string | null; txIds: string[] }>;

/** What a look at the facts asks for, one step at a time; after each step the facts are read again. */
export type Step =
  | {
      do: 'move';
      to: PaymentStatus;
      events: PaymentEventType[];
      paid: Paid;
      addExceptions: PaymentException[];
      cause: string;
      /** Deposits to credit to `unsettled` (J1), to hold in `unallocated` (J8), or whose journal to mirror. */
      credit: string[];
      hold: string[];
      reverse: string[];
      /** This share counts as the whole price from now on. */
      accept: string | null;
      /** The deposit whose price is kept for an acceptance: another asset. */
      offer: string | null;
    }
  /** What arrived changed, the status did not. */
  | { do: 'note'; paid: Paid; addExceptions: PaymentException[] }
  /** Deposits without a place here become payments of their own. */
  | { do: 'adopt'; depositIds: string[]; addExceptions: PaymentException[] }
  | { do: 'hold'; depositIds: string[] }
  /** Held deposits that are no longer confirmed: their journals are mirrored. */
  | { do: 'release'; depositIds: string[] }
  /** Another asset becomes the payment's own. Row 20. */
  | { do: 'acceptCross'; depositIds: string[] }
  /** A settled payment lost its deposit: incident, egress frozen. */
  | { do: 'alarm'; depositIds: string[] }
  /** What an alarm was about is back: its loss is mirrored. */
  | { do: 'recover'; depositIds: string[] }
  | { do: 'nothing' };

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

/** The moment after which a payment that is not confirmed fails. */
export const confirmDeadline = (expiresAt: Date, confirmLimitSeconds: number): Date =>
  new Date(expiresAt.getTime() + confirmLimitSeconds * 1000);

/** The moment after which another asset that nobody accepted fails its payment. */
export const crossDeadline = (expiresAt: Date): Date => new Date(expiresAt.getTime() + 24 * 3_600_000);

/** Legal moves by status, for guards and model tests. Invariants: 3. */
export const legalMoves: Readonly<Record<PaymentStatus, readonly PaymentStatus[]>> = {
  AWAITING_CURRENCY: ['WAITING', 'CANCELLED', 'EXPIRED'],
  WAITING: ['WAITING', 'CANCELLED', 'EXPIRED', 'PARTIALLY_PAID', 'CONFIRMING', 'CROSS_CHAIN_PENDING'],
  PARTIALLY_PAID: ['CONFIRMING', 'FAILED', 'WAITING', 'EXPIRED', 'CROSS_CHAIN_PENDING'],
  CROSS_CHAIN_PENDING: ['CONFIRMING', 'FAILED', 'WAITING', 'EXPIRED', 'PARTIALLY_PAID'],
  CONFIRMING: ['CONFIRMED', 'PARTIALLY_PAID', 'WAITING', 'EXPIRED', 'FAILED'],
  CONFIRMED: ['SWEEP_QUEUED', 'CONFIRMING'],
  SWEEP_QUEUED: ['SETTLED', 'CONFIRMING'],
  SETTLED: [],
  EXPIRED: [],
  CANCELLED: [],
  FAILED: [],
};

/** What is still missing until the amount is paid; '0' when nothing is. */
export function remaining(amount: string | null, paid: string): string {
  if (amount === null || compare(amount, paid) <= 0) return '0';
  return add(amount, `-${paid}`);
}
/** What came above the amount; '0' when nothing did. */
export function excess(amount: string | null, paid: string): string {
  if (amount === null || !isPositive(paid) || compare(paid, amount) <= 0) return '0';
  return add(paid, `-${amount}`);
}
/** Registered dust threshold of a currency; unknown currencies are always dust. */
export const dustOf = (currency: string | null): string | null => (currency === null ? null : assetOf(currency).dust);

/** Where a payment stands, for the query and the workflow's next step. `lookAgainInMs`: when nothing happens, look again then. */
export type Standing = Readonly<{ status: PaymentStatus; stateVersion: number; lookAgainInMs: number }>;
/** The answer of an update: what was refused is refused by code, never by a failed workflow. */
export type Outcome = Readonly<{ status: PaymentStatus; refused?: ErrorCode }>;
