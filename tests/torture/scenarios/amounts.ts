import { assetOf, type Asset } from '../../../domain/chains/assets';
import { divide, fromUnits, toUnits } from '../../../domain/money';
import { playMoney } from '../../../sandbox/play-money';
import type { Random } from '../random';

/** About six dollars, by the sandbox's prices; of XRP it is more than the reserve of a new account. Of a coin that is
 *  not here it is just that. */
const least: Readonly<Record<string, string>> = {
  ...{ BTC: '0.0001', ETH: '0.002', USDT: '6', USDC: '6', LTC: '0.08', POL: '15', BNB: '0.01', XRP: '3', TRX: '20' },
};

const leastOf = (asset: Asset): string =>
  least[asset.asset] ?? divide('6', playMoney(asset).usd, asset.payDecimals, 'up');

/** From about six dollars to about a hundred, to the last digit that the chain has. */
export function amountOf(random: Random, currency: string): string {
  const asset = assetOf(currency);
  const { decimals } = asset;
  const units = toUnits(leastOf(asset), decimals);
  return fromUnits(units + (units * 15n * BigInt(random.whole(0, 999_999_999))) / 1_000_000_000n, decimals);
}
