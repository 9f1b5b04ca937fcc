import { wholeUnitPrice } from '../../db/chains/fees';
import { freeCoins } from '../../db/treasury/treasury';
import { unplannedAmount } from '../../db/treasury/unplanned';
import type { Queryable } from '../../db/query';
import { baseUnits, networkOf } from '../../domain/chains/assets';
import { chooseCoins } from '../../domain/treasury/treasury';

/** How many of our coins pay this amount, beside all that others have asked for and nothing is planned for yet: by that
 *  count it is charged. 1 where accounts pay. Throws UPSTREAM_UNAVAILABLE where no price is known. */
export async function coinsFor(tx: Queryable, currency: string, amount: string): Promise<number> {
  const network = networkOf(currency);
  if (network.kind === 'account') return 1;
  const price = BigInt(await wholeUnitPrice(tx, network.id));
  const coins = await freeCoins(tx, network.id);
  const before = baseUnits(currency, await unplannedAmount(tx, currency));
  const taken = new Set(
    (before === 0n ? [] : (chooseCoins(coins, before, price, network) ?? coins)).map(({ id }) => id),
  );
  // What has yet to come in is likely to come in such coins too.
  const left = coins.filter(({ id }) => !taken.has(id));
  const chosen = chooseCoins(left, baseUnits(currency, amount), price, network);
  return Math.max(1, (chosen ?? left).length);
}
