import { assetOf, type Currency } from '../chains/assets';
import { compare, Decimal, isPositive, isZero, negate, subtract } from '../money';
import { kinds, type HoldingKind } from '../txmanager/kinds';
import { type StatementEntry, type EntryDetails } from './entry';

/** One amount, out of one account, into one. `amount`: positive decimal string in whole units of `asset`. */
export type Posting = Readonly<{ debit: Account; credit: Account; asset: Currency; amount: string }>;
/** All together, once per key, for ever. `entry`: what the journal is in its merchant's statement; null only where it
 *  moves neither `available` nor `reserved`. */
export type Journal = Readonly<{
  key: string;
  entry: StatementEntry | null;
  postings: readonly Posting[];
  details?: Readonly<Record<string, unknown>>;
}>;

/** Invariants: 4. Liabilities belong to a merchant. */
export type Account =
  | 'A:deposit'
  | 'A:treasury'
  | 'A:gas'
  | 'A:provider'
  | 'A:lightning'
  | `L:${'available' | 'reserved' | 'unsettled' | 'unallocated' | 'transit'}:${string}`
  | 'I:commission'
  | 'I:network'
  | 'E:network'
  | 'E:loss'
  | 'Q:fx'
  | 'Q:capital'
  | 'Q:unexplained';

export const available = (merchantId: string): Account => `L:available:${merchantId}`;
export const reserved = (merchantId: string): Account => `L:reserved:${merchantId}`;
export const unsettled = (merchantId: string): Account => `L:unsettled:${merchantId}`;
const unallocated = (merchantId: string): Account => `L:unallocated:${merchantId}`;
const transit = (merchantId: string): Account => `L:transit:${merchantId}`;

/** Which deposit a journal is about: one key for ever, whatever allocation it gets. Invariants: 5. */
export type DepositRef = Readonly<{ network: string; txId: string; index: number; currency: Currency; amount: string }>;
export const depositKey = (deposit: Pick<DepositRef, 'network' | 'txId' | 'index'>): string =>
  `deposit/${deposit.network}/${deposit.txId}/${deposit.index}`;
export const reallocateKey = (deposit: Pick<DepositRef, 'network' | 'txId' | 'index'>): string =>
  `reallocate/${deposit.network}/${deposit.txId}/${deposit.index}`;

/** A journal without its zero postings. Throws where an amount is negative or finer than its asset. */
export function journal(
  key: string,
  entry: StatementEntry | null,
  postings: readonly Posting[],
  details?: EntryDetails & Journal['details'],
): Journal {
  for (const { asset, amount } of postings) {
    const value = new Decimal(amount);
    if (value.isNegative() && !value.isZero()) throw new RangeError(`Journal ${key}: ${amount} ${asset} is negative`);
    if (value.decimalPlaces() > assetOf(asset).decimals)
      throw new RangeError(`Journal ${key}: ${amount} is finer than ${asset}`);
  }
  return {
    key,
    entry,
    postings: postings.filter((posting) => !isZero(posting.amount)),
    ...(details ? { details } : {}),
  };
}

/** J1: what a confirmed deposit brought is owed, but not yet spendable. */
export const depositJournal = (deposit: DepositRef & { merchantId: string }): Journal =>
  journal(depositKey(deposit), null, [
    { debit: 'A:deposit', credit: unsettled(deposit.merchantId), asset: deposit.currency, amount: deposit.amount },
  ]);

/** J8: unallocated money. The same key as J1: a deposit is credited once, to one allocation. */
export const unallocatedJournal = (deposit: DepositRef & { merchantId: string }): Journal =>
  journal(depositKey(deposit), null, [
    { debit: 'A:deposit', credit: unallocated(deposit.merchantId), asset: deposit.currency, amount: deposit.amount },
  ]);

/** A deposit whose first journal gave it one allocation moves to the other; undone together with that journal. */
export const reallocateJournal = (
  deposit: DepositRef & { merchantId: string; from: 'unsettled' | 'unallocated' },
): Journal => {
  const [debit, credit] = [unsettled(deposit.merchantId), unallocated(deposit.merchantId)];
  const posting = { asset: deposit.currency, amount: deposit.amount };
  return journal(reallocateKey(deposit), null, [
    deposit.from === 'unsettled' ? { debit, credit, ...posting } : { debit: credit, credit: debit, ...posting },
  ]);
};

