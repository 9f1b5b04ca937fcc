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
  rate: 'Rate:',
  delivered: 'Delivered',
  notDelivered: 'Not delivered',
  delivery: (type: string, attempt: number) => `Event ${type}, attempt ${attempt}`,
  resend: 'Send again',
  resent: 'Sent again',
  causes: {
    'aml-screened': 'its payer was screened',
    credit: 'credited',
    'deposit-lost': 'a deposit was lost',
    'deposit-returned': 'a deposit is back',
    'deposit-seen': 'a deposit was seen',
    'other-asset': 'another coin arrived',
    'refund-reorganised': 'a refund was reorganised',
    refunded: 'refunded',
    'reorg-after-settlement': 'reorganised after it settled',
    'repeat-deposit': 'a repeated deposit',
    'sweep-planned': 'its collection is planned',
    'sweep-waits': 'its collection waits',
    swept: 'collected',
  } as Readonly<Record<string, string>>,
};

export const refunds = {
  title: 'Refunds',
  create: 'Refund',
  none: 'No refund yet.',
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
