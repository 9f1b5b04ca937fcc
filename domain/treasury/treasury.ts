/** Which of our own coins and addresses pay what goes out. Amounts are `bigint` in base units. */

export type FreeCoin = Readonly<{ id: string; units: bigint }>;

/** Virtual bytes of a transaction of this shape, a little more than it needs. */
export const sizeOf = (inputs: number, outputs: number): bigint => BigInt(11 + 68 * inputs + 31 * outputs);
/** A price may double between plan and signature. */
export const priceReserve = 2n;

/** Coins that bring `units` and the fee of spending them with `outputs` outputs, the largest first; null where all together do not.
 *  `unitPrice`: whole base units per vbyte. With the reserve where there are coins enough for it. */
export function chooseCoins(
  coins: readonly FreeCoin[],
  units: bigint,
  unitPrice: bigint,
  outputs = 2,
): FreeCoin[] | null {
  const largestFirst = coins.toSorted((a, b) => (a.units < b.units ? 1 : a.units > b.units ? -1 : 0));
  const enough = (price: bigint): FreeCoin[] | null => {
    const chosen: FreeCoin[] = [];
    let total = 0n;
    for (const coin of largestFirst) {
      chosen.push(coin);
      total += coin.units;
      if (total >= units + sizeOf(chosen.length, outputs) * price) return chosen;
    }
    return null;
  };
  return enough(unitPrice * priceReserve) ?? enough(unitPrice);
}

/** An address of ours with what it can spend; the hot wallet comes first in lists. */
export type Source = Readonly<{ address: string; free: bigint }>;
/** One recipient. `ref`: whose money it is; stands for its intent where each recipient has one. */
export type Output = Readonly<{ ref: string; address: string; units: bigint }>;

/** Gives each output, in order, the first source that still holds enough for it and `fee`. `short`: those that none can pay. */
export function assignSources(
  sources: readonly Source[],
  outputs: readonly Output[],
  fee: bigint,
): Readonly<{ paid: ReadonlyArray<Output & { from: string }>; short: readonly Output[]; left: readonly Source[] }> {
  const left = sources.map((source) => ({ ...source }));
  const paid: Array<Output & { from: string }> = [];
  const short: Output[] = [];
  for (const output of outputs) {
    const from = left.find((source) => source.free >= output.units + fee);
    if (!from) {
      short.push(output);
      continue;
    }
    from.free -= output.units + fee;
    paid.push({ ...output, from: from.address });
  }
  return { paid, short, left };
}

/** The addresses to empty into the hot wallet so that it holds `needed`, the largest first; null where all together do not suffice.
 *  `hot`: what it holds and what is on its way to it. `least`: what is not worth the trip. */
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

/** Base units per vbyte up to which small coins are put together: what is cheap now is dear when they must be spent in haste. */
export const lowPrice = 5n;
/** Coins below this are small; so many of them are put together, at most so many at once. */
export const smallCoin = 1_000_000n;
const [fewest, most] = [50, 200];
/** Spending a coin takes so many vbytes. */
const inputSize = 68n;

/** The small coins to put together now, the smallest first; none while the price is not low, or there are few of them. What is hardly
 *  worth its own input stays. */
export function coinsToJoin(coins: readonly FreeCoin[], unitPrice: bigint): readonly FreeCoin[] {
  if (unitPrice > lowPrice) return [];
  const small = coins
    .filter((coin) => coin.units < smallCoin && coin.units > inputSize * unitPrice * priceReserve)
    .toSorted((a, b) => (a.units < b.units ? -1 : a.units > b.units ? 1 : 0));
  return small.length < fewest ? [] : small.slice(0, most);
}

/** So many token transfers the gas wallet must be able to pay for, or operators are told. */
export const gasFloat = 50;
