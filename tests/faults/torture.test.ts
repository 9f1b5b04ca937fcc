import { kinds, planOf, victims } from '../torture/plan';
import { torture } from '../torture/run';

it('draws the same plan from the same seed', () => {
  const of = (seed: number) => JSON.stringify(planOf({ seed, runs: 40, minutes: 1, only: kinds }));
  expect(of(7)).toBe(of(7));
  expect(of(7)).not.toBe(of(8));
});

it('brings all money to its right end while everything is killed', async () => {
  // Payments are what most of a service's money goes through: three in seven.
  const only = ['payments', 'withdrawals', 'payments', 'batches', 'payments', 'conversions', 'refunds'] as const;
  const report = await torture({
    seed: 20_261,
    runs: 14,
    minutes: 1.2,
    only,
    kills: true,
    weather: true,
    adversaries: true,
    say: () => undefined,
  });
  expect(report.problems).toEqual([]);
  expect(Object.keys(report.kills).sort()).toEqual(victims.toSorted());
}, 900_000);
