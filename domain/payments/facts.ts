import type { Rated, RatedDeposit } from './payable';
import { type PaymentStatus, type PaymentException, type PaymentEventType } from './payment';

export type DepositStatus = 'pool' | 'mined' | 'confirmed' | 'orphaned' | 'replaced' | 'void';
/** When an amount was first seen, and the rate it has. */
export type Moment = Readonly<{
  /** The moment whose rate it counts at: first seen, or its block's where it was mined too late for that. */
  rateMoment: Date;
  /** The moment of the rate it has; null while it has none. */
  ratedAt: Date | null;
}>;
/** A part of a deposit that an earlier transaction brought, which it replaced. `n` counts from 1. */
export type InheritedPart = Rated & Moment & Readonly<{ n: number; firstSeenAt: Date }>;
/** A part of a deposit, by its number; 0 is what the deposit brought itself. */
export type PartId = Readonly<{ depositId: string; n: number }>;

/** A deposit as `evaluate` sees it. `allocation`: its ledger account, null while nothing is posted. */
export type DepositFact = RatedDeposit &
  Moment &
  Readonly<{
    id: string;
    inherited: readonly InheritedPart[];
    txId: string;
    currency: string | null;
    isDust: boolean;
    status: DepositStatus;
    /** The first of it, in parts that it inherited too. */
    firstSeenAt: Date;
    allocation: 'own' | 'capital' | 'unsettled' | 'unallocated' | 'settled' | 'refunded' | null;
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
  /** The other asset whose price is kept for an acceptance. */
  offerCurrency: string | null;
  expiresAt: Date;
  /** When the current quote ends; null while there is none. */
  quoteExpiresAt: Date | null;
  isChild: boolean;
  now: Date;
  /** Every network on which money could come has been scanned past `expiresAt`, and the Lightning node has said that it
   *  has none. Invariants: 1.5. */
  scannedPastExpiry: boolean;
  /** After this a payment that is still not confirmed fails. Invariants: 3, row 14. */
  confirmBy: Date;
  /** After this another asset that nobody has accepted fails the payment. Row 21. */
  crossDeadline: Date;
  /** It is decided to take money that our Lightning node holds for it, or the node may have taken some in the time that
   *  a recovery has lost. Until that is over, status and quote stay. */
  isBeingTaken: boolean;
  deposits: readonly DepositFact[];
  exceptions: readonly PaymentException[];
}>;

/** The sum of deposits. `value`: fiat, each at its own rate, null where one has none; `amount`: all that the payer
 *  pays. */
export type Paid = Readonly<{ amountPaid: string; value: string | null; amount: string | null; txIds: string[] }>;

/** What the facts call for, one step at a time; after each step the facts are read again. */
export type Step =
  | {
      do: 'move';
      to: PaymentStatus;
      events: PaymentEventType[];
      paid: Paid;
      addExceptions: PaymentException[];
      cause: string;
      /** Deposits to credit to `unsettled` (J1), to book as `unallocated` (J8), or whose journal to reverse. */
      credit: string[];
      unallocated: string[];
      reverse: string[];
      /** This share counts as the whole price from now on. */
      accept: string | null;
      /** Deposits of one other asset, whose price is kept for an acceptance. */
      offer: string[] | null;
    }
  /** Confirmed deposits of another asset wait in `unallocated`, and are told of. */
  | { do: 'bookOther'; depositIds: string[] }
  /** Of the other asset that was on offer nothing is left: another one is on offer from now on. */
  | { do: 'offer'; depositIds: string[] }
  /** The deadline has found too little of the other asset: the merchant decides. */
  | { do: 'leaveToMerchant' }
  /** What arrived changed, the status did not. */
  | { do: 'note'; paid: Paid; addExceptions: PaymentException[] }
  /** Deposits, or parts of them, get the rate of the quote that was in force at their moment. */
  | { do: 'rate'; parts: PartId[] }
  /** A deposit came after the quote had ended: the missing part of the price gets a quote of that moment. */
  | { do: 'requote'; at: Date }
  /** Deposits that do not belong to this payment become payments of their own. */
  | { do: 'openChildren'; depositIds: string[]; addExceptions: PaymentException[] }
  | { do: 'leaveUnallocated'; depositIds: string[] }
  /** Unallocated deposits that are no longer confirmed: their journals are reversed. */
  | { do: 'reverseUnallocated'; depositIds: string[] }
  /** Another asset becomes the payment's own. Row 20. */
  | { do: 'acceptCross'; depositIds: string[] }
  /** A settled payment lost its deposit: incident, what leaves is frozen. */
  | { do: 'alarm'; depositIds: string[] }
  /** The chain has the lost deposit again: its loss is reversed. */
  | { do: 'recover'; depositIds: string[] }
  /** The payment is confirmed: row 15, where its sweep can be planned. */
  | { do: 'queueSweep' }
  /** Row 17, once its sweeps are final. */
  | { do: 'settle' }
  | { do: 'nothing' };
