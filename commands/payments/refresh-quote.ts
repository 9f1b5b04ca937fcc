import type { EntityManager } from 'typeorm';
import { countedDeposits, isLive, unratedParts } from '../../domain/payments/counted';
import type { Outcome } from '../../domain/payments/payment';
import { factsOf, lockPayment } from '../../db/payments/payments';
import type { PaymentCommandDeps } from './deps';
import { requote } from './rates';

/** Row 6. Refused while the quote is still in force, while a deposit is seen that the payment has not counted yet, or
 *  while money of Lightning is being taken. */
export async function refreshQuote(tx: EntityManager, deps: PaymentCommandDeps, id: string): Promise<Outcome> {
  const payment = await lockPayment(tx, id);
  const facts = await factsOf(tx, payment);
  const isStale =
    (payment.status === 'WAITING' || payment.status === 'PARTIALLY_PAID') &&
    payment.quote_expires_at !== null &&
    facts.now >= payment.quote_expires_at;
  const isSeen = payment.status === 'WAITING' ? countedDeposits(facts).some(isLive) : unratedParts(facts).length > 0;
  if (!isStale || isSeen || facts.isBeingTaken || facts.now >= payment.expires_at)
    return { status: payment.status, refused: 'QUOTE_NOT_REFRESHABLE' };
  return { status: (await requote(tx, deps, payment, 'quote-refreshed', facts.now)).status };
}
