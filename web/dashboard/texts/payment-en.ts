/** Words of a payment’s own page. */

export const decisions = {
  cancel: {
    name: 'Cancel the payment',
    sure: 'Nobody can pay it any more. Money that was sent already arrives as a payment of its own.',
    done: 'Payment cancelled',
  },
  acceptUnderpaid: {
    name: 'Accept what arrived',
    sure: 'What has arrived counts as enough, and the payment settles with it.',
    done: 'Accepted',
  },
  acceptCrossChain: {
    name: 'Accept the other coin',
    sure: 'The payment is converted to the coin that arrived, at the rate of the moment it was noticed.',
    done: 'Accepted',
  },
  rejectCrossChain: {
    name: 'Reject the other coin',
    sure: 'The payment fails. What arrived is held until you refund it.',
    done: 'Rejected',
  },
};

export const timeline = {
  title: 'Timeline',
  updated: 'updated',
  reason: (reason: string) => `Reason: ${reason}`,
  by: (name: string) => `By ${name}`,
  roles: { payer: 'the payer', merchant: 'the team', credit: 'the service' } as Readonly<Record<string, string>>,
  rate: 'Rate:',
  delivered: 'Delivered',
  notDelivered: 'Not delivered',
  delivery: (type: string, attempt: number) => `Event ${type}, attempt ${attempt}`,
  resend: 'Send again',
  resent: 'Sent again',
  causes: {
    'aml-screened': 'its payer was screened',
    'cancelled-by-merchant': 'cancelled by you',
    'cancelled-by-payer': 'cancelled by the payer',
    'cancelled-by-service': 'cancelled: no Lightning invoice came',
    confirmed: 'confirmed',
    created: 'created',
    credit: 'credited',
    'currency-selected-by-lightning': 'its Lightning invoice was paid first',
    'currency-selected-by-merchant': 'you chose the coin',
    'currency-selected-by-payer': 'the payer chose the coin',
    'deposit-lost': 'a deposit was lost',
    'deposit-mined-late': 'a deposit was mined late',
    'deposit-returned': 'a deposit is back',
    'deposit-seen': 'a deposit was seen',
    expired: 'its time is over',
    'lightning-invoice': 'its Lightning invoice is there',
    'lightning-taken': 'paid by Lightning',
    'not-confirmed': 'it was not confirmed in time',
    'other-asset': 'another coin arrived',
    'other-asset-accepted-by-itself': 'the other coin was accepted by itself',
    'other-asset-accepted-by-merchant': 'you accepted the other coin',
    'other-asset-not-accepted': 'the other coin was not accepted in time',
    'other-asset-not-accepted-by-itself': 'the other coin could not be accepted by itself',
    'other-asset-rejected-by-merchant': 'you rejected the other coin',
    'paid-after-quote': 'paid after its quote had ended',
    'quote-refreshed': 'a new quote',
    'refund-reorganised': 'a refund was reorganised',
    refunded: 'refunded',
    'reorg-after-settlement': 'reorganised after it settled',
    'repeat-deposit': 'a repeated deposit',
    'sweep-planned': 'its collection is planned',
    'sweep-waits': 'its collection waits',
    swept: 'collected',
    'underpaid-accepted': 'the part was accepted by your policy',
    'underpaid-accepted-by-merchant': 'you accepted the part',
  } as Readonly<Record<string, string>>,
};

export const refunds = {
  title: 'Refunds',
  create: 'Refund',
  none: 'No refund yet.',
  noneAtAll: 'No refund yet. Refund a payment from its page.',
  noneFound: 'No refund fits these filters.',
  statuses: {
    awaiting_address: 'Waits for an address',
    awaiting_approval: 'Waits for approval',
    pending: 'Pending',
    processing: 'Being sent',
    broadcast: 'Sent',
    completed: 'Completed',
    failed: 'Failed',
    cancelled: 'Cancelled',
  } as Readonly<Record<string, string>>,
  decisions: {
    approve: {
      name: 'Approve the refund',
      sure: 'Signed money cannot be called back. Compare the address with the payer first.',
      done: 'Refund approved',
    },
    reject: {
      name: 'Reject the refund',
      sure: 'Nothing is sent, and what it held is back in the balance.',
      done: 'Refund rejected',
    },
    cancel: {
      name: 'Cancel the refund',
      sure: 'Nothing is sent, and what it held is back in the balance.',
      done: 'Refund cancelled',
    },
  },
  claim: 'claim link',
  claimWhy: 'Hand this link to the payer and to nobody else: who has it says where the money goes.',
  type: 'What to refund',
  types: {
    full: 'All that is left',
    partial: 'A part',
    overpaid: 'What came beyond the price',
    underpaid: 'What is held of a payment that failed',
  },
  amount: (currency: string) => `Amount in ${currency}`,
  address: 'Address of the payer',
  addressHint:
    'Ask the payer: the address that money came from may not be theirs. Empty: the payer names one by a link.',
  byInvoice: 'The payer names a Lightning invoice by a link, which you hand to them.',
  tag: 'Destination tag of the payer',
  payerNames: 'The payer names it by a link.',
  feeBearer: 'Network fee',
  feeBearers: { merchant: 'On top, paid by you', payer: 'Taken from the amount' },
  preview: 'Show what it comes to',
  counts: 'Refund',
  fee: 'Network fee',
  gets: 'The payer gets',
  worth: 'Worth',
  submit: 'Refund',
  created: 'Refund created',
};

/** Acts on several payments at once. */
export const bulk = {
  title: 'Chosen payments',
  choose: 'Choose',
  chooseOne: (slug: string) => `Choose payment ${slug}`,
  page: 'All of this page',
  chosen: (count: number) => (count === 1 ? '1 payment chosen' : `${count} payments chosen`),
  most: (count: number) => `At most ${count} payments can be chosen at once.`,
  clear: 'Choose none',
  csv: 'Chosen as CSV',
  json: 'Chosen as JSON',
  cancel: 'Cancel the unpaid ones',
  noneUnpaid: 'None of the chosen payments is unpaid.',
  cancelSure: (count: number) =>
    count === 1
      ? 'Nobody can pay this payment any more. Money that was sent already arrives as a payment of its own.'
      : `Nobody can pay these ${count} payments any more. Money that was sent already arrives as a payment of its own.`,
  notUnpaid: (count: number) =>
    count === 1
      ? '1 more is chosen, but is no longer unpaid: it stays as it is.'
      : `${count} more are chosen, but are no longer unpaid: they stay as they are.`,
  cancelNow: (count: number) => (count === 1 ? 'Cancel 1 payment' : `Cancel ${count} payments`),
  cancelled: (count: number) => (count === 1 ? '1 payment cancelled' : `${count} payments cancelled`),
  outcomes: 'What becomes of each',
  done: 'Cancelled',
  waits: 'Next',
  notTried: 'Not tried',
};
