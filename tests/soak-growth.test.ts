import { floors, growthPerHour, slopeOf } from './soak/growth';

const minute = 60_000;
/** A sample every five seconds for 20 minutes. */
const samples = (valueAt: (n: number) => number) =>
  Array.from({ length: 240 }, (_, n) => ({ atMs: n * 5000, value: valueAt(n) }));
/** As memory looks that is collected every 40 seconds. */
const saw = (n: number): number => 100 + (n % 8) * 10;

describe('whether memory grows', () => {
  it('takes what is left after each collection', () => {
    expect(floors(samples(saw), minute).map(({ value }) => value)).toEqual(Array.from({ length: 20 }, () => 100));
  });

  it('finds no growth in the teeth of a saw, wherever it begins and ends', () => {
    for (const skipped of [0, 3, 7])
      expect(
        Math.abs(
          growthPerHour(
            floors(
              samples((n) => saw(n + skipped)),
              minute,
            ),
          ),
        ),
      ).toBeLessThan(0.01);
  });

  it('finds a leak below the teeth', () => {
    // One in a hundred each minute: 60 % in an hour of what there is in the middle.
    const growth = growthPerHour(
      floors(
        samples((n) => saw(n) + n / 12),
        minute,
      ),
    );
    expect(growth).toBeGreaterThan(0.5);
    expect(growth).toBeLessThan(0.6);
  });

  it('is not led astray by single samples', () => {
    expect(slopeOf(samples((n) => (n % 50 === 49 ? 10_000 : 100)))).toBe(0);
    expect(slopeOf([{ atMs: 0, value: 1 }])).toBe(0);
  });
});
