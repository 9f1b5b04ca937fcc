import type { EntityManager } from 'typeorm';
import { assetOf, assets, baseUnits, type AccountNetwork } from '../domain/chains/assets';
import { accountOf } from '../domain/chains/costs';
import { divide, fromUnits, isPositive, times, toUnits } from '../domain/money';
import { floatMoves } from '../domain/treasury/lanes';
import { priceReserve } from '../domain/treasury/treasury';
import { countLanes } from '../db/treasury/lanes';
import { wholeUnitPrice } from '../db/chains/fees';
import { comingIn, lockTreasury, treasurySources, type Coming } from '../db/treasury/treasury';
import { unplannedAmount } from '../db/treasury/unplanned';
import { lastUsdRate } from '../db/pricing/rates';
import { planConsolidation } from './kinds/consolidation';

/** The float of the lanes: what a lane holds to pay with. */

/** How much is on its way to an address. */
export const comingTo =
  (coming: readonly Coming[]) =>
  (address: string): bigint =>
    coming.reduce((sum, { to, units }) => (to === address ? sum + units : sum), 0n);

/** A move brings more than it costs. */
export function leastWorthMoving(currency: string, price: string): bigint {
  const asset = assetOf(currency);
  return asset.contract === null
    ? BigInt(price) * accountOf(currency).work.native * priceReserve * 4n
    : toUnits('1', asset.decimals);
}

/** Between two lanes so much is moved at least that the fee is a hundredth of it. null: there is no rate to tell. */
async function leastWorthSpreading(tx: EntityManager, currency: string, price: string): Promise<bigint | null> {
  const { work, native } = accountOf(currency);
  const { contract, decimals } = assetOf(currency);
  const hundredFees = (units: bigint): bigint => BigInt(price) * units * priceReserve * 100n;
  if (contract === null) return hundredFees(work.native);
  const [of, ofNative] = [await lastUsdRate(tx, currency), await lastUsdRate(tx, native)];
  if (of === null || ofNative === null || !isPositive(of)) return null;
  const fees = fromUnits(hundredFees(work.native + work.token), assetOf(native).decimals);
  return toUnits(divide(times(fees, ofNative, 36, 'up'), of, decimals, 'up'), decimals);
}

/** Empties the lanes that are no longer used, and fills the one that is far below its share from the one that has most,
 *  an asset at a time; one move of an asset at once. */
export async function fillLanes(tx: EntityManager, network: AccountNetwork): Promise<void> {
  const { used, dropped } = await countLanes(tx, network.id);
  if (used < 2 && dropped === 0) return;
  await lockTreasury(tx, network.id);
  const price = await wholeUnitPrice(tx, network.id);
  for (const { currency } of assets.filter((asset) => asset.network === network.id)) {
    const coming = await comingIn(tx, network.id, currency);
    if (coming.some(({ from }) => from !== null)) continue;
    const wallets = await treasurySources(tx, currency);
    const moves = floatMoves(wallets, comingTo(coming), {
      least: leastWorthMoving(currency, price),
      leastToSpread: await leastWorthSpreading(tx, currency, price),
      awaited: baseUnits(currency, await unplannedAmount(tx, currency)),
    });
    for (const { from, to, units } of moves)
      await planConsolidation(tx, currency, to, { address: from, free: units }, price);
  }
}
