import type { EntityManager } from 'typeorm';
import type { PaymentRow } from '../../domain/payments/payment';
import { failPoint } from '../../db/fail-point';
import { ensureAllocation, reverseAllocation } from '../../db/ledger/ledger';
import { depositsById, setAllocation, type DepositRow } from '../../db/payments/deposits';

/** A deposit as the ledger's journals name it. */
export const journalOf = (deposit: DepositRow) => ({
  network: deposit.network,
  txId: deposit.tx_id,
  index: deposit.out_index,
  currency: deposit.currency!,
  amount: deposit.amount,
});

/** Credits deposits to `unsettled` (J1), or holds them in `unallocated` (J8). */
export async function bookDeposits(
  tx: EntityManager,
  payment: PaymentRow,
  ids: readonly string[],
  allocation: 'unsettled' | 'unallocated',
): Promise<void> {
  if (!ids.length) return;
  for (const deposit of await depositsById(tx, ids))
    await ensureAllocation(tx, { ...journalOf(deposit), merchantId: payment.merchant_id }, allocation);
  await setAllocation(tx, ids, allocation);
  await failPoint('confirm.afterPost');
}

/** Reverses the journals of deposits: no ledger account has them any more. */
export async function reverseDeposits(tx: EntityManager, ids: readonly string[]): Promise<void> {
  if (!ids.length) return;
  for (const deposit of await depositsById(tx, ids)) await reverseAllocation(tx, journalOf(deposit));
  await setAllocation(tx, ids, null);
}

/** The same for those of these deposits that are booked. */
export const reverseBooked = (tx: EntityManager, deposits: readonly DepositRow[]): Promise<void> =>
  reverseDeposits(
    tx,
    deposits.filter((deposit) => deposit.allocation !== null).map((deposit) => deposit.id),
  );