/** J2: what a payment brought leaves `unsettled` for the merchant's balance, less our fee. */
export const settleJournal = (
  settled: Pick<EntryDetails, 'txId' | 'fiatCurrency' | 'fiatRate'> & {
    paymentId: string;
    merchantId: string;
    currency: Currency;
    net: string;
    commission: string;
    network: string;
  },
): Journal => {
  const debit = unsettled(settled.merchantId);
  const asset = settled.currency;
  const { txId, fiatCurrency, fiatRate } = settled;
  return journal(
    `payment/${settled.paymentId}/settle`,
    { type: 'payment_credit', sourceType: 'payment', sourceId: settled.paymentId },
    [
      { debit, credit: available(settled.merchantId), asset, amount: settled.net },
      { debit, credit: 'I:commission', asset, amount: settled.commission },
      { debit, credit: 'I:network', asset, amount: settled.network },
    ],
    fiatCurrency === undefined ? undefined : { txId, fiatCurrency, fiatRate },
  );
};

/** `ref`: the intent, or `<intent>/<payment>` for a payment's part in a batch. `native`: ticker in which `chainFee` is
 *  paid, always from the deposit address (UTXO coins, native balance, or gas top-up). */
type SweepRef = Readonly<{
  ref: string;
  currency: Currency;
  native: Currency;
  chainFee: string;
  /** Who paid the chain; the deposit address unless told. */
  feeFrom?: 'A:gas';
}>;

/** J3: a final sweep brought `moved` to the treasury. */
export const sweepJournal = (sweep: SweepRef & { moved: string }): Journal =>
  journal(`sweep/${sweep.ref}`, null, [
    { debit: 'A:treasury', credit: 'A:deposit', asset: sweep.currency, amount: sweep.moved },
    { debit: 'E:network', credit: sweep.feeFrom ?? 'A:deposit', asset: sweep.native, amount: sweep.chainFee },
  ]);

/** J3x: a final sweep brought `net` to the merchant's own address and `feePart` to us. */
export const externalSweepJournal = (
  sweep: SweepRef & { merchantId: string; paymentId: string; net: string; feePart: string; details?: EntryDetails },
): Journal =>
  journal(
    `sweep/${sweep.ref}`,
    { type: 'settlement_out', sourceType: 'payment', sourceId: sweep.paymentId },
    [
      { debit: available(sweep.merchantId), credit: 'A:deposit', asset: sweep.currency, amount: sweep.net },
      { debit: 'A:treasury', credit: 'A:deposit', asset: sweep.currency, amount: sweep.feePart },
      { debit: 'E:network', credit: sweep.feeFrom ?? 'A:deposit', asset: sweep.native, amount: sweep.chainFee },
    ],
    sweep.details,
  );

/** J4: gas sent to an address of ours ahead of a token's transfer from it. */
export const gasJournal = (gas: {
  intentId: string;
  native: Currency;
  value: string;
  chainFee: string;
  to: 'A:deposit' | 'A:treasury';
}): Journal =>
  journal(`gas/${gas.intentId}`, null, [
    { debit: gas.to, credit: 'A:gas', asset: gas.native, amount: gas.value },
    { debit: 'E:network', credit: 'A:gas', asset: gas.native, amount: gas.chainFee },
  ]);

export type FeePayer = 'A:gas' | 'A:deposit' | 'A:treasury';
/** What a transaction of ours cost beside what its journal says, where it was mined again after a reorganisation at
 *  another price. */
export const feeChangeJournal = (fee: {
  key: string;
  native: Currency;
  before: string;
  now: string;
  from: FeePayer;
}): Journal => {
  const isMore = compare(fee.now, fee.before) > 0;
  const [debit, credit] = isMore ? (['E:network', fee.from] as const) : ([fee.from, 'E:network'] as const);
  const amount = isMore ? subtract(fee.now, fee.before) : subtract(fee.before, fee.now);
  return journal(fee.key, null, [{ debit, credit, asset: fee.native, amount }]);
};
/** Of one mining of a transaction. */
export const feeChangeKey = (mined: Readonly<{ txId: string; blockHash: string }>): string =>
  `fee/${mined.txId}/${mined.blockHash}`;

/** A sweep that is in the books is not in the chain: its fee was not paid, as long as that is so. `of`: the sweep's
 *  journal. */
export const feeGoneKey = (of: string): string => `gone/${of}`;
export const feeGoneJournal = (gone: { of: string; native: Currency; chainFee: string; from: FeePayer }): Journal =>
  journal(feeGoneKey(gone.of), null, [
    { debit: gone.from, credit: 'E:network', asset: gone.native, amount: gone.chainFee },
  ]);

/** The fee of a transaction of ours that brought nothing else: mined and reverted, or a move between our own
 *  addresses. */
export const feeJournal = (fee: { txId: string; native: Currency; chainFee: string; from: FeePayer }): Journal =>
  journal(`fee/${fee.txId}`, null, [{ debit: 'E:network', credit: fee.from, asset: fee.native, amount: fee.chainFee }]);

