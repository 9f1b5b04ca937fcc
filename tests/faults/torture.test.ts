import { kinds, planOf, victims } from '../torture/plan';
import { torture } from '../torture/run';

const quiet = { kills: true, say: () => undefined };

it('draws the same plan from the same seed', () => {
  const of = (seed: number) => JSON.stringify(planOf({ seed, runs: 40, minutes: 1, only: kinds }));
  expect(of(7)).toBe(of(7));
  expect(of(7)).not.toBe(of(8));
});

it('brings every payment to its right end while everything is killed', async () => {
  const report = await torture({ seed: 20_261, runs: 24, minutes: 1.5, only: ['payments'], ...quiet });
  expect(report.problems).toEqual([]);
  expect(Object.keys(report.kills).sort()).toEqual(victims.toSorted());
}, 900_000);

it('takes money out once, to whom it was meant for, while everything is killed', async () => {
  const only = ['withdrawals', 'batches', 'conversions', 'refunds'] as const;
  const report = await torture({ seed: 20_262, runs: 16, minutes: 1.5, only, ...quiet });
  expect(report.problems).toEqual([]);
  expect(Object.keys(report.kills).sort()).toEqual(victims.toSorted());
}, 900_000);
