import type { EntityManager } from 'typeorm';
import { countedDeposits, isLive, missingRates, paidBy, unratedParts } from '../../domain/payments/counted';
import { isByLightning } from '../../domain/chains/assets';
import type { PartId, PaymentFacts } from '../../domain/payments/facts';
import type { PaymentRow } from '../../domain/payments/payment';
import { keepQuote, quoteAtMoment, ratePart } from '../../db/payments/deposit-rates';
import { emitPaymentEvents, factsOf, movePayment } from '../../db/payments/payments';
import { offerInvoice } from '../lightning/offer';
import { amountColumns, quoteColumns, quoteEnd } from './columns';
import type { PaymentCommandDeps } from './deps';

/** Gives the missing part of the price a new quote from the moment `at` on. Row 6, and `in time` of Invariants: 3.
 *  Throws RATE_UNAVAILABLE. */
export async function requote(
  tx: EntityManager,
  { config }: PaymentCommandDeps,
  payment: PaymentRow,
  cause: string,
  at: Date,
): Promise<PaymentRow> {
  const priced = await quoteAtMoment(tx, payment, at, config.RATE_MAX_AGE_SECONDS);
  const columns = quoteColumns(priced);
  const facts = { ...(await factsOf(tx, payment)), quoteAmount: columns.quote_amount };
  await keepQuote(tx, payment);
  const byLightning = payment.currency !== null && isByLightning(payment.currency);
  const moved = await movePayment(tx, payment, {
    to: payment.status,
    cause,
    events: [],
    patch: {
      ...columns,
      ...amountColumns({ ...payment, ...columns }, paidBy(facts, countedDeposits(facts).filter(isLive)).amount),
      // Another invoice comes for the new price.
      ...(byLightning ? { deposit_address: null } : {}),
      quoted_at: at,
      quote_expires_at: quoteEnd(at, config.QUOTE_TTL_SECONDS, payment.expires_at),
    },
    details: { rateId: priced.rateId, previousRateId: payment.rate_id },
  });
  if (byLightning) await offerInvoice(tx, moved);
  await emitPaymentEvents(tx, payment, moved, []);
  return moved;
}

/** Gives deposits, or parts of them, the rate of the quote that was in force at their moment. Throws
 *  RATE_UNAVAILABLE. */
export async function rateParts(
  tx: EntityManager,
  { config }: PaymentCommandDeps,
  payment: PaymentRow,
  facts: PaymentFacts,
  parts: readonly PartId[],
): Promise<void> {
  const isAsked = (one: PartId): boolean =>
    parts.some(({ depositId, n }) => depositId === one.depositId && n === one.n);
  for (const part of unratedParts(facts).filter(isAsked))
    await ratePart(tx, payment, part, config.RATE_MAX_AGE_SECONDS);
}

/** Gives every deposit its rate, with a new quote wherever one is needed, before a command decides on what they are
 *  worth. None where the quote must stay, because money of Lightning is being taken. */
export async function rateAllDeposits(
  tx: EntityManager,
  deps: PaymentCommandDeps,
  payment: PaymentRow,
): Promise<PaymentRow> {
  for (let current = payment; ;) {
    const facts = await factsOf(tx, current);
    const missing = missingRates(facts);
    if (!missing || facts.isBeingTaken) return current;
    if (missing.do === 'requote') current = await requote(tx, deps, current, 'paid-after-quote', missing.at);
    else await rateParts(tx, deps, current, facts, missing.parts);
  }
}
