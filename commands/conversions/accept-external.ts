import type { EntityManager } from 'typeorm';
import { asConversionError, moveClaim, priced } from './claim';
import { type PairTerms, emitConversionEvent, notifyConversion } from '../../db/conversions/conversions';
import { post } from '../../db/ledger/ledger';
import type { ConversionRow, ConversionQuote } from '../../domain/conversions/conversion';
import { acceptConversionJournal } from '../../domain/ledger/ledger';

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
