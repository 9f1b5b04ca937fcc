import type { PaymentStatus } from '../../../domain/payments/payment';
import type { RefundStatus } from '../../../domain/refunds/refund';

/** Every word that a payer reads, in English. `{name}` is filled in by the page. Each language is a file like this. */
export const en = {
  language: 'en',
  locale: 'en',
  direction: 'ltr',
  name: 'English',
  languages: 'Language',
  titles: {
    AWAITING_CURRENCY: 'Choose how to pay',
    WAITING: 'Waiting for your payment',
    PARTIALLY_PAID: 'Part of the amount has arrived',
    CROSS_CHAIN_PENDING: 'Another coin has arrived',
    CONFIRMING: 'Payment received, confirming',
    CONFIRMED: 'Payment confirmed',
    SWEEP_QUEUED: 'Payment confirmed',
    SETTLED: 'Payment complete',
    EXPIRED: 'This invoice has expired',
    CANCELLED: 'This invoice was cancelled',
    FAILED: 'This payment was not completed',
  } satisfies Record<PaymentStatus, string>,
  seen: {
    title: 'We have seen your payment',
    otherTitle: 'Another coin is on its way',
    whole: 'You need not do anything now, and please do not pay again. You can close this page.',
    part: 'This is less than the price. As soon as it is counted, this page says how much is missing. Please wait.',
    other:
      'This invoice asks for {asset}. What you sent is not lost: once the network has confirmed it, this page ' +
      'says what ' +
      'happens next. Please do not pay again.',
    sum: 'Seen on the network',
  },
  over: { title: 'The time to pay is over' },
  choose: 'Prices are quoted when you choose. You can change your mind until you have paid.',
  unavailable: {
    BELOW_MINIMUM: 'The amount is below the minimum of this network',
    TEMPORARILY_UNAVAILABLE: 'Not available right now',
    NOT_AVAILABLE: 'Not available for this invoice',
    NETWORK_OFF: 'This network is not in use at the moment',
  } as Readonly<Record<string, string>>,
  about: 'arrives in about {time}',
  underMinute: 'arrives in under a minute',
  onNetwork: 'on {network}',
  fee: 'fee about {fee}',
  feeFrom: 'fee from {fee}',
  feeUnder: 'fee under {fee}',
  feeNote: 'The fee is what the network takes from your wallet beside the amount. It changes with the traffic there.',
  lowestFee: 'Lowest fee',
  networksOf: 'Networks for {coin}',
  slowNetwork: 'Payments on this network are noticed late at the moment',
  send: 'Send exactly {amount} {asset}',
  sendRest: 'Send the remaining {amount} {asset}',
  onlySend: 'Send only {asset} on the {network} network to this address. Anything else may be lost or delayed.',
  address: 'Address',
  network: 'Network',
  copy: 'Copy',
  copied: 'Copied',
  copyAmount: 'Copy the amount',
  copyAddress: 'Copy the address',
  tag: 'Destination tag',
  copyTag: 'Copy the destination tag',
  needsTag: 'Enter this tag as well. Without it your payment is not found.',
  ownTag: 'Your destination tag on {network}',
  lightning: {
    invoice: 'Lightning invoice',
    copy: 'Copy the invoice',
    only: 'Pay this invoice once and in full, with a wallet that pays over Lightning. Nothing else reaches it.',
    either: 'Pay to the address, or pay the invoice over Lightning: one of the two, once. The code has both.',
    qr: 'QR code with the Lightning invoice',
    making:
      'Your Lightning invoice is being made. It appears here by itself; if it does not, choose another way to pay.',
    hash: 'Payment hash',
    over: 'The Lightning invoice cannot be paid any more: what a wallet sends for it goes back by itself.',
  },
  openWallet: 'Open in wallet',
  showCode: 'Show the QR code',
  bareCode: 'QR code with the address alone',
  bareWhy: 'For wallets and exchanges that cannot read the code with the amount: enter the amount yourself, exactly.',
  wallet: {
    pay: 'Pay with {wallet}',
    sent: 'Sent from your wallet. This page shows it as soon as the network does; please do not pay again.',
    failed: 'The wallet did not send the payment.',
  },
  qr: 'QR code with the {asset} payment address and amount',
  rate: 'Rate',
  clock: {
    price: 'This price is held for {left}, until {end}. After that this page shows a new one.',
    last: 'Time left to pay: {left}, until {end}.',
  },
  quoteOver: 'The price is no longer held. Get the current one before you pay.',
  tooLate: 'The price is no longer held, and the time to pay is over. If you have paid, nothing is lost.',
  refresh: 'Get the current price',
  change: 'Pay with another coin',
  cancel: 'Cancel this invoice',
  cancelTitle: 'Cancel this invoice?',
  cancelSure:
    'Do not cancel if you have already sent money: it would arrive as a payment of its own and need the ' +
    'merchant’s help.',
  cancelYes: 'Yes, cancel it',
  cancelNo: 'No, go back',
  received: 'Received',
  remaining: 'Still missing',
  price: 'Price',
  confirmations: '{now} of {needed} confirmations',
  mayClose: 'You can close this page: your payment goes on without it.',
  done: 'You can keep this page as your receipt.',
  back: 'Return to {merchant}',
  print: 'Print the receipt',
  receipt: 'Receipt',
  invoice: 'Invoice',
  merchant: 'Merchant',
  order: 'Order',
  description: 'For',
  contact: 'Contact',
  terms: 'Terms',
  paidOn: 'Paid on',
  refunded: 'Refunded',
  pdf: 'Receipt as PDF',
  transaction: 'Transaction',
  networkDelayed:
    'We do not see new transactions of the {network} network at the moment. If you have paid, nothing is ' +
    'lost: this ' +
    'invoice does not expire until we do. If you have not, please wait a little.',
  lateMoney:
    'Money that arrives now is not lost: it is recorded as a payment of its own, and the merchant can see it ' +
    'and refund it. Please do not send more; contact the merchant if you already have.',
  exceptions: {
    underpaid:
      'Less than the full amount arrived before the invoice expired. Contact the merchant: what you sent is ' +
      'held for you.',
    overpaid: 'You sent more than was asked. The merchant sees it and can refund the difference.',
    paidLate:
      'Money arrived after this invoice had expired. It was recorded as a payment of its own; contact the merchant.',
    wrongCurrency: 'Another coin than the chosen one arrived. Contact the merchant.',
    reorged:
      'The network took a transaction back for a while. Nothing is lost: the page follows what the network says.',
  } as Readonly<Record<string, string>>,
  accepted: {
    underpaid: 'Less than the full amount arrived; it was accepted as payment in full.',
    wrongCurrency: 'Another coin than the chosen one arrived; it was accepted as payment.',
  } as Readonly<Record<string, string>>,
  other: {
    title: 'Received in another coin',
    asked: 'You sent {received}. This invoice asks for {amount} {asset} on the {network} network.',
    notLost: 'What you sent is not lost. Please do not pay again; you need not do anything now.',
    acceptedAt:
      'It is accepted as your payment on {time}, or earlier if the merchant accepts it; the merchant can still ' +
      'decline it.',
    decidedBy:
      'The merchant decides whether to accept it as your payment, until {time}. Without an answer this ' +
      'payment ends ' +
      'then, and the merchant can send the coins back to you.',
    held: 'It is held, and the merchant can send it back to you. Contact the merchant and name this transaction.',
  },
  payer: {
    ask: 'Where should money go back to, if something goes wrong?',
    address: 'Your {asset} address on {network} (optional)',
    why:
      'A refund goes to this address, or without one to this browser. Use an address of your own on the {network} ' +
      'network, never one of an exchange. It can be changed here until your payment has been seen, and not ' +
      'afterwards.',
    save: 'Save',
    goesTo: 'A refund would go to',
    yours: 'Is this not your address? Then do not pay, and contact the merchant.',
    locked: 'Your payment has been seen: this can no longer be changed here.',
    contested: 'More than one browser says that it is the payer’s. The merchant decides where money would go back to.',
    name: 'Name the address for your refund',
  },
  mail: {
    ask: 'Get the receipt by e-mail',
    address: 'Your e-mail address',
    why: 'We write to it once, when your payment is confirmed. Nobody else sees it, not even the merchant.',
    send: 'Send me the receipt',
    kept: 'The receipt goes to the address that you left, once your payment is confirmed.',
    refused: 'The receipt cannot be sent to that address. Check it, or print the receipt from this page.',
  },
  claim: {
    comesBack: 'Less than the full amount arrived before the invoice expired. What you sent goes back to you.',
    note:
      'Less than the full amount arrived before the invoice expired. What you sent goes back to you. ' +
      'The merchant will send you a link on which you name the address for it.',
    titles: {
      awaiting_address: 'Where should we send your refund?',
      awaiting_approval: 'Waiting for the merchant to approve',
      pending: 'Your refund is being prepared',
      processing: 'Your refund is being prepared',
      broadcast: 'Your refund is on its way',
      completed: 'Your refund has arrived',
      failed: 'Your refund could not be sent',
      cancelled: 'This refund was cancelled',
    } satisfies Record<RefundStatus, string>,
    texts: {
      awaiting_address: 'The merchant will send you a link on which you name the address for it.',
      awaiting_approval: 'We have your address. We send the money as soon as the merchant has approved the refund.',
      pending: 'We have your address. We send the money shortly; you can close this page.',
      processing: 'We have your address. We send the money shortly; you can close this page.',
      broadcast: 'The network is confirming it; you can close this page.',
      completed: 'The network has confirmed it.',
      failed: 'The network did not take it at this address. Contact the merchant: the money is not lost.',
      cancelled: 'Contact the merchant if you expected money from it.',
    } satisfies Record<RefundStatus, string>,
    amount: 'Refund',
    fee: 'Network fee',
    worth: 'Worth',
    gets: 'You get',
    ask: 'Enter a {asset} address on {network} that belongs to you, not a smart contract.',
    address: 'Your {asset} address on {network}',
    own:
      'Use a wallet of your own that takes {asset} on {network}. The address you paid from may belong to an ' +
      'exchange and ' +
      'not to you; ask the exchange for a deposit address instead.',
    refused:
      'That address cannot be used. Enter a complete address on the {network} network that belongs to you, ' +
      'not a smart ' +
      'contract.',
    notNow: 'It cannot be taken just now. Nothing is lost: try again in a few minutes.',
    next: 'Continue',
    sure: 'Is this your address?',
    final: 'This cannot be changed or taken back afterwards. Compare the whole address.',
    yes: 'Yes, send it there',
    no: 'No, change it',
    /** Of a refund by Lightning, where they differ. */
    byLightning: {
      ask:
        'Make an invoice in your Lightning wallet over exactly {amount} ({satoshi} satoshi), valid for as ' +
        'long as your wallet allows, a week at the most, and paste it here.',
      address: 'Your Lightning invoice over {amount}',
      own: 'Use a wallet of your own. Whoever made the invoice gets the money.',
      refused:
        'That invoice cannot be used. It must be a new one over exactly {amount} ({satoshi} satoshi), ' +
        'valid for some minutes more and a week at the most, and not from where you paid.',
      sure: 'Is this your invoice?',
      final: 'This cannot be changed or taken back afterwards. Compare the beginning and the end of the invoice.',
      yes: 'Yes, pay it',
      fee: 'Lightning fee',
      texts: {
        awaiting_approval:
          'We have your invoice. We pay it as soon as the merchant has approved the refund; if it has ' +
          'expired by then, ask the merchant for a new link.',
        pending: 'We have your invoice. We pay it shortly; you can close this page.',
        processing: 'We have your invoice. We pay it shortly; you can close this page.',
        completed: 'Your invoice is paid.',
        failed:
          'Your invoice could not be paid: it has expired, or no way to your wallet was found. Ask the ' +
          'merchant for a new link: the money is not lost.',
      },
    },
  },
  settlement: {
    titles: {
      awaiting_approval: 'A settlement address waits for approval',
      cooling_off: 'A settlement address is about to change',
      applied: 'A settlement address was changed',
      stopped: 'The change was stopped',
      replaced: 'The change was replaced by a later one',
    } as Readonly<Record<string, string>>,
    effect: {
      awaiting_approval: 'Stopped, it will never count.',
      cooling_off: 'Stopped, it will never count.',
      applied: 'Stopped, payments made from now on settle to the address before. Those made meanwhile keep theirs.',
    } as Readonly<Record<string, string>>,
    asked: '{who} asked to settle money of {merchant} to another address.',
    to: 'The new address',
    before: 'The address before',
    from: 'It counts from {time} on.',
    stop: 'Stop this change',
    refused: 'It could not be stopped: it has ended, or has counted for more than a week.',
  },
  root: {
    title: 'Payment pages',
    text:
      'Merchants take payments in cryptocurrency on this host. Each invoice has a page of its own: open the ' +
      'link that ' +
      'the merchant gave you. We never ask for your keys, your recovery phrase or a password.',
  },
  helpAt: 'Questions about your order? Ask {contact} and name the invoice number.',
  help: 'Questions about your order? Contact the merchant and name the invoice number.',
  notFound: 'This invoice does not exist',
  notFoundText: 'Check the link, or ask the merchant for a new one.',
  away: 'The payment service does not answer',
  awayText: 'Nothing you sent is lost. Please reload this page in a minute.',
  tooMany: 'Too many requests',
  tooManyText:
    'Your connection has sent too many requests in a short time. Nothing you sent is lost. Please try again ' +
    'in {time}.',
  again: 'Try again',
  refused: 'That was not possible any more. The page shows where the payment stands now.',
  testMode: 'Test instance: coins are worth nothing here. Never send real money.',
  still: 'Without JavaScript, this page does not change by itself.',
  reload: 'Reload the page',
};

/** One language's catalogue. */
export type Texts = Readonly<typeof en>;
