import type { PaymentEventType, PaymentStatus } from './payment';

/** One row of the payment state machine. Texts are Markdown for docs/payment-states.md, which is generated from these
 *  rows. */
export type StateRow = Readonly<{
  row: number;
  /** Empty: the payment does not exist yet. */
  from: readonly PaymentStatus[];
  /** `unchanged`: the status stays, something else of the payment changes. */
  to: readonly PaymentStatus[] | 'unchanged';
  cause: string;
  guard?: string;
  effect: string;
  events: readonly PaymentEventType[];
}>;

/** The only legal changes of a payment. Code and tests cite them as `Row n`. `legalMoves` in
 *  domain/payments/payment.ts allows the same moves, and the guard in the database refuses all others. */
export const stateRows: readonly StateRow[] = [
  {
    row: 1,
    from: [],
    to: ['WAITING'],
    cause: 'The merchant creates a payment with a currency',
    guard:
      'Merchant and wallet are active, the price reaches the least order, the quota of open payments has room, and a ' +
      'fresh rate exists.',
    effect: 'The payment gets a deposit address of its own and a quote.',
    events: ['payment.created'],
  },
  {
    row: 2,
    from: [],
    to: ['AWAITING_CURRENCY'],
    cause: 'The merchant creates a payment without a currency',
    guard: 'The merchant is active, and the quota of open payments has room.',
    effect: 'Only the invoice page exists. An address and a quote follow with row 3.',
    events: ['payment.created'],
  },
  {
    row: 3,
    from: ['AWAITING_CURRENCY', 'WAITING'],
    to: ['WAITING'],
    cause: 'Payer or merchant selects a currency, or the Lightning invoice of a payment in `BTC` is paid first',
    guard:
      'No deposit is seen, the payment has not expired, the price reaches the least order of that currency, and it ' +
      'has drawn fewer than ten addresses or has one of that asset.',
    effect:
      'The payment gets a quote in the selected currency and its address, a new one only at the first choice of that ' +
      'asset. Earlier addresses stay watched. One that is paid by Lightning keeps its quote, without a network fee.',
    events: ['payment.currency_selected'],
  },
  {
    row: 4,
    from: ['AWAITING_CURRENCY', 'WAITING'],
    to: ['CANCELLED'],
    cause: 'Payer or merchant cancels',
    guard:
      'No deposit above dust is seen. Where a cancel and a deposit come at once, one of the two counts. The service ' +
      'itself cancels a new payment in `BTC_LN` for which no Lightning invoice comes in time.',
    effect: 'The address stays watched (row 18).',
    events: ['payment.cancelled'],
  },
  {
    row: 5,
    from: ['AWAITING_CURRENCY', 'WAITING'],
    to: ['EXPIRED'],
    cause: 'The payment expires unpaid',
    guard:
      'The chain has been scanned past `expiresAt`, and no deposit was seen in time. An invoice of Lightning is over.',
    effect: 'The address stays watched (row 18).',
    events: ['payment.expired'],
  },
  {
    row: 6,
    from: ['WAITING', 'PARTIALLY_PAID'],
    to: 'unchanged',
    cause: 'The payer asks for a new quote',
    guard: 'The quote has ended and the payment has not expired. A GET request never renews a quote.',
    effect: 'The missing part of the price gets a new rate. The new quote ends no later than the payment.',
    events: [],
  },
  {
    row: 7,
    from: ['WAITING'],
    to: ['PARTIALLY_PAID'],
    cause: 'A deposit is seen that covers a part of the price',
    guard: 'The value seen is above zero and below the need.',
    effect: 'The deposit keeps its rate. The payment can no longer be cancelled.',
    events: ['payment.partially_paid'],
  },
  {
    row: 8,
    from: ['WAITING', 'PARTIALLY_PAID'],
    to: ['CONFIRMING'],
    cause: 'A deposit is seen that completes the price',
    guard: 'The value seen reaches the need.',
    effect: 'The exception `overpaid` is added where the value is above the price.',
    events: ['payment.detected', 'payment.confirming'],
  },
  {
    row: 9,
    from: ['PARTIALLY_PAID'],
    to: ['CONFIRMING'],
    cause: 'The merchant accepts the part, or the payment expires under the policy `accept`',
    effect: 'The amount that arrived counts as the whole amount. The exception `underpaid` is added.',
    events: ['payment.confirming'],
  },
  {
    row: 10,
    from: ['PARTIALLY_PAID'],
    to: ['FAILED'],
    cause: 'The payment expires partly paid',
    guard: 'The chain has been scanned past `expiresAt`, and the policy is `hold` or `refund`.',
    effect:
      'The exception `underpaid` is added and the deposits stay unallocated. The policy `refund` opens a refund. ' +
      'When the merchant accepts the part later, the parent stays `FAILED` and child payments take the deposits.',
    events: ['payment.failed'],
  },
  {
    row: 11,
    from: ['CONFIRMING'],
    to: ['CONFIRMED'],
    cause: 'The deposits have their confirmations',
    guard:
      'Confirmed deposits reach the need, or the accepted amount. No deposit of the payment waits in a block. Each ' +
      'transaction was read again in its block, and has succeeded.',
    effect: 'The deposits are booked and the payment is screened.',
    events: ['payment.confirmed'],
  },
  {
    row: 12,
    from: ['CONFIRMING', 'PARTIALLY_PAID', 'CROSS_CHAIN_PENDING'],
    to: ['PARTIALLY_PAID'],
    cause: 'A deposit is replaced, conflicted or orphaned, and a part remains',
    guard: 'The value still seen is above zero and below the need.',
    effect: 'The exception `reorged` is added. Past the expiry, row 10 follows.',
    events: ['payment.reorged', 'payment.partially_paid'],
  },
  {
    row: 13,
    from: ['CONFIRMING', 'PARTIALLY_PAID', 'CROSS_CHAIN_PENDING'],
    to: ['WAITING', 'EXPIRED'],
    cause: 'A deposit is replaced, conflicted or orphaned, and nothing remains',
    guard: 'No deposit is seen any more. `EXPIRED` where the chain has been scanned past `expiresAt`, else `WAITING`.',
    effect: 'The exception `reorged` is added.',
    events: ['payment.reorged', 'payment.expired'],
  },
  {
    row: 14,
    from: ['CONFIRMING'],
    to: ['FAILED'],
    cause: 'The deposits do not confirm in time',
    guard: '24 hours after `expiresAt` (14 days on Bitcoin and its descendants), the need is not confirmed.',
    effect: 'A deposit that confirms later becomes a child payment (row 18).',
    events: ['payment.failed'],
  },
  {
    row: 15,
    from: ['CONFIRMED'],
    to: ['SWEEP_QUEUED'],
    cause: 'A sweep is planned',
    guard: 'The deposits are worth more than their sweep; otherwise the payment waits for a batch or a lower price.',
    effect: 'A transfer from the deposit address to the settlement address is planned.',
    events: ['payment.sweep_queued'],
  },
  {
    row: 16,
    from: ['CONFIRMED', 'SWEEP_QUEUED'],
    to: ['CONFIRMING'],
    cause: 'A reorganisation removes a booked deposit',
    effect: 'The booking of that deposit is taken back and `reorged` is added. A sweep that is signed stays watched.',
    events: ['payment.reorged'],
  },
  {
    row: 17,
    from: ['SWEEP_QUEUED'],
    to: ['SETTLED'],
    cause: 'All sweeps of the payment are final',
    guard:
      'The sweeps moved the deposits less the chain fee. A dropped, stuck or reverted sweep leaves the payment here ' +
      'and alerts operators.',
    effect:
      'Your balance is credited, or the money is in your own wallet. The fee is computed again, and the figures are ' +
      'on the basis `settled`.',
    events: ['payment.settled'],
  },
  {
    row: 18,
    from: [
      ...(['WAITING', 'PARTIALLY_PAID', 'CROSS_CHAIN_PENDING', 'CONFIRMING'] as const),
      ...(['CONFIRMED', 'SWEEP_QUEUED', 'SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED'] as const),
    ],
    to: 'unchanged',
    cause: 'Another deposit arrives: repeated, late, after a cancel, or at an address of an earlier choice of coin',
    guard:
      'The deposit is above dust. One deposit has at most one child. Before the payment is confirmed: only at an ' +
      'address of an earlier choice of coin, in that coin.',
    effect:
      'A child payment opens in `CONFIRMING` at the current rate, and the parent lists it. A parent that expired ' +
      'gets the exception `paidLate`.',
    events: ['payment.repeat_deposit', 'payment.created'],
  },
  {
    row: 19,
    from: ['WAITING', 'PARTIALLY_PAID'],
    to: ['CROSS_CHAIN_PENDING'],
    cause: 'A deposit of another supported asset is confirmed',
    guard: 'The deposit is above dust and was seen in time.',
    effect:
      'The deposit stays unallocated. A deadline for automatic acceptance is set where the merchant wants one, ' +
      'has a wallet for the asset, and the value reaches the need. `receivedOther` shows asset, amount, hash ' +
      'and value. The payment neither expires nor can be cancelled here.',
    events: ['payment.cross_chain_pending'],
  },
  {
    row: 20,
    from: ['CROSS_CHAIN_PENDING'],
    to: ['CONFIRMING'],
    cause: 'The merchant accepts the other asset, or the deadline passes',
    guard:
      'An active wallet for the asset exists. At the deadline, what is there then reaches the need; otherwise row 21 ' +
      'applies from then on.',
    effect:
      'Currency, amount and rate become those of the moment of detection; the originals are kept. The deposit ' +
      'is released, and row 11 books it.',
    events: ['payment.cross_chain_accepted'],
  },
  {
    row: 21,
    from: ['CROSS_CHAIN_PENDING'],
    to: ['FAILED'],
    cause: 'The merchant rejects the other asset, or never answers',
    guard: 'Without a deadline for automatic acceptance the payment fails 24 hours after `expiresAt`.',
    effect: 'The exception `wrongCurrency` is added. The deposit stays unallocated and can be refunded.',
    events: ['payment.failed'],
  },
  {
    row: 22,
    from: ['CROSS_CHAIN_PENDING'],
    to: ['CONFIRMING'],
    cause: 'The right asset arrives in full',
    guard: 'The value seen in the right asset reaches the need.',
    effect: 'The deposit of the other asset becomes a child payment.',
    events: ['payment.repeat_deposit', 'payment.detected', 'payment.confirming'],
  },
  {
    row: 23,
    from: ['SETTLED'],
    to: 'unchanged',
    cause: 'A reorganisation below the required depth removes a settled deposit',
    effect:
      'The exception `reorged` is added, the loss is booked, outgoing money of that asset is frozen, and an ' +
      'incident alerts operators. The loss is reversed when the deposit returns.',
    events: ['payment.reorged'],
  },
];
