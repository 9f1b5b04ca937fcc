import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assetsOn, type NetworkId } from '../domain/chains/assets';

const defaultPrices = {
  takenAt: 'now',
  USD: {
    ...{ BTC: '64000', ETH: '3200', USDT_ERC20: '1', USDC_ERC20: '1', LTC: '80', POL: '0.4', USDC_POLYGON: '1' },
    ...{ ETH_BASE: '3200', USDC_BASE: '1', ETH_OPTIMISM: '3200', USDC_OPTIMISM: '1', ETH_ARBITRUM: '3200' },
    ...{ USDC_ARBITRUM: '1', BNB: '600', XRP: '2', TRX: '0.3', USDT_TRC20: '1' },
  },
  fiat: { EUR: '0.92', GBP: '0.79', JPY: '151' },
};

/** The file that RATE_SOURCE=file reads; whoever edits it changes the prices of the sandbox. What it lacks of the
 *  assets of these networks is put in. */
export function pricesOf(dataDir: string, networks: readonly NetworkId[]): string {
  const file = join(dataDir, 'prices.json');
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as typeof defaultPrices) : defaultPrices;
  const own = assetsOn(networks).map(({ currency }) => currency as keyof typeof defaultPrices.USD);
  const isThere = existsSync(file) && own.every((currency) => currency in known.USD);
  if (isThere) return file;
  const isWanted = ([currency]: [string, string]): boolean => own.some((one) => one === currency);
  const defaults = Object.fromEntries(Object.entries(defaultPrices.USD).filter(isWanted));
  const USD = existsSync(file) ? { ...defaults, ...known.USD } : defaults;
  writeFileSync(file, `${JSON.stringify({ ...known, USD }, null, 2)}\n`);
  return file;
}
