import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import type { PaymentRow } from '../../domain/payments/payment';
import { lockPayment } from '../../db/payments/payments';
import { invalid } from './act';

/** The payment that a request names, locked. Throws the act's refusal where there is none. */
export async function namedPayment(tx: EntityManager, id: string | undefined): Promise<PaymentRow> {
  const missing = invalid(`No payment ${id}`);
  if (!isId(id)) throw missing;
  return lockPayment(tx, id).catch((error: unknown) => {
    throw error instanceof DomainError && error.code === 'PAYMENT_NOT_FOUND' ? missing : error;
  });
}
