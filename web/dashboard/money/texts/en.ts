import type { EntrySource, EntryType } from '../../../../domain/ledger/entry';

/** Words of the section on money. */
export const en = {
  tabs: { label: 'Pages on money', balances: 'Balances' },
  balances: {
    title: 'Balances',
    worth: 'Balance and reserved together are worth',
    ratesOf: 'Prices of',
    unknown: (currencies: string) => `Without ${currencies}: no current price.`,
    value: 'Worth',
    toPayments: 'To the payments',
    why: 'Reserved is held by money on its way out. Pending is of payments that are confirmed and not settled yet.',
  },
  ledger: {
    title: (currency: string) => `Ledger of ${currency}`,
    back: 'All balances',
    pdf: 'Statement as PDF',
    entries: 'Entries',
    time: 'Time',
    type: 'What',
    source: 'Of',
    sourceId: 'Its id',
    from: 'From',
    to: 'Until',
    balanceAfter: 'Balance after',
    reservedAfter: 'Reserved after',
    worthThen: 'Worth then',
    none: 'Nothing has moved yet. The first payment that settles is the first entry.',
    noneFound: 'No entry fits these filters.',
    newest: 'To the newest',
    types: {
      payment_credit: 'Payment credited',
      conversion_debit: 'Converted from',
      conversion_credit: 'Converted to',
      conversion_refund: 'Conversion returned',
      reserve: 'Reserved',
      release: 'Reserve released',
      withdrawal: 'Withdrawal final',
      payout_leg: 'Payout final',
      refund: 'Refund final',
      network_fee: 'Network fee',
      settlement_out: 'Sent to your settlement address',
      reversal: 'Reversal',
      adjustment: 'Adjustment',
    } satisfies Record<EntryType, string> as Readonly<Record<string, string>>,
    sources: {
      payment: 'Payment',
      refund: 'Refund',
      conversion: 'Conversion',
      withdrawal: 'Withdrawal',
      massPayout: 'Mass payout',
      adjustment: 'Adjustment',
    } satisfies Record<EntrySource, string> as Readonly<Record<string, string>>,
  },
};

export type MoneyTexts = typeof en;
