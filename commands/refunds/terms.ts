import { feeWithCoins } from '../../domain/chains/costs';
import { coinsFor } from '../treasury/coins-for';
import { fiatValue } from '../../domain/pricing/quote';
import { exchangeRateOf } from '../../domain/payments/payment-view';
import { type PaymentRow, excess } from '../../domain/payments/payment';
import { subtract, isPositive, smaller, compare, fromUnits } from '../../domain/money';
import { DomainError } from '../../domain/errors';
import type { AddressReader } from '../../domain/chains/address';
import { type NetworkId, type Currency, assetOf, isByLightning, networkOf } from '../../domain/chains/assets';
import { readReceiver } from '../../domain/chains/receivers';
import { wayFee, type InvoiceReader } from '../../domain/lightning/receiver';
import { refuseOurs } from '../../db/wallets/wallets';
import { spendableAt } from '../../db/txmanager/intents';
import { contentHash } from '../../db/records';
import type { Queryable } from '../../db/query';
import type { Price } from '../../domain/pricing/price';
import { rateNow } from '../../db/pricing/pricing';
import { paymentColumns, databaseNow } from '../../db/payments/payments';
import type { EntityManager } from 'typeorm';
import {
  splitRefund,
  splitDeposits,
  feeOfCoins,
  amountOf,
  type RefundAsk,
  type RefundFeeBearer,
  type RefundBy,
  type RefundRow,
} from '../../domain/refunds/refund';

export type NewRefund = RefundAsk &
  Readonly<{
    /** Which of several that were never credited. */
    currency?: string;
    /** Without it the payer names one. */
    address?: string;
    destinationTag?: string;
    /** Without it the merchant, or, of what was never credited, the payer. */
    feeBearer?: RefundFeeBearer;
    reason?: string;
    reference?: string;
  }>;
/** Who asks for which refund of a payment. */
export type RefundOrder = Readonly<{ merchantId: string; paymentId: string; ask: NewRefund; by: RefundBy }>;

export type RefundDeps = Readonly<{
  codecs: Readonly<Record<NetworkId, AddressReader>>;
  rateMaxAgeSeconds: number;
  /** What invoices are read with; absent: nothing leaves by Lightning. */
  lightning?: InvoiceReader | undefined;
}>;
export const hashOf = (paymentId: string, ask: NewRefund): string => {
  const { type, currency, amount, rateBasis, address, destinationTag, feeBearer, reason, reference } = ask;
  return contentHash([
    paymentId,
    type,
    currency,
    amount,
    rateBasis,
    address,
    destinationTag,
    feeBearer,
    reason,
    reference,
  ]);
};
export async function lockOwnPayment(tx: EntityManager, merchantId: string, paymentId: string): Promise<PaymentRow> {
  const [row] = await tx.query<PaymentRow[]>(
    `SELECT ${paymentColumns} FROM payment p WHERE id = $1 AND merchant_id = $2 FOR UPDATE`,
    [paymentId, merchantId],
  );
  if (!row) throw new DomainError('PAYMENT_NOT_FOUND');
  return row;
}
/** Who gets it, in the columns of its row. */
export type Receiver = Readonly<{ address: string; destination_tag: string | null }>;
type Terms = Pick<
  RefundRow,
  | 'currency'
  | 'network'
  | 'source'
  | 'deposit_ids'
  | 'fee_bearer'
  | 'amount'
  | 'network_fee'
  | 'lost_fee'
  | 'gross_amount'
  | 'net_amount'
  | 'fiat_amount'
>;
type Split = NonNullable<ReturnType<typeof splitRefund>>;
const columnsOf = (split: Split) => ({
  amount: split.amount,
  network_fee: split.networkFee,
  gross_amount: split.gross,
  net_amount: split.net,
});
const priceOf = (tx: EntityManager, deps: RefundDeps, payment: PaymentRow, currency: string): Promise<Price> =>
  rateNow(tx, {
    merchantId: payment.merchant_id,
    currency,
    fiat: payment.fiat_currency,
    maxAgeSeconds: deps.rateMaxAgeSeconds,
  });

/** An address as its network spells it, with its tag. Throws INVALID_ADDRESS (also for the service's own),
 *  VALIDATION_ERROR, CURRENCY_NOT_AVAILABLE. */
