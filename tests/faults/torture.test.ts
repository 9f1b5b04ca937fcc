import { planOf, torture } from '../torture/run';

it('draws the same plan from the same seed', () => {
  const of = (seed: number) => JSON.stringify(planOf({ seed, payments: 20, minutes: 1 }));
  expect(of(7)).toBe(of(7));
  expect(of(7)).not.toBe(of(8));
});

it('brings every payment to its right end while everything is killed', async () => {
  const report = await torture({ seed: 20_261, payments: 24, minutes: 1.5, kills: true, say: () => undefined });
  expect(report.problems).toEqual([]);
  expect(Object.keys(report.kills).sort()).toEqual([
    'api-1',
    'chain-1',
    'payments-1',
    'postgres',
    'signer-1',
    'temporal',
  ]);
}, 900_000);
