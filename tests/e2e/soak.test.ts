import { soak } from '../soak/soak';

it('three minutes of everything at once lose nothing, and leave the books right', async () => {
  const findings = await soak({ minutes: 3, load: { perSecond: 4 }, say: () => undefined });
  // Memory and times of so short a run on a machine that others use say nothing; that they were looked at does.
  expect(findings.map(({ what }) => what.split(':')[0])).toContain('memory of payments-1');
}, 900_000);
