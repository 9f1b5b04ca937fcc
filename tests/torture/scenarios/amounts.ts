import { fromUnits, toUnits } from '../../../domain/money';
import { assetOf } from '../../../domain/chains/assets';
import type { Random } from '../random';

/** About six dollars, by the sandbox's prices; of XRP it is more than the reserve of a new account. */
const least: Readonly<Record<string, string>> = {
  ...{ BTC: '0.0001', ETH: '0.002', USDT: '6', USDC: '6', LTC: '0.08', POL: '15', BNB: '0.01', XRP: '3', TRX: '20' },
};

/** From about six dollars to about a hundred, to the last digit that the chain has. */
export function amountOf(random: Random, currency: string): string {
  const { asset, decimals } = assetOf(currency);
  const units = toUnits(least[asset]!, decimals);
  return fromUnits(units + (units * 15n * BigInt(random.whole(0, 999_999_999))) / 1_000_000_000n, decimals);
}
