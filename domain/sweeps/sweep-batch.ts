import { costUnits, workOf } from '../chains/costs';
import { compare, times } from '../money';

/** One payment's part in the fee of a transaction that moves many. `workShare`: how much of the work is its own;
 *  `feeCapacity`: the most that it can bear. Base units. */
export type FeePart = Readonly<{ workShare: bigint; feeCapacity: bigint }>;

/** Most payments that one transaction sweeps: well below what nodes relay, and few enough to be signed within a second
 *  or two. */
export const batchLimit = 50;

/** A fee, split by the work so that the parts add up to it exactly and nobody bears more than its capacity: what one
 *  cannot bear the others do. Throws where all together cannot. The same parts in the same order, the same split. */
export function shareOut(fee: bigint, parts: readonly FeePart[]): bigint[] {
  if (fee < 0n || parts.reduce((sum, part) => sum + part.feeCapacity, 0n) < fee)
    throw new RangeError(`A fee of ${fee} is more than its ${parts.length} parts can bear`);
  const shares = parts.map(() => 0n);
  let left = fee;
  while (left > 0n) {
    const open = parts.map((_, index) => index).filter((index) => shares[index]! < parts[index]!.feeCapacity);
    const allWork = open.reduce((sum, index) => sum + workOfPart(parts[index]!), 0n);
    const round = left;
    for (const index of open) {
      const fair = (round * workOfPart(parts[index]!)) / allWork;
      // What rounding leaves over goes unit by unit, in order.
      const more = least(least(fair > 0n ? fair : 1n, left), parts[index]!.feeCapacity - shares[index]!);
      shares[index]! += more;
      left -= more;
    }
  }
  return shares;
}

const workOfPart = (part: FeePart): bigint => (part.workShare > 0n ? part.workShare : 1n);
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** A payment that could be swept together with others. Base units; `netUnits`: what the merchant's own address must get
 *  of it. */
export type Candidate = Readonly<{
  paymentId: string;
  inputs: number;
  /** Units of its currency per whole native unit. */
  nativeRate: string;
  broughtUnits: bigint;
  netUnits: bigint | null;
  /** Its promised time has come: it goes at any price that leaves something. */
  isDue: boolean;
}>;

/** The most of the fee that a payment can bear. */
export const feeCapacityOf = (one: Pick<Candidate, 'broughtUnits' | 'netUnits'>): bigint =>
  one.broughtUnits - (one.netUnits ?? 0n);

/** Does moving this cost more than it may? `cost`, `value`: of one unit, whatever it is. */
export const costsTooMuch = (cost: string, value: string, maxCostPct: number): boolean =>
  compare(times(cost, '100', 18, 'up'), times(value, String(maxCostPct), 18, 'down')) > 0;

/** What each of a batch would bear of its fee, in base units of its own currency, rounded up. */
export type FeeOf = (batch: readonly Candidate[]) => (one: Candidate) => bigint;

/** Of coins: by inputs. To one address, or to the merchant's and ours. */
export const coinFee =
  (currency: string, unitPrice: string): FeeOf =>
  (batch) => {
    const inputs = batch.reduce((sum, one) => sum + one.inputs, 0);
    const outputs = batch.some((one) => one.netUnits !== null) ? 2 : 1;
    const fee = costUnits(unitPrice, workOf({ currency, inputs, outputs }));
    return (one) => (fee * BigInt(one.inputs)) / BigInt(inputs) + 1n;
  };

/** Those of the candidates, in their order, whose part of the fee leaves something of what they brought, and is not
 *  above the maximum while they can wait. */
export function chooseBatch(candidates: readonly Candidate[], feeOf: FeeOf, maxCostPct: number): Candidate[] {
  let chosen = candidates.slice(0, batchLimit);
  for (;;) {
    const fee = feeOf(chosen);
    const goes = (one: Candidate): boolean => {
      const part = fee(one);
      return (
        part < feeCapacityOf(one) &&
        (one.isDue || !costsTooMuch(part.toString(), one.broughtUnits.toString(), maxCostPct))
      );
    };
    const staying = chosen.filter(goes);
    if (staying.length === chosen.length) return chosen;
    chosen = staying;
  }
}

/** When a payment that was confirmed at `confirmedAt` stops waiting for others, and for a better price. */
export const sweepDeadlines = (
  confirmedAt: Date,
  terms: Readonly<{ batchSeconds: number; maxWaitHours: number }>,
): Readonly<{ confirmed: Date; batch: Date; price: Date }> => ({
  confirmed: confirmedAt,
  batch: new Date(confirmedAt.getTime() + terms.batchSeconds * 1000),
  price: new Date(confirmedAt.getTime() + terms.maxWaitHours * 3_600_000),
});

/** How soon the price is looked at again for a payment that has waited so long for a better one: soon at first, because
 *  most rises pass within minutes, every quarter of an hour in the end. Milliseconds. */
export const priceLookMs = (waitedMs: number): number => Math.min(900_000, Math.max(60_000, Math.ceil(waitedMs / 3)));
