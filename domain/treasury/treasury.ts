import type { UtxoNetwork } from '../chains/assets';
import { utxoWork } from '../chains/costs';
import type { Destination } from '../chains/tags';

/** Which of our own coins and addresses pay what goes out. Amounts are `bigint` in base units. */

export type FreeCoin = Readonly<{ id: string; units: bigint }>;

/** A price may double between plan and signature. */
export const priceReserve = 2n;

/** Coins that bring `units` and the fee of spending them with `outputs` outputs, the largest first; null where all
 *  together do not. `unitPrice`: whole base units per unit of work. With the reserve where there are coins enough for
 *  it. */
export function chooseCoins(
  coins: readonly FreeCoin[],
  units: bigint,
  unitPrice: bigint,
  network: UtxoNetwork,
  outputs = 2,
): FreeCoin[] | null {
  const largestFirst = coins.toSorted((a, b) => (a.units < b.units ? 1 : a.units > b.units ? -1 : 0));
  const enough = (price: bigint): FreeCoin[] | null => {
    const chosen: FreeCoin[] = [];
    let total = 0n;
    for (const coin of largestFirst) {
      chosen.push(coin);
      total += coin.units;
      if (total >= units + utxoWork(network, { inputs: chosen.length, outputs }) * price) return chosen;
    }
    return null;
  };
  return enough(unitPrice * priceReserve) ?? enough(unitPrice);
}

/** An address of ours with what it can spend, in the order in which it shall pay. Lanes are alike: whichever has most
 *  pays. See lanes.ts. */
export type Source = Readonly<{ address: string; free: bigint; isLane?: true }>;
/** One recipient. `ref`: whose money it is; stands for its intent where each recipient has one. */
export type Output = Readonly<{ ref: string; units: bigint }> & Destination;

/** Gives each output, in order, a source that still holds enough for it and `fee`: the lane of the one before it, or
 *  the lane that has most, or the first other source. `short`: those that none can pay. */
export function assignSources(
  sources: readonly Source[],
  outputs: readonly Output[],
  fee: bigint,
): Readonly<{ paid: ReadonlyArray<Output & { from: string }>; short: readonly Output[]; left: readonly Source[] }> {
  const left = sources.map((source) => ({ ...source }));
  const paid: Array<Output & { from: string }> = [];
  const short: Output[] = [];
  let lane: (typeof left)[number] | undefined;
  for (const output of outputs) {
    const able = left.filter((source) => source.free >= output.units + fee);
    // One lane for as many as it can pay: their tokens share a top-up, and they are signed together.
    if (!lane || !able.includes(lane))
      lane = able
        .filter((source) => source.isLane)
        .toSorted((a, b) => (a.free < b.free ? 1 : a.free > b.free ? -1 : 0))[0];
    const from = lane ?? able[0];
    if (!from) {
      short.push(output);
      continue;
    }
    from.free -= output.units + fee;
    paid.push({ ...output, from: from.address });
  }
  return { paid, short, left };
}

/** The addresses to empty into one wallet so that it holds `needed`, the largest first; null where all together do not
 *  suffice. `hot`: what it holds and what is on its way to it. `least`: what is not worth the trip. */
export function gather(others: readonly Source[], hot: bigint, needed: bigint, least: bigint): Source[] | null {
  const chosen: Source[] = [];
  let total = hot;
  for (const source of others.toSorted((a, b) => (a.free < b.free ? 1 : a.free > b.free ? -1 : 0))) {
    if (total >= needed) break;
    if (source.free <= least) continue;
    chosen.push(source);
    total += source.free;
  }
  return total >= needed ? chosen : null;
}

/** So many small coins are put together, at most so many at once. */
const [fewest, most] = [50, 200];

/** The coins of an earlier seed to move now, the largest first: each that is worth its own input; while the price is
 *  not low, each whose input costs a hundredth of it at most. None where they do not pay for the output as well. */
export function coinsToMove(coins: readonly FreeCoin[], unitPrice: bigint, network: UtxoNetwork): readonly FreeCoin[] {
  const share = unitPrice > network.joining.maxPrice ? 100n : priceReserve;
  const largestFirst = coins
    .filter((coin) => coin.units > BigInt(network.sizes.input) * unitPrice * share)
    .toSorted((a, b) => (a.units < b.units ? 1 : a.units > b.units ? -1 : 0))
    .slice(0, most);
  const total = largestFirst.reduce((sum, { units }) => sum + units, 0n);
  const work = utxoWork(network, { inputs: largestFirst.length, outputs: 1 });
  return total > work * unitPrice * priceReserve ? largestFirst : [];
}

/** The small coins to put together now, the smallest first; none while the price is not low, or there are few of them.
 *  What is hardly worth its own input stays. */
export function coinsToJoin(
  coins: readonly FreeCoin[],
  unitPrice: bigint,
  { joining, sizes }: UtxoNetwork,
): readonly FreeCoin[] {
  if (unitPrice > joining.maxPrice) return [];
  const small = coins
    .filter((coin) => coin.units < joining.smallCoin && coin.units > BigInt(sizes.input) * unitPrice * priceReserve)
    .toSorted((a, b) => (a.units < b.units ? -1 : a.units > b.units ? 1 : 0));
  return small.length < fewest ? [] : small.slice(0, most);
}

/** So many token transfers the gas wallet must be able to pay for, or operators are told. */
export const gasFloat = 50;
