import type { InvoiceBranding } from '../branding/branding';
import { assetOf, isByLightning, type NetworkId } from '../chains/assets';
import type { Explorers } from '../chains/chosen-chain';
import { add, compare, Decimal, divide, fit, isPositive, larger, smaller, subtract, times } from '../money';
import { fiatDecimals } from '../pricing/quote';
import { settlementWork, sweepWork } from '../chains/costs';
import { exactAmount } from '../chains/exact-amount';
import { chargedFee } from '../txmanager/added-fee';
import { messageOf, type WaitCause } from '../txmanager/waits';

/** Money on its way back to a payer. Contract: G3. */

export const refundStatuses = [
  'awaiting_address',
  'awaiting_approval',
  'pending',
  'processing',
  'broadcast',
  'completed',
  'failed',
  'cancelled',
] as const;
export type RefundStatus = (typeof refundStatuses)[number];
type RefundType = 'full' | 'partial' | 'overpaid' | 'underpaid';
export type RefundEventType = `refund.${'created' | 'claimed' | 'broadcast' | 'completed' | 'failed' | 'cancelled'}`;
export type RefundFeeBearer = 'merchant' | 'payer';

/** Nothing is signed before `processing`: until then it can be cancelled. */
export const cancellable: readonly RefundStatus[] = ['awaiting_address', 'awaiting_approval', 'pending'];

export type RefundRow = {
  id: string;
  merchant_id: string;
  payment_id: string;
  idempotency_key: string | null;
  body_hash: string;
  status: RefundStatus;
  state_version: number;
  type: RefundType;
  currency: string;
  network: string;
  /** balance: credited, and held in the ledger; deposit: never credited, sent back from the address that it came to. */
  source: 'balance' | 'deposit';
  deposit_ids: string[];
  fee_bearer: RefundFeeBearer;
  /** Counts against what the payment received. */
  amount: string;
  network_fee: string;
  /** What of `network_fee` is above its quote, because of what the address takes; null: nothing. */
  added_fee: string | null;
  /** What of `network_fee` earlier tries have burned of its deposits; null: nothing. */
  lost_fee: string | null;
  /** Held for it: `net_amount` + `network_fee`. */
  gross_amount: string;
  /** What its address gets. */
  net_amount: string;
  fiat_amount: string;
  fiat_currency: string;
  address: string | null;
  /** When its payer named the address. */
  claimed_at: Date | null;
  destination_tag: string | null;
  reason: string | null;
  reference: string | null;
  merchant_message: string | null;
  key_id: string | null;
  /** The user who made it in a session. */
  created_by: string | null;
  /** The person who counts as the one who asked: that user, or the maker of the key; null while nobody is known. */
  asked_by: string | null;
  /** Above a limit: approved by somebody else than `asked_by`. */
  needs_second_person: boolean;
  approved_by: string | null;
  approved_at: Date | null;
  tx_id: string | null;
  completed_at: Date | null;
  created_at: Date;
  updated_at: Date;
};
/** As it is shown: with what keeps it from being signed, and what its merchant was charged beside it for what its
 *  address takes. */
export type ShownRefund = RefundRow & { waits_for?: WaitCause | null; charged_gas?: string | null };

/** Where a refund goes on once its address is known: one that somebody has approved is sent, the others wait for a
 *  user. */
export const afterAddress = (row: Pick<RefundRow, 'approved_at'>): 'pending' | 'awaiting_approval' =>
  row.approved_at ? 'pending' : 'awaiting_approval';

/** What is held and what arrives. The bearer of the fee decides which of the two is `amount`. null: nothing worth
 *  sending is left. */
export function splitRefund(
  refund: Readonly<{ amount: string; networkFee: string; feeBearer: RefundFeeBearer; currency: string }>,
): Readonly<{ amount: string; networkFee: string; gross: string; net: string }> | null {
  const { decimals, dust } = assetOf(refund.currency);
  const amount = fit(refund.amount, decimals, 'down');
  const networkFee = fit(refund.networkFee, decimals, 'up');
  const isMerchants = refund.feeBearer === 'merchant';
  const net = isMerchants ? amount : subtract(amount, networkFee);
  if (compare(net, dust) < 0 || !isPositive(net)) return null;
  return { amount, networkFee, gross: isMerchants ? add(amount, networkFee) : amount, net };
}

/** What sending back deposits that were never credited leaves of them. Nobody else pays, so that the fee comes out of
 *  them; what an earlier try has cost is gone too (`lost`, within the fee). `usable`: what is on their address. null:
 *  nothing worth sending is left. */
export function splitDeposits(
  deposits: Readonly<{ amount: string; usable: string; networkFee: string; currency: string }>,
): (NonNullable<ReturnType<typeof splitRefund>> & Readonly<{ lost: string }>) | null {
  const lost = subtract(deposits.amount, smaller(deposits.amount, deposits.usable));
  const split = splitRefund({ ...deposits, networkFee: add(deposits.networkFee, lost), feeBearer: 'payer' });
  return split && { ...split, lost };
}

