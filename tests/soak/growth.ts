import { median } from '../bench/measure';

/** Whether something grows: robust against the saw teeth of garbage collection and against single slow moments. */

export type Sample = Readonly<{ atMs: number; value: number }>;

/** The least of each window of `windowMs`, at the moment when it was taken: what is left after a collection. */
export function floors(samples: readonly Sample[], windowMs: number): Sample[] {
  const least = new Map<number, Sample>();
  for (const sample of samples) {
    const window = Math.floor(sample.atMs / windowMs);
    const known = least.get(window);
    if (!known || sample.value < known.value) least.set(window, sample);
  }
  return [...least.values()];
}

/** Theil and Sen: the median of the slopes between all pairs, per millisecond; 0 for fewer than two samples. */
export function slopeOf(samples: readonly Sample[]): number {
  const slopes: number[] = [];
  for (const [n, from] of samples.entries())
    for (const to of samples.slice(n + 1))
      if (to.atMs > from.atMs) slopes.push((to.value - from.value) / (to.atMs - from.atMs));
  return slopes.length ? median(slopes) : 0;
}

/** How much of itself it would grow by in an hour: 0.1 is a tenth. */
export function growthPerHour(samples: readonly Sample[]): number {
  const level = median(samples.map(({ value }) => value));
  return level > 0 ? (slopeOf(samples) * 3_600_000) / level : 0;
}
