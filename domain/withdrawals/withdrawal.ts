import { assetOf } from '../chains/assets';
import { add, compare, fit, isPositive, subtract } from '../money';
import { chargedFee } from '../txmanager/added-fee';
import { messageOf, type WaitCause } from '../txmanager/waits';

/** A merchant's own money on its way out, to an address of its whitelist. Contract: G9. */

export const withdrawalStatuses = [
  'pending',
  'awaiting_approval',
  'processing',
  'broadcast',
  'completed',
  'failed',
  'cancelled',
] as const;
export type WithdrawalStatus = (typeof withdrawalStatuses)[number];
export type WithdrawalEventType =
  `withdrawal.${'created' | 'processing' | 'broadcast' | 'completed' | 'failed' | 'cancelled'}`;
/** Where the network fee comes from: out of the amount, or on top of it. */
export type FeeMode = 'deduct' | 'add';

/** Nothing is signed before `processing`: until then it can be cancelled. */
export const cancellable: readonly WithdrawalStatus[] = ['pending', 'awaiting_approval'];

export type WithdrawalRow = {
  id: string;
  merchant_id: string;
  idempotency_key: string;
  body_hash: string;
  status: WithdrawalStatus;
  state_version: number;
  currency: string;
  network: string;
  fee_mode: FeeMode;
  /** As it was asked for. */
  amount: string;
  network_fee: string;
  /** What of `network_fee` is above its quote, because of what the address takes; null: nothing. */
  added_fee: string | null;
  /** Held for it: `net_amount` + `network_fee`. */
  gross_amount: string;
  /** What its address gets. */
  net_amount: string;
  address: string;
  destination_tag: string | null;
  note: string | null;
  merchant_message: string | null;
  requested_by: string;
  requested_by_name: string;
  needs_approval: boolean;
  approved_by: string | null;
  approved_by_name: string | null;
  approved_at: Date | null;
  tx_id: string | null;
  broadcast_at: Date | null;
  completed_at: Date | null;
  created_at: Date;
  updated_at: Date;
};
/** As it is shown: with the depth of its transaction, what keeps it from being signed, and what its merchant was
 *  charged beside it for what its address takes. */
export type ShownWithdrawal = WithdrawalRow & {
  confirmations: number;
  waits_for?: WaitCause | null;
  charged_gas?: string | null;
};

export type Split = Readonly<{ amount: string; networkFee: string; gross: string; net: string }>;

/** What is held and what arrives; digits finer than the asset's are cut. null: what would arrive is dust. */
export function splitWithdrawal(
  ask: Readonly<{ amount: string; networkFee: string; feeMode: FeeMode; currency: string }>,
): Split | null {
  const { decimals, dust } = assetOf(ask.currency);
  const amount = fit(ask.amount, decimals, 'down');
  const networkFee = fit(ask.networkFee, decimals, 'up');
  const net = ask.feeMode === 'add' ? amount : subtract(amount, networkFee);
  if (!isPositive(net) || compare(net, dust) < 0) return null;
  return { amount, networkFee, gross: add(net, networkFee), net };
}

/** The largest amount that `available` covers; '0' where it covers none. */
export function largestWithdrawal(available: string, networkFee: string, feeMode: FeeMode, currency: string): string {
  const { decimals } = assetOf(currency);
  const whole = fit(available, decimals, 'down');
  const amount = feeMode === 'deduct' ? whole : subtract(whole, fit(networkFee, decimals, 'up'));
  return isPositive(amount) && splitWithdrawal({ amount, networkFee, feeMode, currency }) ? amount : '0';
}

/** A withdrawal as GET and the events show it. Contract: G9. */
export const viewWithdrawal = (row: ShownWithdrawal, livemode: boolean) => ({
  _id: row.id,
  status: row.status,
  stateVersion: row.state_version,
  livemode,
  currency: row.currency,
  feeMode: row.fee_mode,
  amount: fit(row.amount, 18, 'down'),
  networkFee: fit(chargedFee(row), 18, 'up'),
  netToDestination: fit(row.net_amount, 18, 'down'),
  address: row.address,
  destinationTag: row.destination_tag,
  note: row.note,
  txId: row.tx_id,
  confirmations: row.confirmations,
  merchantMessage: messageOf(row),
  requestedBy: row.requested_by_name,
  approvedBy: row.needs_approval ? row.approved_by_name : null,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  broadcastAt: row.broadcast_at?.toISOString() ?? null,
  completedAt: row.completed_at?.toISOString() ?? null,
});