/** The fee of spending this many coins, by the fee of the usual transaction. Rounded up. */
export const feeOfCoins = (usualFee: string, count: number, currency: string): string => {
  const usual = settlementWork(currency).toString();
  const work = larger(sweepWork(currency, count).toString(), usual);
  return divide(times(usualFee, work, 36, 'up'), usual, assetOf(currency).decimals, 'up');
};

/** What a refund is asked to be. `amount`: in the payment's currency, or in its fiat currency where `rateBasis` says at
 *  which rate. */
export type RefundAsk = Readonly<{ type: RefundType; amount?: string; rateBasis?: 'paid' | 'current' }>;
export type Refundable = Readonly<{
  currency: string;
  /** Received, and not refunded yet. */
  left: string;
  /** Beyond what was asked for, and not refunded yet. */
  excess: string;
  /** Fiat per unit: of the quote, and of now. */
  paidRate: string;
  currentRate: string;
}>;

/** The amount of a refund in the payment's currency; what is converted from fiat is rounded down. null where the ask
 *  has no meaning here. Throws VALIDATION_ERROR where the currency does not have all of its digits. */
export function amountOf(ask: RefundAsk, payment: Refundable): string | null {
  const { decimals } = assetOf(payment.currency);
  const atRate = (fiat: string): string =>
    divide(fiat, ask.rateBasis === 'current' ? payment.currentRate : payment.paidRate, decimals, 'down');
  if (ask.amount !== undefined)
    return ask.rateBasis === undefined ? exactAmount(payment.currency, ask.amount) : atRate(ask.amount);
  switch (ask.type) {
    case 'full':
    case 'underpaid':
      if (ask.rateBasis !== 'current') return payment.left;
      return smaller(
        payment.left,
        divide(times(payment.left, payment.paidRate, 36, 'down'), payment.currentRate, decimals, 'down'),
      );
    case 'overpaid':
      return smaller(payment.excess, payment.left);
    case 'partial':
      return null;
  }
}

/** As people write it: all minor units. */
const fiatText = (amount: string, fiat: string): string => new Decimal(amount).toFixed(fiatDecimals[fiat] ?? 2);

/** A refund as GET and the events show it; `claimUrl` only to those who may name its address, so never in events.
 *  Contract: G3. */
export const viewRefund = (row: ShownRefund, livemode: boolean, claimUrl: string | null = null) => ({
  _id: row.id,
  paymentId: row.payment_id,
  status: row.status,
  stateVersion: row.state_version,
  livemode,
  type: row.type,
  currency: row.currency,
  amount: fit(row.amount, 18, 'down'),
  networkFee: fit(chargedFee(row), 18, 'up'),
  netToDestination: fit(row.net_amount, 18, 'down'),
  feeBearer: row.fee_bearer,
  fiatAmount: fiatText(row.fiat_amount, row.fiat_currency),
  fiatCurrency: row.fiat_currency,
  address: row.address,
  destinationTag: row.destination_tag,
  claimUrl,
  reason: row.reason,
  reference: row.reference,
  txId: row.tx_id,
  merchantMessage: messageOf(row),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  completedAt: row.completed_at?.toISOString() ?? null,
});

/** What the payer sees of a refund that they claim: no reason, no reference, no ledger entry of the merchant. */
export const viewClaim = (
  row: RefundRow,
  from: Readonly<{ merchantName: string; invoiceId: string; branding: InvoiceBranding; explorers: Explorers }>,
) => ({
  status: row.status,
  merchantName: from.merchantName,
  branding: from.branding,
  invoiceId: from.invoiceId,
  currency: row.currency,
  network: row.network,
  amount: fit(row.amount, 18, 'down'),
  networkFee: fit(row.network_fee, 18, 'up'),
  feeBearer: row.fee_bearer,
  netToDestination: fit(row.net_amount, 18, 'down'),
  fiatAmount: fiatText(row.fiat_amount, row.fiat_currency),
  fiatCurrency: row.fiat_currency,
  requiresDestinationTag: assetOf(row.currency).requiresDestinationTag,
  address: row.address,
  destinationTag: row.destination_tag,
  txId: row.tx_id,
  explorerTxUrl: isByLightning(row.currency) ? null : (from.explorers[row.network as NetworkId] ?? null),
  createdAt: row.created_at.toISOString(),
});
export type ClaimView = ReturnType<typeof viewClaim>;
/** A key may only ask; a user, who has brought a factor, decides; so does the policy that the merchant has set.
 *  `madeBy`: the user who made the key. */
export type RefundBy = Readonly<
  { keyId: string; madeBy: string | null } | { userId: string } | { policy: 'underpaid' }
>;
