import type { EntityManager } from 'typeorm';
import { changedRows } from '../query';

/** Addresses that receipts go to. They are a payer's: nothing shows them to anybody. */

/** So many of one payment: a second after a typing error, and not a list of strangers. */
const mostAddresses = 3;

export type ReceiptEmail = Readonly<{ email: string; language: string }>;

/** Keeps an address; the caller has locked the payment. False where it has too many. */
export async function storeReceiptEmail(
  tx: EntityManager,
  paymentId: string,
  { email, language }: ReceiptEmail,
): Promise<boolean> {
  await tx.query(
    `INSERT INTO receipt_email (payment_id, email, language)
     SELECT $1, $2, $3 WHERE (SELECT count(*) FROM receipt_email WHERE payment_id = $1) < ${mostAddresses}
     ON CONFLICT DO NOTHING`,
    [paymentId, email, language],
  );
  const kept = await tx.query<unknown[]>('SELECT FROM receipt_email WHERE payment_id = $1 AND email = $2', [
    paymentId,
    email,
  ]);
  return kept.length > 0;
}

/** The addresses of a payment that no mail was asked for yet. The caller has locked the payment. */
export const dueReceipts = (tx: EntityManager, paymentId: string): Promise<ReceiptEmail[]> =>
  tx.query<ReceiptEmail[]>(
    'SELECT email, language FROM receipt_email WHERE payment_id = $1 AND mail_id IS NULL ORDER BY left_at, email',
    [paymentId],
  );

/** Notes the mail to an address, once. Throws where there is one already. */
export async function noteReceiptMail(
  tx: EntityManager,
  paymentId: string,
  email: string,
  mailId: string,
): Promise<void> {
  const noted = await changedRows<{ email: string }>(
    tx,
    `UPDATE receipt_email SET mail_id = $3 WHERE payment_id = $1 AND email = $2 AND mail_id IS NULL RETURNING email`,
    [paymentId, email, mailId],
  );
  if (!noted.length) throw new Error(`The receipt of payment ${paymentId} was asked for already`);
}
