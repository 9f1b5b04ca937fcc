import { settingBounds } from '../../domain/access/setting-bounds';
import { changedLimits, isCount, typedOf } from '../../web/dashboard/money/typed-limits';
import { isMinutes, minutesOf, secondsOf } from '../../web/dashboard/settings/minutes';

/** What forms of the dashboard make of values of the API, and back. */

describe('limits', () => {
  const shown = { dailyUsd: '5000', hourlyCount: 20, approvalUsd: null };

  it('are sent where they were changed, and nowhere else', () => {
    const typed = typedOf(shown);
    expect(changedLimits(typed, shown)).toEqual({});
    expect(changedLimits({ ...typed, hourlyCount: ' 30 ' }, shown)).toEqual({ hourlyCount: 30 });
    expect(changedLimits({ ...typed, dailyUsd: '' }, shown)).toEqual({ dailyUsd: null });
    expect(changedLimits({ ...typed, hourlyCount: '', approvalUsd: '99.5' }, shown)).toEqual({
      hourlyCount: null,
      approvalUsd: '99.5',
    });
  });

  it.each([
    ['', true],
    ['007', true],
    ['1000000', true],
    ['1000001', false],
    ['-1', false],
    ['1.5', false],
  ])('count %p: %p', (text, isOne) => expect(isCount(text)).toBe(isOne));
});

describe('minutes to pay', () => {
  it('bring every second that the API takes back as it was', () => {
    const { least, most } = settingBounds.defaultExpiresIn;
    for (let seconds = least; seconds <= most; seconds += 7) {
      const typed = minutesOf(seconds);
      expect([seconds, isMinutes(typed), secondsOf(typed)]).toEqual([seconds, true, seconds]);
    }
    expect([minutesOf(null), secondsOf(' '), isMinutes('')]).toEqual(['', null, true]);
  });

  it.each(['0.5', '99999', '1,5', '1.23456', 'x', '1e2', '-3', '2 minutes'])('refuse %p', (typed) =>
    expect(isMinutes(typed)).toBe(false),
  );
});
