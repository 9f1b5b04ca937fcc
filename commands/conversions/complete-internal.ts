import type { EntityManager } from 'typeorm';
import { asConversionError, moveClaim, priced } from './claim';
import { type PairTerms, type PositionRow, exposureOf, emitConversionEvent } from '../../db/conversions/conversions';
import { failPoint } from '../../db/fail-point';
import { asLedgerErrors } from '../../db/ledger/ledger';
import { byClock } from '../../db/records';
import type { Currency } from '../../domain/chains/assets';
import {
  type ConversionQuote,
  isTooLong,
  isTooShort,
  notNow,
  type ConversionRow,
} from '../../domain/conversions/conversion';
import { DomainError } from '../../domain/errors';
import { type Journal, internalConversionJournal } from '../../domain/ledger/ledger';
import { compare } from '../../domain/money';

/** Takes the net into the platform's position, gives the output out of the other, and posts the journal; whoever
 *  converts from or to one of these assets waits until the transaction ends. Throws CONVERSION_FAILED where the
 *  treasury cannot give that, where one of them would pass its limit, and where the balance does not cover it. */
async function postInternal(
  tx: EntityManager,
  quote: ConversionQuote,
  { rates }: Pick<PairTerms, 'rates'>,
  journal: Journal,
): Promise<void> {
  const { fromCurrency, toCurrency, netFromAmount, toAmount } = quote;
  const sides = await asConversionError(
    asLedgerErrors(
      tx.query<Array<PositionRow & { asset: string; free: string | null }>>(
        `SELECT asset, position::text AS position, limit_usd::text AS limit_usd, beyond, free::text AS free
           FROM post_conversion($1, $2, $3, $4, $5, $6, $7)`,
        [
          journal.key,
          journal.entry,
          JSON.stringify(journal.postings),
          fromCurrency,
          netFromAmount,
          toCurrency,
          toAmount,
        ],
      ),
    ),
  );
  const sideOf = (currency: Currency) => sides.find(({ asset }) => asset === currency)!;
  const [taken, given] = [sideOf(fromCurrency), sideOf(toCurrency)];
  if (isTooLong(exposureOf(taken, rates.from, '0')) || isTooShort(exposureOf(given, rates.to, '0')))
    throw new DomainError('CONVERSION_FAILED', notNow);
  if (compare(given.free!, toAmount) < 0)
    throw new DomainError('CONVERSION_FAILED', `Not enough ${toCurrency} is available at present`);
}

/** Executes a claim from our own balance sheet, in the caller's transaction: debit, credit, commission, record and
 *  event, or nothing. Refused where the treasury does not hold what would be owed then, or a position would pass its
 *  limit. Throws CONVERSION_FAILED, CONVERSION_IN_PROGRESS. J9. */
export async function completeInternal(
  tx: EntityManager,
  claim: ConversionRow,
  quote: ConversionQuote,
  terms: Pick<PairTerms, 'rateIds' | 'rates'>,
): Promise<ConversionRow> {
  const done = await moveClaim(tx, claim, 'completed', {
    ...priced(quote, terms),
    is_debited: true,
    completed_at: byClock,
  });
  await postInternal(
    tx,
    quote,
    terms,
    internalConversionJournal({
      id: claim.id,
      merchantId: claim.merchant_id,
      fromCurrency: quote.fromCurrency,
      toCurrency: quote.toCurrency,
      fromAmount: quote.fromAmount,
      commission: quote.commissionAmount,
      net: quote.netFromAmount,
      out: quote.toAmount,
    }),
  );
  await emitConversionEvent(tx, done, 'conversion.completed', claim.status);
  await failPoint('conversion.beforeCommit');
  return done;
}
