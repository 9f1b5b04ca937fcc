import { fromUnits, toUnits } from '../../../domain/money';
import { assetOf } from '../../../domain/chains/assets';
import type { Random } from '../random';
import type { currencies } from '../stage';

/** From about five dollars to about a hundred, to the last digit that the chain has. */
export function amountOf(random: Random, currency: (typeof currencies)[number]): string {
  const least = { BTC: '0.0001', ETH: '0.002', USDT_ERC20: '6' }[currency];
  const { decimals } = assetOf(currency);
  const units = toUnits(least, decimals);
  return fromUnits(units + (units * 15n * BigInt(random.whole(0, 999_999_999))) / 1_000_000_000n, decimals);
}
