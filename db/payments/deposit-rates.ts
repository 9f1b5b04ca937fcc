import type { EntityManager } from 'typeorm';
import { networks, type Currency } from '../../domain/chains/assets';
import type { PaymentRow } from '../../domain/payments/payment';
import type { InheritedPart, Moment, PartId } from '../../domain/payments/facts';
import { quote } from '../../domain/pricing/quote';
import { rateAt } from '../pricing/pricing';
import { prepared } from '../query';

/** The rates of deposits: each has that of the quote in force when it was first seen. docs/decisions/0018. */

/** SQL: the moment whose rate counts, of a deposit `d` or of a part that it inherited: when that was first seen or,
 *  mined too late for that, the time of the block. */
const momentSql = (row: 'd' | 'i'): string =>
  `CASE WHEN d.height - ${row}.first_seen_height > CASE d.network ${Object.values(networks)
    .map(({ id, rateHoldBlocks }) => `WHEN '${id}' THEN ${rateHoldBlocks}`)
    .join(' ')} END THEN coalesce(d.mined_at, ${row}.first_seen_at) ELSE ${row}.first_seen_at END`;
export const rateMomentSql = momentSql('d');
const inheritedMomentSql = momentSql('i');

/** What a deposit counts at. `quoteAmount`: the whole price in its coin. */
export type DepositRate = Readonly<{ rateId: string; exchangeRate: string; quoteAmount: string }>;

/** Gives whole deposits a rate, of their own moment. It is kept nowhere else; what they inherited has no other. */
export const setDepositRate = (tx: EntityManager, depositIds: readonly string[], rate: DepositRate): Promise<unknown> =>
  tx.query(
    `WITH whole AS (DELETE FROM deposit_part WHERE deposit_id = ANY($1::bigint[]))
     UPDATE deposit d SET rate_id = $2, exchange_rate = $3, quote_amount = $4,
            rated_at = date_trunc('milliseconds', ${rateMomentSql})
      WHERE id = ANY($1::bigint[])`,
    [depositIds, rate.rateId, rate.exchangeRate, rate.quoteAmount],
  );

/** Gives a deposit, or a part of it, the rate of the moment `at`. */
const setPartRate = (tx: EntityManager, { depositId, n }: PartId, rate: DepositRate, at: Date): Promise<unknown> =>
  n === 0
    ? tx.query(`UPDATE deposit SET rate_id = $2, exchange_rate = $3, quote_amount = $4, rated_at = $5 WHERE id = $1`, [
        depositId,
        rate.rateId,
        rate.exchangeRate,
        rate.quoteAmount,
        at,
      ])
    : tx.query(
        `UPDATE deposit_part SET rate_id = $3, exchange_rate = $4, quote_amount = $5, rated_at = $6
          WHERE deposit_id = $1 AND n = $2`,
        [depositId, n, rate.rateId, rate.exchangeRate, rate.quoteAmount, at],
      );

/** What the deposits of a payment inherited, by deposit. */
export async function inheritedParts(
  tx: EntityManager,
  paymentId: string,
): Promise<ReadonlyMap<string, readonly InheritedPart[]>> {
  const rows = await prepared(tx, 'inherited-parts').query<Array<{ depositId: string } & InheritedPart>>(
    `SELECT i.deposit_id AS "depositId", i.n, i.amount::text, i.first_seen_at AS "firstSeenAt",
            ${inheritedMomentSql} AS "rateMoment", i.rated_at AS "ratedAt",
            i.exchange_rate::text AS "exchangeRate", i.quote_amount::text AS "quoteAmount"
       FROM deposit_part i JOIN deposit d ON d.id = i.deposit_id
      WHERE d.payment_id = $1 OR d.child_payment_id = $1 ORDER BY i.deposit_id, i.n`,
    [paymentId],
  );
  return Map.groupBy(rows, ({ depositId }) => depositId);
}

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
    networkFee: price.provision,
  });
  return { ...price, quote: priced };
}

/** Gives a deposit, or a part of it, its rate: of the quote that was in force, or of one made for its moment. */
export async function ratePart(
  tx: EntityManager,
  payment: PaymentRow,
  part: PartId & Moment,
  maxAgeSeconds: number,
): Promise<void> {
  const inForce = await quoteInForce(tx, payment, part.rateMoment);
  if (inForce) return void (await setPartRate(tx, part, inForce, part.rateMoment));
  const { rateId, exchangeRate, quote: made } = await quoteAtMoment(tx, payment, part.rateMoment, maxAgeSeconds);
  await setPartRate(tx, part, { rateId, exchangeRate, quoteAmount: made.amount }, part.rateMoment);
}
