import { assetOf, assets } from '../../domain/chains/assets';
import type { ConversionAsk } from '../../domain/conversions/conversion';
import { compare, subtract } from '../../domain/money';
import { shown } from '../../domain/payments/shown';
import { costOf, estimateOf, quoteConversion, reasonOf, type QuoteDeps } from './quote';

const leastSavingUsd = '0.01';

/** Finds the currencies that the same amount converts to at a lower cost, the same asset on other networks first.
 *  Throws QUOTE_FAILED.
 *  Contract: G8. */
export async function cheaperTargets(deps: QuoteDeps, ask: ConversionAsk) {
  const base = costOf(await quoteConversion(deps, ask));
  const wanted = assetOf(ask.toCurrency).asset;
  const found: Array<{ isSame: boolean; saving: string; target: object }> = [];
  for (const { currency, asset } of assets) {
    if (currency === ask.fromCurrency || currency === ask.toCurrency) continue;
    try {
      const quoted = await quoteConversion(deps, { ...ask, toCurrency: currency });
      const { feePct, feeUsd } = costOf(quoted);
      const saving = subtract(base.feeUsd, feeUsd);
      if (compare(saving, leastSavingUsd) < 0) continue;
      const target = {
        toCurrency: currency,
        toAmount: quoted.quote.toAmount,
        feePct,
        feeUsd: shown(feeUsd),
        savingUsd: shown(saving),
        executionMode: quoted.quote.mode,
        ...estimateOf(quoted),
      };
      found.push({ isSame: asset === wanted, saving, target });
    } catch (error) {
      // A currency without a quote is left out.
      reasonOf(error);
    }
  }
  found.sort((a, b) => (a.isSame === b.isSame ? compare(b.saving, a.saving) : a.isSame ? -1 : 1));
  return {
    fromCurrency: ask.fromCurrency,
    baseline: { toCurrency: ask.toCurrency, feePct: base.feePct, feeUsd: shown(base.feeUsd) },
    targets: found.map(({ target }) => target),
  };
}
