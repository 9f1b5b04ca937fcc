import { readFile } from 'node:fs/promises';
import { isAmount, times } from '../../domain/money';
import type { RateSource, Tick } from './source';

type PriceFile = { takenAt?: unknown; USD?: Record<string, unknown>; fiat?: Record<string, unknown> };

/** Prices of the sandbox: a JSON file that may be edited while everything runs. `takenAt` is "now" or an ISO time;
 *  `USD` has dollars per unit by ticker, `fiat` units of a currency per dollar. */
export const fileSource = (path: string): RateSource => ({
  name: 'file',
  async read() {
    const prices = JSON.parse(await readFile(path, 'utf8')) as PriceFile;
    const takenAt =
      prices.takenAt === undefined || prices.takenAt === 'now' ? new Date() : new Date(String(prices.takenAt));
    const ticks: Tick[] = [];
    for (const [currency, usd] of Object.entries(prices.USD ?? {})) {
      if (!isAmount(usd)) continue;
      ticks.push({ source: 'file', currency, fiat: 'USD', value: usd, takenAt });
      for (const [fiat, perDollar] of Object.entries(prices.fiat ?? {})) {
        if (isAmount(perDollar))
          ticks.push({ source: 'file', currency, fiat, value: times(usd, perDollar, 18, 'down'), takenAt });
      }
    }
    return ticks;
  },
});
