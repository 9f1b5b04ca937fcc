import type { Asset } from '../domain/chains/assets';

/** What a coin is in the sandbox: its price in dollars, and with how much of it our treasury starts, so that balances
 *  can be converted. */
type PlayMoney = Readonly<{ usd: string; float: string }>;

/** By the coin: what it is called on one network is worth as much on another. */
const coins: Readonly<Record<string, PlayMoney>> = {
  BTC: { usd: '64000', float: '2' },
  ETH: { usd: '3200', float: '100' },
  LTC: { usd: '80', float: '200' },
  POL: { usd: '0.4', float: '200000' },
  BNB: { usd: '600', float: '500' },
  XRP: { usd: '2', float: '50000' },
  TRX: { usd: '0.3', float: '200000' },
};
const dollar: PlayMoney = { usd: '1', float: '100000' };

/** Throws where a coin is missing above: without a price nothing in it could be quoted. */
export function playMoney({ asset, stable }: Pick<Asset, 'asset' | 'stable'>): PlayMoney {
  const known = coins[asset] ?? (stable ? dollar : undefined);
  if (!known) throw new Error(`No price and no float of ${asset} (sandbox/play-money.ts)`);
  return known;
}
