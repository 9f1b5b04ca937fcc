import type { EntityManager } from 'typeorm';
import { asConversionError, moveClaim, priced } from './claim';
import {
  type PairTerms,
  emitConversionEvent,
  notifyConversion,
  moveConversion,
} from '../../db/conversions/conversions';
import { post, ensure } from '../../db/ledger/ledger';
import type { ConversionRow, ConversionQuote } from '../../domain/conversions/conversion';
import {
  acceptConversionJournal,
  completeConversionJournal,
  failConversionJournal,
  swapLossKey,
  swapLossJournal,
} from '../../domain/ledger/ledger';
import { readOrderRow, swapFacts, type SwapOrderRow } from '../../db/conversions/swaps';
import { byClock } from '../../db/records';
import { swapMessages, type SwapArrival } from '../../domain/conversions/swap';
import { add, isPositive, larger, subtract, isZero } from '../../domain/money';

/** External conversions: how one is accepted, and how it ends. */

/** Takes the whole source amount of a claim out of the balance, to be executed elsewhere: debit, record, event and the
 *  request for the workflow, in the caller's transaction. Throws CONVERSION_FAILED, CONVERSION_IN_PROGRESS. J10. */
export async function acceptExternal(
  tx: EntityManager,
  claim: ConversionRow,
  quote: ConversionQuote,
  terms: Pick<PairTerms, 'rateIds'>,
): Promise<ConversionRow> {
  const sent = await moveClaim(tx, claim, 'processing', {
    ...priced(quote, terms),
    is_debited: true,
    price_protection_pct: quote.priceProtectionPct,
    estimated_seconds: quote.estimatedSeconds,
    accepted_minimum: quote.toAmount,
  });
  await asConversionError(
    post(
      tx,
      acceptConversionJournal({
        id: claim.id,
        merchantId: claim.merchant_id,
        fromCurrency: quote.fromCurrency,
        fromAmount: quote.fromAmount,
      }),
    ),
  );
  await notifyConversion(tx, sent);
  await emitConversionEvent(tx, sent, 'conversion.processing', claim.status);
  return sent;
}

const exchangeOf = (conversion: ConversionRow) => ({
  id: conversion.id,
  merchantId: conversion.merchant_id,
  fromCurrency: conversion.from_currency,
  toCurrency: conversion.to_currency,
  fromAmount: conversion.from_amount,
  commission: conversion.commission_amount!,
  net: conversion.net_from_amount!,
});

/** Credits what has arrived: J11. */
export async function completeExternal(
  tx: EntityManager,
  conversion: ConversionRow,
  credit: Readonly<{ depositIds: readonly string[]; amount: string }>,
): Promise<void> {
  await ensure(tx, completeConversionJournal({ ...exchangeOf(conversion), received: credit.amount }));
  await tx.query('UPDATE swap_order SET credited_deposit_ids = $2 WHERE conversion_id = $1', [
    conversion.id,
    credit.depositIds,
  ]);
  const done = await moveConversion(tx, conversion, 'completed', {
    credit_amount: credit.amount,
    completed_at: byClock,
  });
  await emitConversionEvent(tx, done, 'conversion.completed', conversion.status);
}

/** Credits the whole source amount back, commission included: J10, its end. */
export async function failExternal(tx: EntityManager, conversion: ConversionRow, message: string): Promise<void> {
  await ensure(tx, failConversionJournal(exchangeOf(conversion)));
  const failed = await moveConversion(tx, conversion, 'failed', {
    merchant_message: message,
    completed_at: byClock,
  });
  await emitConversionEvent(tx, failed, 'conversion.failed', conversion.status);
}
/** Why a conversion that waits for its provider may not be failed by operators now; null: it may. */
export async function whyNotGivenUp(tx: EntityManager, conversion: ConversionRow): Promise<string | null> {
  const order = await readOrderRow(tx, conversion.id);
  if (conversion.execution_mode !== 'external' || conversion.status !== 'processing' || !order)
    return `it is ${conversion.status}`;
  const { funding, isComing } = await swapFacts(tx, conversion, order);
  if (funding === 'planned' || funding === 'signed') return 'our deposit may still leave';
  if (isComing) return 'money is on its way to us';
  if (funding === 'none' && order.order_id === null) return 'its order may still be made';
  return null;
}

/** Fails a conversion that waits for its provider, as operators have decided. The reason why not, or null: it has
 *  failed. */
export async function giveUpOnProvider(tx: EntityManager, conversion: ConversionRow): Promise<string | null> {
  const refusal = await whyNotGivenUp(tx, conversion);
  if (refusal) return refusal;
  await failExternal(tx, conversion, swapMessages.failed);
  await notifyConversion(tx, conversion);
  return null;
}

/** What the provider has kept of a deposit that it sent back is our loss. What it sends later makes it smaller, and
 *  what a reorganisation takes makes it larger: each time the difference is booked, under the next key. The caller has
 *  locked the conversion. */
export async function bookSwapLoss(
  tx: EntityManager,
  conversion: ConversionRow,
  order: SwapOrderRow,
  returned: readonly SwapArrival[],
): Promise<void> {
  const back = add(
    '0',
    ...returned.filter((one) => one.currency === conversion.from_currency).map((one) => one.amount),
  );
  const lost = isPositive(back) ? larger(subtract(order.amount, back), '0') : '0';
  const [booked] = await tx.query<Array<{ steps: number; amount: string }>>(
    `WITH RECURSIVE step AS (
       SELECT 1 AS n, id FROM journal WHERE key = $1
       UNION ALL SELECT s.n + 1, j.id FROM step s JOIN journal j ON j.key = $1 || '/' || (s.n + 1))
     SELECT count(s.n)::int AS steps, coalesce(sum(CASE p.debit WHEN 'E:loss' THEN p.amount ELSE -p.amount END),
       0)::text AS amount
       FROM step s JOIN posting p ON p.journal_id = s.id`,
    [swapLossKey(conversion.id, 1)],
  );
  const more = subtract(lost, booked!.amount);
  if (isZero(more)) return;
  const { id, from_currency: currency } = conversion;
  await post(tx, swapLossJournal({ id, step: booked!.steps + 1, currency, amount: more }));
}
