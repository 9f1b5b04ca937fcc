import type { EntityManager } from 'typeorm';
import { decideInvoice, invoicesOf, planInvoice } from '../../db/lightning/invoices';
import { nodeNow } from '../../db/lightning/node';
import type { Queryable } from '../../db/query';
import { baseUnits } from '../../domain/chains/assets';
import { whyNotByLightning } from '../../domain/lightning/availability';
import type { PaymentRow } from '../../domain/payments/payment';

/** What an invoice asks for. Millisatoshi, whole satoshi of them. */
export const msatOf = (currency: string, amount: string): bigint => baseUnits(currency, amount) * 1000n;

/** Whether our node could receive an amount of bitcoin now. */
export const canReceive = async (db: Queryable, currency: string, amount: string): Promise<boolean> =>
  whyNotByLightning(await nodeNow(db), baseUnits(currency, amount)) === null;

/** An invoice for what the payment costs at its current quote, and as long as that is guaranteed; null where there is
 *  nothing to offer. The money of an earlier one is sent back from now on. The caller holds the lock of the payment.
 *  Returns the id of the row; the text comes once the node has made it. */
export async function offerInvoice(tx: EntityManager, payment: PaymentRow): Promise<string | null> {
  const { id: paymentId, status, currency, amount, quote_expires_at: expiresAt } = payment;
  if (status !== 'WAITING' || currency === null || amount === null || expiresAt === null) return null;
  for (const earlier of await invoicesOf(tx, paymentId)) {
    if (earlier.is_for_payment && earlier.state !== 'cancelled') return null;
    if (earlier.decision === null) await decideInvoice(tx, earlier.id, 'return', 'newer quote');
  }
  return planInvoice(tx, { paymentId, currency, askedMsat: msatOf(currency, amount), expiresAt });
}
