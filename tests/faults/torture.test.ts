import { victimsWith } from '../torture/plan';
import { torture } from '../torture/run';

it('brings all money to its right end while everything is killed', async () => {
  // Payments are what most of a service's money goes through: three in seven.
  const only = ['payments', 'withdrawals', 'payments', 'batches', 'payments', 'conversions', 'refunds'] as const;
  const report = await torture({
    seed: 20_261,
    runs: 14,
    minutes: 1.2,
    only,
    networks: [],
    lightning: false,
    kills: true,
    weather: true,
    adversaries: true,
    say: () => undefined,
  });
  expect(report.problems).toEqual([]);
  expect(Object.keys(report.kills).sort()).toEqual(victimsWith([], false).toSorted());
}, 900_000);
