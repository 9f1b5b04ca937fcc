import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import { receiptMail } from '../../domain/mail/receipt-mail';
import type { PaymentRow } from '../../domain/payments/payment';
import { brandingOf } from '../../db/branding/branding';
import { findMerchant } from '../../db/access/merchants';
import { queueMail } from '../../db/mail/mail';
import { lockPayment } from '../../db/payments/payments';
import { dueReceipts, noteReceiptMail, storeReceiptEmail, type ReceiptEmail } from '../../db/payments/receipt-emails';

export type ReceiptDeps = Readonly<{ config: Readonly<{ SECRETS_KEY: string; CHECKOUT_URL: string }> }>;

const paid: readonly string[] = ['CONFIRMED', 'SWEEP_QUEUED', 'SETTLED'];
const never: readonly string[] = ['EXPIRED', 'CANCELLED', 'FAILED'];

/** Asks for the mails of a payment that is paid, in the transaction of the caller, which has locked it: each address
 *  gets one, however often a step is repeated and a reorganisation confirms the payment anew. */
export async function sendReceipts(tx: EntityManager, { config }: ReceiptDeps, payment: PaymentRow): Promise<void> {
  const due = await dueReceipts(tx, payment.id);
  if (!due.length) return;
  const [merchant, branding] = await Promise.all([
    findMerchant(tx, payment.merchant_id),
    brandingOf(tx, payment.merchant_id),
  ]);
  const about = { payment, merchantName: merchant!.name, branding, checkoutUrl: config.CHECKOUT_URL };
  for (const { email, language } of due)
    await noteReceiptMail(
      tx,
      payment.id,
      email,
      await queueMail(tx, config.SECRETS_KEY, receiptMail(email, language, about)),
    );
}

/** Keeps an address for the receipt; where the payment is paid already, the mail goes now. Throws RECEIPT_UNAVAILABLE:
 *  the payment has ended otherwise, or has too many addresses. */
export async function leaveReceiptEmail(
  tx: EntityManager,
  deps: ReceiptDeps,
  paymentId: string,
  to: ReceiptEmail,
): Promise<void> {
  const payment = await lockPayment(tx, paymentId);
  if (never.includes(payment.status)) throw new DomainError('RECEIPT_UNAVAILABLE');
  if (!(await storeReceiptEmail(tx, paymentId, { ...to, email: to.email.trim().toLowerCase() })))
    throw new DomainError('RECEIPT_UNAVAILABLE');
  if (paid.includes(payment.status)) await sendReceipts(tx, deps, payment);
}