/** What is held for something on its way out. `kind`, `id`: the refund, payout line or withdrawal. One start for ever,
 *  and one end at a time. */
export type Hold = Readonly<{
  kind: HoldingKind;
  id: string;
  merchantId: string;
  currency: Currency;
  gross: string;
  /** What the merchant's statement names as its source, where that is not `id`: the batch of a payout line. */
  sourceId?: string;
}>;
const holdEntry = (hold: Hold, step: 'reserve' | 'release' | 'arrived'): StatementEntry => {
  const { sourceType, arrived } = kinds[hold.kind].statement;
  return { type: step === 'arrived' ? arrived : step, sourceType, sourceId: hold.sourceId ?? hold.id };
};
export const holdKey = (hold: Pick<Hold, 'kind' | 'id'>): string => `hold/${hold.kind}/${hold.id}`;

/** The key of a release after a capture that a reorganisation has taken back, or the reverse. `key`: that of the
 *  first. */
export const otherEndKey = (key: string): string => key.replace(/end$/, '2/end');

/** J5: it leaves the balance when it is asked for. */
export const holdJournal = (hold: Hold): Journal =>
  journal(holdKey(hold), holdEntry(hold, 'reserve'), [
    {
      debit: available(hold.merchantId),
      credit: reserved(hold.merchantId),
      asset: hold.currency,
      amount: hold.gross,
    },
  ]);

/** J6: `net` has arrived; what was held beyond it is our fee, and the chain's own is ours to pay. */
export const captureJournal = (
  captured: Hold & { net: string; native: Currency; chainFee: string; gasFrom: 'A:treasury' | 'A:gas'; txId?: string },
): Journal => {
  const debit = reserved(captured.merchantId);
  return journal(
    `${holdKey(captured)}/end`,
    holdEntry(captured, 'arrived'),
    [
      { debit, credit: 'A:treasury', asset: captured.currency, amount: captured.net },
      { debit, credit: 'I:network', asset: captured.currency, amount: subtract(captured.gross, captured.net) },
      { debit: 'E:network', credit: captured.gasFrom, asset: captured.native, amount: captured.chainFee },
    ],
    captured.txId === undefined ? undefined : { txId: captured.txId },
  );
};

/** J7: nothing left, and nothing can leave any more. */
export const releaseJournal = (hold: Hold): Journal =>
  journal(`${holdKey(hold)}/end`, holdEntry(hold, 'release'), [
    {
      debit: reserved(hold.merchantId),
      credit: available(hold.merchantId),
      asset: hold.currency,
      amount: hold.gross,
    },
  ]);

/** The end of a refund that was paid from its deposits. */
export const refundKey = (refundId: string): string => `refund/${refundId}`;
/** J8, its end: unallocated money goes back from the address that it came to. `gross`: what was held of it. */
export const depositRefundJournal = (refund: {
  id: string;
  merchantId: string;
  currency: Currency;
  gross: string;
  net: string;
  native: Currency;
  chainFee: string;
}): Journal => {
  const debit = unallocated(refund.merchantId);
  return journal(refundKey(refund.id), null, [
    { debit, credit: 'A:deposit', asset: refund.currency, amount: refund.net },
    { debit, credit: 'I:network', asset: refund.currency, amount: subtract(refund.gross, refund.net) },
    { debit: 'E:network', credit: 'A:deposit', asset: refund.native, amount: refund.chainFee },
  ]);
};

/** What a conversion moves. `net`: `fromAmount` less `commission`. */
type Exchange = Readonly<{
  id: string;
  merchantId: string;
  fromCurrency: Currency;
  toCurrency: Currency;
  fromAmount: string;
  commission: string;
  net: string;
}>;

/** J9: the source leaves the balance, our commission is income, and the rest is our position against what is
 *  credited. */
export const internalConversionJournal = (exchange: Exchange & { out: string }): Journal => {
  const { id, fromCurrency, toCurrency } = exchange;
  const spendable = available(exchange.merchantId);
  return journal(`conversion/${id}/internal`, { type: 'conversion', sourceType: 'conversion', sourceId: id }, [
    { debit: spendable, credit: 'I:commission', asset: fromCurrency, amount: exchange.commission },
    { debit: spendable, credit: 'Q:fx', asset: fromCurrency, amount: exchange.net },
    { debit: 'Q:fx', credit: spendable, asset: toCurrency, amount: exchange.out },
  ]);
};

/** J10, its start: the whole source amount is on its way, and no longer the merchant's to spend. */
export const acceptConversionJournal = (
  exchange: Pick<Exchange, 'id' | 'merchantId' | 'fromCurrency' | 'fromAmount'>,
): Journal =>
  journal(
    `conversion/${exchange.id}/accept`,
    { type: 'conversion_debit', sourceType: 'conversion', sourceId: exchange.id },
    [
      {
        debit: available(exchange.merchantId),
        credit: transit(exchange.merchantId),
        asset: exchange.fromCurrency,
        amount: exchange.fromAmount,
      },
    ],
  );

