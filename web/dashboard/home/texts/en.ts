/** Words of the first page. */
export const en = {
  attention: 'Needs attention',
  quiet: 'Nothing waits for you.',
  partiallyPaid: (count: number) => (count === 1 ? '1 payment is partly paid' : `${count} payments are partly paid`),
  crossChainPending: (count: number) =>
    count === 1 ? '1 payment came in another coin' : `${count} payments came in another coin`,
  underpaid: (count: number) =>
    count === 1
      ? '1 payment of the last 30 days was underpaid'
      : `${count} payments of the last 30 days were underpaid`,
  paidLate: (count: number) =>
    count === 1
      ? '1 payment of the last 30 days was paid after it had expired'
      : `${count} payments of the last 30 days were paid after they had expired`,
  wrongCurrency: (count: number) =>
    count === 1
      ? '1 payment of the last 30 days got the wrong coin'
      : `${count} payments of the last 30 days got the wrong coin`,
  refundWaits: (amount: string) => `A refund of ${amount} waits for approval`,
  moreRefunds: (count: number) =>
    count === 1 ? '1 more refund waits for approval' : `${count} more refunds wait for approval`,
  withdrawals: (count: number) =>
    count === 1 ? '1 withdrawal waits for approval' : `${count} withdrawals wait for approval`,
  payouts: (count: number) =>
    count === 1 ? '1 mass payout waits for approval' : `${count} mass payouts wait for approval`,
  flagged: (count: number) =>
    count === 1
      ? '1 payment of the last 30 days was flagged by the screening'
      : `${count} payments of the last 30 days were flagged by the screening`,
  outgoingHeld: 'Outgoing money of this account is held: nothing is sent until support lifts it',
  withdrawalsHeld: (count: number) => (count === 1 ? '1 withdrawal is held' : `${count} withdrawals are held`),
  payoutsHeld: (count: number) => (count === 1 ? '1 mass payout is held' : `${count} mass payouts are held`),
  refundsHeld: (count: number) => (count === 1 ? '1 refund is held' : `${count} refunds are held`),
  endpointOff: (url: string) => `Webhook endpoint ${url} was switched off, because it failed`,
  deliveriesFail: 'Webhook deliveries have failed and are tried again',
  limitLow: (used: string, limit: string) => `${used} of the ${limit} that may be sent in 24 hours are used`,
  countLow: (used: number, limit: number) => `${used} of the ${limit} transfers of an hour are used`,
  payments: 'Payments',
  span: 'Period',
  spans: { 1: 'Today', 7: '7 days', 30: '30 days' },
  inUtc: 'A day begins at midnight UTC, as in the lists.',
  volume: 'Volume',
  created: 'Created',
  paid: 'Paid',
  settled: 'Settled',
  share: (percent: string) => `${percent} of those created`,
  before: (value: string) => `Before: ${value}`,
  nothing: 'No payment in this period.',
  toPayments: 'Show these payments',
  chart: (from: string, to: string) => `Settled volume by day, ${from} to ${to}, beside the days before`,
  now: 'This period',
  earlier: 'The period before',
  numbers: 'The chart in numbers',
  day: 'Day',
  balances: 'Balances',
  worth: 'About',
};