export async function receiverFor(
  tx: Queryable,
  deps: Pick<RefundDeps, 'codecs'>,
  { currency, network }: Readonly<{ currency: Currency; network: NetworkId }>,
  to: Readonly<{ address: string; destinationTag?: string }>,
): Promise<Receiver> {
  const { address, destinationTag } = readReceiver(deps.codecs[network], assetOf(currency), to);
  await refuseOurs(tx, network, address);
  return { address, destination_tag: destinationTag };
}
/** What a refund would be, by the facts of now. The caller holds the payment's lock where it matters. Throws
 *  REFUND_NOT_ALLOWED, REFUND_EXCEEDS_PAID, BELOW_MINIMUM, INVALID_ADDRESS, VALIDATION_ERROR, RATE_UNAVAILABLE. */
export async function drawUp(
  tx: EntityManager,
  deps: RefundDeps,
  payment: PaymentRow,
  ask: NewRefund,
): Promise<
  Omit<
    RefundRow,
    | 'id'
    | 'status'
    | 'added_fee'
    | 'key_id'
    | 'created_by'
    | 'asked_by'
    | 'needs_second_person'
    | 'approved_by'
    | 'approved_at'
    | 'idempotency_key'
  >
> {
  const wanted = ask.currency?.toUpperCase();
  const isCredited =
    payment.status === 'SETTLED' &&
    payment.custody === 'platform' &&
    ask.type !== 'underpaid' &&
    (wanted === undefined || wanted === payment.currency);
  const terms = isCredited
    ? await creditedTerms(tx, deps, payment, ask)
    : await depositTerms(tx, deps, payment, ask, wanted);
  const network = terms.network as NetworkId;
  const to = { currency: terms.currency, network };
  const receiver: { [Column in keyof Receiver]: Receiver[Column] | null } =
    ask.address === undefined ? unnamed(ask) : await receiverFor(tx, deps, to, { ...ask, address: ask.address });
  const now = await databaseNow(tx);
  return {
    ...terms,
    merchant_id: payment.merchant_id,
    payment_id: payment.id,
    body_hash: hashOf(payment.id, ask),
    state_version: 1,
    type: ask.type,
    fiat_currency: payment.fiat_currency,
    ...receiver,
    claimed_at: null,
    reason: ask.reason ?? null,
    reference: ask.reference ?? null,
    merchant_message: null,
    tx_id: null,
    completed_at: null,
    created_at: now,
    updated_at: now,
  };
}

/** The payer will name it, with its tag: one that is given alone would be lost. Throws VALIDATION_ERROR. */
function unnamed({ destinationTag }: NewRefund): Readonly<{ address: null; destination_tag: null }> {
  if (destinationTag) throw new DomainError('VALIDATION_ERROR', 'destinationTag comes with its address');
  return { address: null, destination_tag: null };
}

/** By Lightning the payer names an invoice when the refund is there: one that is given with it would have to be of its
 *  net amount, and expires while somebody approves. Throws REFUND_NOT_ALLOWED, VALIDATION_ERROR. */
function refuseUnlessClaimed({ lightning }: RefundDeps, { address, destinationTag }: NewRefund): void {
  if (!lightning) throw new DomainError('REFUND_NOT_ALLOWED');
  if (address !== undefined || destinationTag !== undefined)
    throw new DomainError('VALIDATION_ERROR', 'By Lightning the payer gives an invoice at claimUrl: leave address out');
}

