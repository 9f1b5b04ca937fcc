import type { EntityManager } from 'typeorm';
import { networkOf, type NetworkId } from '../domain/chains/assets';
import type { PaymentRow } from '../domain/payments/payment';
import type { Config } from '../domain/config';
import { sweepDeadlines } from '../domain/sweeps/sweep-batch';
import { unsettledDeposits, type DepositRow } from '../db/payments/deposits';
import type { PaymentIntent } from '../db/txmanager/intents';
import { orphanedIntents, type OrphanedIntent } from '../db/sweeps/orphaned';

/** What the plans of sweeps share. */

/** When a sweep may cost too much, and how long it waits for others or a better price. */
export type SweepTerms = Readonly<{
  batchSeconds: number;
  maxCostPct: number;
  maxWaitHours: number;
  /** By network: the contract of ours that sweeps the tokens of many. */
  sweepers: Readonly<Partial<Record<NetworkId, string>>>;
}>;

export const termsOf = (config: Config): SweepTerms => ({
  batchSeconds: config.SWEEP_BATCH_SECONDS,
  maxCostPct: config.SWEEP_MAX_COST_PCT,
  maxWaitHours: config.SWEEP_MAX_WAIT_HOURS,
  sweepers: config.chain.sweepers,
});

/** A payment that can be swept now, and what of it is to be swept. */
export type Ready = Readonly<{ payment: PaymentRow; deposits: readonly DepositRow[] }>;

export const deadlinesOf = (payment: PaymentRow, terms: SweepTerms): ReturnType<typeof sweepDeadlines> =>
  sweepDeadlines(payment.confirmed_at ?? payment.updated_at, terms);

/** Is every one of these deposits moved by a sweep that can still succeed? */
export function isPlanned(known: readonly PaymentIntent[], deposits: readonly DepositRow[]): boolean {
  const ids = deposits.map((deposit) => deposit.id);
  const isOf = (intent: PaymentIntent): boolean =>
    !['failed', 'dead'].includes(intent.status) && intent.deposit_ids.every((id) => ids.includes(id));
  return (
    ids.length > 0 &&
    ids.every((id) =>
      known.some((intent) => intent.kind === 'sweep' && isOf(intent) && intent.deposit_ids.includes(id)),
    )
  );
}

/** Sweeps for deposits that are gone, which hold a nonce or a coin that this payment needs. */
export const orphanedFor = (tx: EntityManager, { payment, deposits }: Ready): Promise<OrphanedIntent[]> =>
  orphanedIntents(tx, {
    paymentId: payment.id,
    firstId: payment.parent_payment_id ?? payment.id,
    addresses: networkOf(payment.currency!).kind === 'utxo' ? [] : deposits.map((deposit) => deposit.address),
    depositIds: deposits.map((deposit) => deposit.id),
  });

/** Deposits of a payment that are credited and not settled, where all of them are confirmed; empty where one is not. */
export async function readyDeposits(tx: EntityManager, paymentId: string): Promise<DepositRow[]> {
  const deposits = await unsettledDeposits(tx, paymentId);
  return deposits.every((deposit) => deposit.status === 'confirmed') ? deposits : [];
}
