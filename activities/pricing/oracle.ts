import { Decimal, divide, subtract } from '../../domain/money';
import type { Evidence } from '../../db/pricing/rates';
import type { Tick } from './source';

export type MedianTick = Readonly<{ value: string; takenAt: Date; evidence: readonly Evidence[] }>;
export type Rules = Readonly<{ quorum: number; maxAgeSeconds: number; now: Date }>;

/** A source further than this from the median of all is left out. */
const outlierShare = new Decimal('0.02');
const priceShape = /^\d{1,20}(\.\d{1,18})?$/;

/** Median of what fresh sources agree on, with the evidence of all; null where fewer than the quorum are left. A tick
 *  that is not a positive decimal, older than the limit, from the future or the second of its source is refused, and so
 *  is one that is 2 % off the median. */
export function medianOfTicks(ticks: readonly Tick[], rules: Rules): MedianTick | null {
  const refusals = new Map<Tick, string>();
  const heard = new Set<string>();
  for (const tick of ticks) {
    const ageMs = rules.now.getTime() - tick.takenAt.getTime();
    if (typeof tick.value !== 'string' || !priceShape.test(tick.value) || new Decimal(tick.value).isZero())
      refusals.set(tick, 'not a price');
    else if (!(ageMs <= rules.maxAgeSeconds * 1000)) refusals.set(tick, 'stale');
    else if (ageMs < -60_000) refusals.set(tick, 'from the future');
    else if (heard.has(tick.source)) refusals.set(tick, 'said already');
    else heard.add(tick.source);
  }
  const usable = ticks.filter((tick) => !refusals.has(tick));
  if (usable.length > 0) {
    const middle = new Decimal(median(usable.map((tick) => tick.value)));
    for (const tick of usable) {
      if (new Decimal(subtract(tick.value, middle.toFixed())).abs().greaterThan(middle.times(outlierShare)))
        refusals.set(tick, 'outlier');
    }
  }
  const agreed = ticks.filter((tick) => !refusals.has(tick));
  if (agreed.length < rules.quorum) return null;
  return {
    value: median(agreed.map((tick) => tick.value)),
    takenAt: new Date(Math.min(...agreed.map((tick) => tick.takenAt.getTime()))),
    evidence: ticks.map((tick) => ({
      source: tick.source,
      value: String(tick.value).slice(0, 60),
      takenAt: Number.isNaN(tick.takenAt.getTime()) ? 'invalid' : tick.takenAt.toISOString(),
      ...(refusals.has(tick) ? { refused: refusals.get(tick)! } : {}),
    })),
  };
}

/** Middle value; of an even number the mean of the two in the middle, cut to 18 decimals. */
export function median(values: readonly string[]): string {
  const sorted = values.map((value) => new Decimal(value)).sort((a, b) => a.comparedTo(b));
  const half = Math.floor(sorted.length / 2);
  const upper = sorted[half];
  if (!upper) throw new RangeError('No values');
  if (sorted.length % 2 === 1) return upper.toFixed();
  return divide(upper.plus(sorted[half - 1]!).toFixed(), '2', 18, 'down');
}
