import { pairTerms } from '../../db/conversions/conversions';
import { balancesOf } from '../../db/ledger/balances';
import { findAsset, type Currency } from '../../domain/chains/assets';
import { askOf } from '../../domain/conversions/ask';
import { compare, isPositive, larger, subtract, times } from '../../domain/money';
import { shown } from '../../domain/payments/shown';
import { costOf, estimateOf, quoteConversion, reasonOf, type QuoteDeps } from './quote';

const mostCandidates = 8;
const leastWorthUsd = '1';

/** Compares what each balance of a merchant costs to convert to a currency, cheapest first. Contract: 4.4. */
export async function bestRoute(deps: QuoteDeps, merchantId: string, toCurrency: Currency) {
  const unavailableFrom: Array<{ fromCurrency: string; reason: string }> = [];
  const candidates: Array<{ fromCurrency: string; available: string; worth: string }> = [];
  for (const { currency, available } of await balancesOf(deps.db, merchantId)) {
    if (currency === toCurrency || !findAsset(currency) || !isPositive(available)) continue;
    try {
      const { rates } = await pairTerms(
        deps.db,
        { fromCurrency: currency, toCurrency, fromAmount: available },
        deps.rateMaxAgeSeconds,
      );
      const worth = times(available, rates.from, 24, 'down');
      if (compare(worth, leastWorthUsd) >= 0) candidates.push({ fromCurrency: currency, available, worth });
    } catch (error) {
      unavailableFrom.push({ fromCurrency: currency, reason: reasonOf(error) });
    }
  }
  candidates.sort((a, b) => compare(b.worth, a.worth));
  const priced: Array<{ option: object; feePct: number; feeUsd: string }> = [];
  for (const { fromCurrency, available } of candidates.slice(0, mostCandidates)) {
    try {
      const ask = askOf({ fromCurrency, toCurrency, fromAmount: available });
      const quoted = await quoteConversion(deps, ask);
      const { feePct, feeUsd, receiveUsd } = costOf(quoted);
      const option = {
        fromCurrency,
        toCurrency,
        availableFrom: available,
        fromAmount: quoted.quote.fromAmount,
        toAmount: quoted.quote.toAmount,
        feePct,
        feeUsd: shown(feeUsd),
        receiveUsd: shown(receiveUsd),
        executionMode: quoted.quote.mode,
        ...estimateOf(quoted),
      };
      priced.push({ option, feePct, feeUsd });
    } catch (error) {
      unavailableFrom.push({ fromCurrency, reason: reasonOf(error) });
    }
  }
  priced.sort((a, b) => a.feePct - b.feePct);
  const saving = priced.length < 2 ? '0' : larger('0', subtract(priced.at(-1)!.feeUsd, priced[0]!.feeUsd));
  return {
    toCurrency,
    options: priced.map(({ option }) => option),
    unavailable: unavailableFrom,
    bestSavingUsd: shown(saving),
  };
}