/** J10, funded: our deposit is at the provider. */
export const fundConversionJournal = (fund: {
  id: string;
  currency: Currency;
  amount: string;
  native: Currency;
  chainFee: string;
}): Journal =>
  journal(`conversion/${fund.id}/fund`, null, [
    { debit: 'A:provider', credit: 'A:treasury', asset: fund.currency, amount: fund.amount },
    { debit: 'E:network', credit: 'A:treasury', asset: fund.native, amount: fund.chainFee },
  ]);

/** J11: what came from the provider is credited, all of it. Its arrival has its own journal, A:treasury against
 *  A:provider. */
export const completeConversionJournal = (exchange: Exchange & { received: string }): Journal => {
  const { id, fromCurrency, toCurrency, received } = exchange;
  const debit = transit(exchange.merchantId);
  return journal(`conversion/${id}/end`, { type: 'conversion_credit', sourceType: 'conversion', sourceId: id }, [
    { debit, credit: 'I:commission', asset: fromCurrency, amount: exchange.commission },
    { debit, credit: 'Q:fx', asset: fromCurrency, amount: exchange.net },
    { debit: 'Q:fx', credit: 'A:provider', asset: fromCurrency, amount: exchange.net },
    { debit: 'A:provider', credit: 'Q:fx', asset: toCurrency, amount: received },
    { debit: 'Q:fx', credit: available(exchange.merchantId), asset: toCurrency, amount: received },
  ]);
};

/** J10, failed: the whole source amount is the merchant's again. The same key as its success: there is one end. */
export const failConversionJournal = (
  exchange: Pick<Exchange, 'id' | 'merchantId' | 'fromCurrency' | 'fromAmount'>,
): Journal =>
  journal(
    `conversion/${exchange.id}/end`,
    { type: 'conversion_refund', sourceType: 'conversion', sourceId: exchange.id },
    [
      {
        debit: transit(exchange.merchantId),
        credit: available(exchange.merchantId),
        asset: exchange.fromCurrency,
        amount: exchange.fromAmount,
      },
    ],
  );

/** The key of the loss on a swap, booked for the `step`th time. */
export const swapLossKey = (id: string, step: number): string => `conversion/${id}/loss${step > 1 ? `/${step}` : ''}`;

/** What a provider has kept of a deposit that it sent back; below zero: what it sent back after all. */
export const swapLossJournal = (loss: { id: string; step: number; currency: Currency; amount: string }): Journal =>
  journal(swapLossKey(loss.id, loss.step), null, [
    isPositive(loss.amount)
      ? { debit: 'E:loss', credit: 'A:provider', asset: loss.currency, amount: loss.amount }
      : { debit: 'A:provider', credit: 'E:loss', asset: loss.currency, amount: negate(loss.amount) },
  ]);

/** Money arriving at an address of ours: our own, as liquidity or gas float; or a swap provider's, at an address made
 *  for its order. */
export const capitalJournal = (
  deposit: DepositRef & { to: 'A:gas' | 'A:treasury'; from: 'Q:capital' | 'A:provider' },
): Journal =>
  journal(`capital/${deposit.network}/${deposit.txId}/${deposit.index}`, null, [
    { debit: deposit.to, credit: deposit.from, asset: deposit.currency, amount: deposit.amount },
  ]);

export const lossKey = ({ network, txId, index }: Pick<DepositRef, 'network' | 'txId' | 'index'>): string =>
  `loss/${network}/${txId}/${index}`;
/** J12: a settled deposit is gone from the chain; the loss is ours. */
export const lossJournal = (deposit: DepositRef & { paymentId: string; from: 'A:treasury' | 'A:deposit' }): Journal =>
  journal(
    lossKey(deposit),
    null,
    [{ debit: 'E:loss', credit: deposit.from, asset: deposit.currency, amount: deposit.amount }],
    { paymentId: deposit.paymentId },
  );

/** The same postings the other way round, under the key that names what they undo. `entry`: that of the journal
 *  undone. */
export const reversal = (
  postings: readonly Posting[],
  journalId: string,
  entry: Pick<StatementEntry, 'sourceType' | 'sourceId'> | null,
): Journal => ({
  key: `reversal/${journalId}`,
  entry: entry && { type: 'reversal', sourceType: entry.sourceType, sourceId: entry.sourceId },
  postings: postings.map(({ debit, credit, asset, amount }) => ({ debit: credit, credit: debit, asset, amount })),
});
