import { ApplicationFailure, Context } from '@temporalio/activity';
import { keepSwapRate, swapPairs } from '../../db/conversions/swaps';
import { assetOf } from '../../domain/chains/assets';
import {
  SwapRefused,
  SwapUnavailable,
  type SwapPair,
  type SwapProvider,
  type SwapRate,
} from '../../domain/conversions/swap';
import { fit, fromUnits, toUnits } from '../../domain/money';
import { restUntil } from '../rest';
import { providerOf, type SwapContext } from './swap-orders';

/** Stores what the provider gives now for every pair that is converted there, until its worker shuts down. */
export async function refreshSwapRates(context: SwapContext, everySeconds: number): Promise<never> {
  const { cancellationSignal } = Context.current();
  while (!cancellationSignal.aborted) {
    for (const pair of await swapPairs(context.db)) {
      try {
        await keepSwapRate(context.db, pair, await readRate(providerOf(context), pair));
      } catch (error) {
        if (!(error instanceof SwapUnavailable || error instanceof SwapRefused)) throw error;
        context.log.warn({ pair, reason: error.message }, 'No rate of the swap provider');
      }
    }
    await restUntil(everySeconds * 1000, cancellationSignal);
  }
  throw ApplicationFailure.retryable('This worker is shutting down', 'MOVES');
}

/** A rate is drawn through the least amount and this many times as much. */
const highFactor = 500n;

/** The prices of a pair at a low and at a high amount. */
async function readRate(provider: SwapProvider, pair: SwapPair): Promise<SwapRate> {
  const { decimals } = assetOf(pair.from);
  const { min, max } = await provider.range(pair);
  const least = toUnits(fit(min, Math.min(decimals, 8), 'up'), decimals);
  const most = max === null ? least * highFactor : toUnits(fit(max, Math.min(decimals, 8), 'down'), decimals);
  const wanted = least * highFactor;
  const high = fromUnits(wanted < most ? wanted : most, decimals);
  const [first, second] = [
    await provider.estimate(pair, fromUnits(least, decimals)),
    await provider.estimate(pair, high),
  ];
  return { min: fromUnits(least, decimals), max, low: first, high: second, seconds: first.seconds };
}