/** Out of the balance: what a settled payment brought, less what has been refunded of it. */
async function creditedTerms(tx: EntityManager, deps: RefundDeps, payment: PaymentRow, ask: NewRefund): Promise<Terms> {
  const { currency } = payment;
  const paidRate = exchangeRateOf(payment);
  if (currency === null || paidRate === null) throw new DomainError('REFUND_NOT_ALLOWED');
  if (isByLightning(currency)) refuseUnlessClaimed(deps, ask);
  const [known] = await tx.query<Array<{ all: string; excess: string }>>(
    `SELECT coalesce(sum(amount), 0)::text AS all, coalesce(sum(amount) FILTER (WHERE type = 'overpaid'),
       0)::text AS excess
       FROM refund WHERE payment_id = $1 AND source = 'balance' AND status NOT IN ('failed', 'cancelled')`,
    [payment.id],
  );
  const price = await priceOf(tx, deps, payment, currency);
  const left = subtract(payment.amount_paid, known!.all);
  const beyond = subtract(excess(payment.amount, payment.amount_paid), known!.excess);
  if (ask.type === 'full' && ask.amount !== undefined)
    throw new DomainError('VALIDATION_ERROR', 'full takes no amount: it is all that is left');
  if (ask.type === 'overpaid' && isPositive(left) && !isPositive(beyond)) throw new DomainError('REFUND_NOT_ALLOWED');
  const amount = amountOf(ask, {
    currency,
    left,
    excess: beyond,
    paidRate,
    currentRate: price.exchangeRate,
  });
  if (amount === null) throw new DomainError('VALIDATION_ERROR', 'amount is needed for a partial refund');
  const most = ask.type === 'overpaid' ? smaller(beyond, left) : left;
  if (compare(amount, most) > 0) throw new DomainError('REFUND_EXCEEDS_PAID');
  if (!isPositive(amount)) throw new DomainError(isPositive(left) ? 'BELOW_MINIMUM' : 'REFUND_EXCEEDS_PAID');
  const feeBearer = ask.feeBearer ?? 'merchant';
  const networkFee = isByLightning(currency)
    ? wayFee(amount)
    : feeWithCoins(price.networkFee, currency, await coinsFor(tx, currency, amount));
  const split = splitRefund({ amount, networkFee, feeBearer, currency });
  if (!split) throw new DomainError('BELOW_MINIMUM');
  const rate = ask.rateBasis === 'current' ? price.exchangeRate : paidRate;
  return {
    ...columnsOf(split),
    lost_fee: null,
    currency,
    network: assetOf(currency).network,
    source: 'balance',
    deposit_ids: [],
    fee_bearer: feeBearer,
    fiat_amount: fiatValue(split.amount, rate, payment.fiat_currency),
  };
}
const ended = ['SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED'];

/** Never credited: all that is unallocated of one currency on one address, sent back from there. */
async function depositTerms(
  tx: EntityManager,
  deps: RefundDeps,
  payment: PaymentRow,
  ask: NewRefund,
  wanted: string | undefined,
): Promise<Terms> {
  const unallocated = ended.includes(payment.status)
    ? await tx.query<Array<{ currency: string; address: string; amount: string; ids: string[] }>>(
        `SELECT currency, address, sum(amount)::text AS amount, array_agg(id ORDER BY id) AS ids FROM deposit
          WHERE (payment_id = $1 AND child_payment_id IS NULL OR child_payment_id = $1) AND allocation = 'unallocated'
            AND status = 'confirmed'
            AND currency IS NOT NULL GROUP BY currency, address ORDER BY sum(amount) DESC`,
        [payment.id],
      )
    : [];
  const currencies = new Set(unallocated.map((one) => one.currency));
  if (currencies.size > 1 && wanted === undefined)
    throw new DomainError('VALIDATION_ERROR', `currency is needed: ${[...currencies].join(', ')}`);
  const found = unallocated.find((one) => wanted === undefined || one.currency === wanted);
  if (!found || !['full', 'underpaid'].includes(ask.type)) throw new DomainError('REFUND_NOT_ALLOWED');
  if (ask.amount !== undefined || ask.rateBasis !== undefined || ask.feeBearer === 'merchant')
    throw new DomainError('VALIDATION_ERROR', 'What was never credited goes back whole, less its fee');
  const { currency, address, ids } = found;
  const { network, decimals } = assetOf(currency);
  const { native, kind } = networkOf(currency);
  const price = await priceOf(tx, deps, payment, currency);
  const { arrived, goneUnits } = await spendableAt(tx, { network, address, currency, native });
  const split = splitDeposits({
    amount: found.amount,
    usable: kind === 'utxo' ? found.amount : subtract(arrived, fromUnits(BigInt(goneUnits), decimals)),
    networkFee: kind === 'utxo' ? feeOfCoins(price.networkFee, ids.length, currency) : price.networkFee,
    currency,
  });
  if (!split) throw new DomainError('BELOW_MINIMUM');
  return {
    ...columnsOf(split),
    lost_fee: isPositive(split.lost) ? split.lost : null,
    currency,
    network,
    source: 'deposit',
    deposit_ids: ids,
    fee_bearer: 'payer',
    fiat_amount: fiatValue(split.amount, price.exchangeRate, payment.fiat_currency),
  };
}
