import type { EntityManager } from 'typeorm';
import { decideInvoice, invoicesOf, planInvoice } from '../../db/lightning/invoices';
import { assetOf } from '../../domain/chains/assets';
import { toUnits } from '../../domain/money';
import type { PaymentRow } from '../../domain/payments/payment';

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
  const askedMsat = toUnits(amount, assetOf(currency).decimals) * 1000n;
  return planInvoice(tx, { paymentId, currency, askedMsat, expiresAt });
}
