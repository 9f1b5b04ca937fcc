import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import { lockPayment } from '../../db/payments/payments';
import { claimAddress } from '../../db/recovery/unclaimed';

/** Gives an address that a recovery has forgotten to a payment, which takes what came to it like any deposit: for
 *  its own price, or as a child. `refused`: why not, for operators. */
export async function claimForgotten(
  tx: EntityManager,
  { network, address, paymentId }: Readonly<{ network: string; address: string; paymentId: string }>,
): Promise<Readonly<{ merchantId: string } | { refused: string }>> {
  const payment = await lockPayment(tx, paymentId).catch((error: unknown) => {
    if (error instanceof DomainError && error.code === 'PAYMENT_NOT_FOUND') return null;
    throw error;
  });
  if (!payment) return { refused: `No payment ${paymentId}` };
  const { currency, merchant_id: merchantId } = payment;
  if (currency === null) return { refused: `Payment ${paymentId} has no currency yet` };
  const isClaimed = await claimAddress(tx, { network, address, currency, merchantId, paymentId });
  return isClaimed
    ? { merchantId }
    : { refused: `${address} on ${network} is no address that a recovery has forgotten` };
}
