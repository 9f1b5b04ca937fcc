import type { EntityManager } from 'typeorm';
import { afterAddress } from '../../domain/refunds/refund';
import type { PaidFor } from '../lightning/payments';
import { byClock } from '../records';
import { lockRefundWithPayment, moveRefund } from './refunds';

/** Claims that a recovery has lost: the invoice that the Lightning node was told to pay says what was claimed. What is
 *  no refund has none. */

type Called = PaidFor & Readonly<{ invoice: string }>;

/** Locks the refund with its payment: whether it names no other receiver than this invoice. */
export async function mayBeClaimedAgain(tx: EntityManager, { kind, ref, invoice }: Called): Promise<boolean> {
  if (kind !== 'refund') return true;
  const row = await lockRefundWithPayment(tx, ref);
  return row !== null && (row.address === null || row.address === invoice);
}

/** The refund has its invoice again: nobody can name another one. */
export async function claimAgain(tx: EntityManager, { kind, ref, invoice }: Called): Promise<void> {
  const row = kind === 'refund' ? await lockRefundWithPayment(tx, ref) : null;
  if (row?.status === 'awaiting_address')
    await moveRefund(tx, row, afterAddress(row), { address: invoice, claimed_at: byClock });
}
