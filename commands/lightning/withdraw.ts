import type { EntityManager } from 'typeorm';
import { notifyPayment } from '../../db/chains/notify';
import { freeIdempotencyKey } from '../../db/lightning/invoices';
import { lockPayment } from '../../db/payments/payments';
import { isByLightning } from '../../domain/chains/assets';
import type { PaymentRow } from '../../domain/payments/payment';
import { cancelPayment } from '../payments/cancel';

/** Whether a payment waits for the text of an invoice, without which nobody can pay it. */
export const isWithoutInvoice = ({ status, currency, deposit_address: text }: PaymentRow): boolean =>
  status === 'WAITING' && currency !== null && isByLightning(currency) && text === null;

/** Cancels a payment that was opened in BTC_LN and has had no invoice yet, and frees its idempotency key, so that who
 *  asks again with it gets another payment. Returns the payment: as it is where the invoice has come after all, or
 *  somebody has changed it since; null: it is cancelled. */
export async function withdrawUnpayable(tx: EntityManager, opened: PaymentRow): Promise<PaymentRow | null> {
  const payment = await lockPayment(tx, opened.id);
  if (!isWithoutInvoice(payment) || payment.state_version !== 1) return payment;
  await freeIdempotencyKey(tx, payment.id);
  await cancelPayment(tx, payment.id, 'service', 'The Lightning node has made no invoice in time');
  await notifyPayment(tx, payment.id);
  return null;
}
