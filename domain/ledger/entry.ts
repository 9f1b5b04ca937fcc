/** What a merchant's statement says of an entry beside its type and amounts. `fiatRate`: fiat per whole unit. */

export type EntryDetails = Readonly<{ txId?: string | null; fiatCurrency?: string; fiatRate?: string | null }>;
/** Contract: G7. */
export const entryTypes = [
  'payment_credit',
  'conversion_debit',
  'conversion_credit',
  'conversion_refund',
  'reserve',
  'release',
  'withdrawal',
  'payout_leg',
  'refund',
  'network_fee',
  'settlement_out',
  'reversal',
  'adjustment',
] as const;
export type EntryType = (typeof entryTypes)[number];
export const entrySources = ['payment', 'refund', 'conversion', 'withdrawal', 'massPayout', 'adjustment'] as const;
export type EntrySource = (typeof entrySources)[number];

/** What a journal is in its merchant's statement, and what it was posted for. 'conversion': a debit of one asset and a
 *  credit of another in one journal. Only an adjustment may have no `sourceId`. */
export type StatementEntry = Readonly<{
  type: EntryType | 'conversion';
  sourceType: EntrySource;
  sourceId: string | null;
}>;
/** A correction by hand, which nothing else in the books stands behind. */
export const adjustment: StatementEntry = { type: 'adjustment', sourceType: 'adjustment', sourceId: null };
