import type { EntityManager } from 'typeorm';
import { networks, type Currency } from '../../domain/chains/assets';
import type { PaymentRow } from '../../domain/payments/payment';
import type { DepositFact } from '../../domain/payments/facts';
import { quote } from '../../domain/pricing/quote';
import { rateAt } from '../pricing/pricing';

/** The rates of deposits: each has that of the quote in force when it was first seen. docs/decisions/0018. */

/** SQL: the moment whose rate a deposit `d` counts at, when it was first seen or, mined too late for that, its block's
 *  time. */
export const rateMomentSql = `CASE WHEN d.height - d.first_seen_height > CASE d.network ${Object.values(networks)
  .map(({ id, rateHoldBlocks }) => `WHEN '${id}' THEN ${rateHoldBlocks}`)
  .join(' ')} END THEN coalesce(d.mined_at, d.first_seen_at) ELSE d.first_seen_at END`;

/** What a deposit counts at. `quoteAmount`: the whole price in its coin. */
export type DepositRate = Readonly<{ rateId: string; exchangeRate: string; quoteAmount: string }>;

/** Gives deposits a rate, of the moment `at` or, without one, of their own. It is kept nowhere else. */
export const setDepositRate = (
  tx: EntityManager,
  depositIds: readonly string[],
  rate: DepositRate,
  at: Date | null = null,
): Promise<unknown> =>
  tx.query(
    `UPDATE deposit d SET rate_id = $2, exchange_rate = $3, quote_amount = $4,
            rated_at = coalesce($5, date_trunc('milliseconds', ${rateMomentSql}))
      WHERE id = ANY($1::bigint[])`,
    [depositIds, rate.rateId, rate.exchangeRate, rate.quoteAmount, at],
  );

/** Keeps the quote that a payment has, before it gets another. */
export const keepQuote = (tx: EntityManager, payment: PaymentRow): Promise<unknown> =>
  tx.query(
    `INSERT INTO payment_quote (payment_id, currency, rate_id, exchange_rate, quote_amount, quoted_at, ended_at)
     SELECT id, currency, rate_id, exchange_rate, quote_amount, quoted_at, least(quote_expires_at, clock_timestamp())
       FROM payment WHERE id = $1 AND rate_id IS NOT NULL AND quote_amount IS NOT NULL AND quoted_at IS NOT NULL
        AND quote_expires_at IS NOT NULL`,
    [payment.id],
  );

/** The quote of a payment that was in force at a moment; null where none was. Blocks know whole seconds, so a quote
 *  counts from the beginning of its second; before the first quote, the first counts. */
async function quoteInForce(tx: EntityManager, payment: PaymentRow, at: Date): Promise<DepositRate | null> {
  const [found] = await tx.query<DepositRate[]>(
    `WITH quotes AS (
       SELECT rate_id, exchange_rate, quote_amount, quoted_at, ended_at FROM payment_quote
        WHERE payment_id = $1 AND currency = $2
       UNION ALL
       SELECT rate_id, exchange_rate, coalesce(quote_amount, amount), coalesce(quoted_at, created_at),
              coalesce(quote_expires_at, 'infinity')
         FROM payment WHERE id = $1 AND rate_id IS NOT NULL)
     SELECT rate_id::text AS "rateId", exchange_rate::text AS "exchangeRate", quote_amount::text AS "quoteAmount"
       FROM quotes
      WHERE ended_at >= $3
        AND (date_trunc('second', quoted_at) <= $3 OR quoted_at = (SELECT min(quoted_at) FROM quotes))
      ORDER BY ended_at LIMIT 1`,
    [payment.id, payment.currency, at],
  );
  return found ?? null;
}

/** What the price of a payment comes to at the rate of a moment. Throws RATE_UNAVAILABLE (retried). */
export async function quoteAtMoment(tx: EntityManager, payment: PaymentRow, at: Date, maxAgeSeconds: number) {
  const currency: Currency = payment.currency!;
  const price = await rateAt(tx, {
    merchantId: payment.merchant_id,
    currency,
    fiat: payment.fiat_currency,
    maxAgeSeconds,
    at,
  });
  // No minimum here: what was offered once stays on offer.
  const priced = quote({
    currency,
    fiatAmount: payment.fiat_amount,
    rate: price.exchangeRate,
    feeBps: payment.fee_bps,
    feeBearer: payment.fee_bearer,
    networkFee: price.networkFee,
  });
  return { ...price, quote: priced };
}

/** Gives a deposit its rate: of the quote that was in force, or of one made for its moment. */
export async function rateDeposit(
  tx: EntityManager,
  payment: PaymentRow,
  deposit: DepositFact,
  maxAgeSeconds: number,
): Promise<void> {
  const inForce = await quoteInForce(tx, payment, deposit.rateMoment);
  if (inForce) return void (await setDepositRate(tx, [deposit.id], inForce, deposit.rateMoment));
  const { rateId, exchangeRate, quote: made } = await quoteAtMoment(tx, payment, deposit.rateMoment, maxAgeSeconds);
  await setDepositRate(tx, [deposit.id], { rateId, exchangeRate, quoteAmount: made.amount }, deposit.rateMoment);
}
