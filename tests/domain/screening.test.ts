import fc from 'fast-check';
import { bandOf, categoryOf, conclude, isSevere, riskBands, type Finding } from '../../domain/screening/screening';

const answered = (score: number, ...categories: string[]): Finding => ({ outcome: 'answered', score, categories });
const away: Finding = { outcome: 'unavailable', reason: 'away' };

it.each([
  [0, 'low'],
  [24, 'low'],
  [25, 'medium'],
  [49, 'medium'],
  [50, 'high'],
  [74, 'high'],
  [75, 'severe'],
  [100, 'severe'],
])('a score of %i is %s', (score, band) => {
  expect(bandOf(score)).toBe(band);
});

it('has one spelling of a category', () => {
  for (const text of ['Child abuse material', 'child-abuse-material', ' CHILD_ABUSE__MATERIAL '])
    expect(categoryOf(text)).toBe('child_abuse_material');
  expect(categoryOf(' – ')).toBe('');
});

describe('all findings as one', () => {
  it('are clear where nobody knows anything', () => {
    expect(conclude([answered(0), answered(0)])).toEqual({
      status: 'clear',
      riskScore: 0,
      riskBand: 'low',
      categories: [],
    });
  });

  it('are as bad as the worst, with every category that matched', () => {
    expect(conclude([answered(30, 'mixer'), answered(0, 'exchange'), answered(60, 'scam', 'mixer')])).toEqual({
      status: 'flagged',
      riskScore: 60,
      riskBand: 'high',
      severity: 'high',
      categories: ['mixer', 'scam'],
    });
  });

  it('are severe by category, whatever the score', () => {
    const verdict = conclude([answered(10, 'sanctions')]);
    expect(verdict).toMatchObject({ riskScore: 10, riskBand: 'low', severity: 'severe' });
    expect(isSevere(verdict)).toBe(true);
    expect(isSevere(conclude([answered(74, 'scam')]))).toBe(false);
    expect(isSevere(conclude([answered(75, 'scam')]))).toBe(true);
  });

  it('are not clear while one is missing, and flagged all the same', () => {
    expect(conclude([answered(0), away])).toEqual({ status: 'unavailable', reason: 'away' });
    expect(conclude([away, answered(100, 'sanctions')])).toMatchObject({
      status: 'flagged',
      severity: 'severe',
      reason: 'Not every source could be screened: away',
    });
  });

  it('never get better by a further finding', () => {
    const finding = fc.oneof(
      fc.constant(away),
      fc
        .tuple(fc.integer({ min: 0, max: 100 }), fc.subarray(['mixer', 'scam', 'sanctions']))
        .map(([score, categories]) => answered(score, ...categories)),
    );
    const rank = (verdict: ReturnType<typeof conclude>): number =>
      ({ clear: 0, unavailable: 1, flagged: 2, skipped: NaN })[verdict.status];
    fc.assert(
      fc.property(fc.array(finding, { minLength: 1 }), finding, (some, more) => {
        const [before, after] = [conclude(some), conclude([...some, more])];
        expect(rank(after)).toBeGreaterThanOrEqual(rank(before));
        expect(after.riskScore ?? 101).toBeGreaterThanOrEqual(before.riskScore ?? 0);
        if (before.severity)
          expect(riskBands.indexOf(after.severity!)).toBeGreaterThanOrEqual(riskBands.indexOf(before.severity));
      }),
    );
  });
});
