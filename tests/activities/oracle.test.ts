import fc from 'fast-check';
import { medianOfTicks, median, type Rules } from '../../activities/pricing/oracle';
import type { Tick } from '../../activities/pricing/source';
import { compare } from '../../domain/money';

const now = new Date('2026-03-01T12:00:00Z');
const ago = (seconds: number): Date => new Date(now.getTime() - seconds * 1000);
const tick = (source: string, value: unknown, takenAt = ago(1)): Tick => ({
  source,
  currency: 'BTC',
  fiat: 'USD',
  value: value as string,
  takenAt,
});
const medianOf = (ticks: Tick[], over: Partial<Rules> = {}) =>
  medianOfTicks(ticks, { quorum: 2, maxAgeSeconds: 60, now, ...over });
const refusals = (ticks: Tick[], over: Partial<Rules> = {}) =>
  Object.fromEntries(medianOf(ticks, over)!.evidence.map(({ source, refused }) => [source, refused]));

describe('median', () => {
  it('is the one in the middle, by value and not by text', () => {
    expect(median(['100'])).toBe('100');
    expect(median(['9', '100', '20'])).toBe('20');
    expect(median(['9.5', '10.25', '1000', '8', '9.75'])).toBe('9.75');
  });

  it('is the mean of the two in the middle, cut to 18 decimals', () => {
    expect(median(['1', '2'])).toBe('1.5');
    expect(median(['0.000000000000000001', '0.000000000000000002'])).toBe('0.000000000000000001');
  });

  it('keeps every digit', () => {
    expect(median(['12345678901234567890.123456789012345678'])).toBe('12345678901234567890.123456789012345678');
    expect(median(['12345678901234567890.1', '12345678901234567890.3'])).toBe('12345678901234567890.2');
  });

  it('needs a value', () => {
    expect(() => median([])).toThrow(RangeError);
  });

  it('lies between the least and the greatest, in any order', () => {
    const price = fc
      .bigInt(1n, 10n ** 24n)
      .map((units) => `${units / 10n ** 6n}.${String(units % 10n ** 6n).padStart(6, '0')}`);
    fc.assert(
      fc.property(fc.array(price, { minLength: 1, maxLength: 7 }), (values) => {
        const sorted = [...values].sort(compare);
        const middle = median(values);
        expect(compare(middle, sorted[0]!)).toBeGreaterThanOrEqual(0);
        expect(compare(middle, sorted.at(-1)!)).toBeLessThanOrEqual(0);
        expect(compare(middle, median([...values].reverse()))).toBe(0);
      }),
    );
  });
});

describe('agreement', () => {
  it('takes the median, the oldest time, and the evidence of all', () => {
    expect(medianOf([tick('a', '60000.5', ago(5)), tick('b', '60010', ago(30)), tick('c', '60020')])).toEqual({
      value: '60010',
      takenAt: ago(30),
      evidence: [
        { source: 'a', value: '60000.5', takenAt: ago(5).toISOString() },
        { source: 'b', value: '60010', takenAt: ago(30).toISOString() },
        { source: 'c', value: '60020', takenAt: ago(1).toISOString() },
      ],
    });
  });

  it('stays a string with all its digits', () => {
    const value = '98765432109876543210.123456789012345678';
    expect(medianOf([tick('a', value.slice(1)), tick('b', value.slice(1))])!.value).toBe(value.slice(1));
    expect(typeof medianOf([tick('a', '1'), tick('b', '2', ago(61)), tick('c', '1.0')])!.value).toBe('string');
  });

  it('needs its quorum', () => {
    expect(medianOf([])).toBeNull();
    expect(medianOf([tick('a', '100')])).toBeNull();
    expect(medianOf([tick('a', '100')], { quorum: 1 })!.value).toBe('100');
    expect(medianOf([tick('a', '100'), tick('b', '101')], { quorum: 3 })).toBeNull();
  });

  it('hears a source once, so that one alone is no quorum', () => {
    expect(medianOf([tick('a', '100'), tick('a', '100')])).toBeNull();
    expect(refusals([tick('a', '100'), tick('a', '101'), tick('b', '100')])).toEqual({
      a: 'said already',
      b: undefined,
    });
    expect(medianOf([tick('a', '100', ago(90)), tick('a', '100'), tick('b', '100')])!.value).toBe('100');
  });

  it('has none where two say something else', () => {
    expect(medianOf([tick('a', '100'), tick('b', '200')])).toBeNull();
    expect(medianOf([tick('a', '100'), tick('b', '150'), tick('c', '200')])).toBeNull();
  });
});

describe('refusals', () => {
  it('leaves a price out that is ten times off', () => {
    for (const wrong of ['600000', '6000']) {
      const ticks = [tick('a', '60000'), tick('b', wrong), tick('c', '60100')];
      expect(medianOf(ticks)!.value).toBe('60050');
      expect(refusals(ticks)).toEqual({ a: undefined, b: 'outlier', c: undefined });
      expect(medianOf(ticks, { quorum: 3 })).toBeNull();
    }
  });

  it('takes 2 % off the median, and nothing beyond', () => {
    const around = (value: string) => refusals([tick('a', '100'), tick('b', '100'), tick('c', value)]).c;
    expect([around('102'), around('98')]).toEqual([undefined, undefined]);
    expect([around('102.000000000000000001'), around('97.999999999999999999')]).toEqual(['outlier', 'outlier']);
  });

  it('leaves a stale price out, however good', () => {
    const ticks = [tick('a', '100', ago(60)), tick('b', '100', ago(61)), tick('c', '100.5')];
    expect(refusals(ticks)).toEqual({ a: undefined, b: 'stale', c: undefined });
    expect(medianOf(ticks)!.takenAt).toEqual(ago(60));
    expect(medianOf([tick('a', '100', ago(3600)), tick('b', '100', ago(3600))])).toBeNull();
  });

  it('does not let a stale price move the median', () => {
    const ticks = [tick('a', '200', ago(90)), tick('b', '200', ago(90)), tick('c', '100'), tick('d', '101')];
    expect(medianOf(ticks)!.value).toBe('100.5');
  });

  it('leaves a price from the future out, but not a clock that is a little fast', () => {
    const ticks = [tick('a', '100', ago(-59)), tick('b', '100', ago(-61)), tick('c', '100')];
    expect(refusals(ticks)).toEqual({ a: undefined, b: 'from the future', c: undefined });
  });

  it('leaves out what is no price', () => {
    const garbage: unknown[] = [
      '',
      '0',
      '0.000',
      '-1',
      '+1',
      '1e3',
      '1E3',
      '0x10',
      ' 100',
      '100\n',
      '1,000',
      '.5',
      '5.',
      'NaN',
      'Infinity',
    ];
    garbage.push('1'.repeat(21), `0.${'1'.repeat(19)}`, 100, 100n, null, undefined, {}, [], ['100'], true, NaN);
    for (const wrong of garbage) {
      const ticks = [tick('a', '100'), tick('b', wrong), tick('c', '100')];
      expect([wrong, refusals(ticks).b]).toEqual([wrong, 'not a price']);
      expect(medianOf(ticks)!.value).toBe('100');
    }
  });

  it('leaves out a time that is none', () => {
    const ticks = [tick('a', '100'), tick('b', '100', new Date(NaN)), tick('c', '100')];
    expect(refusals(ticks).b).toBe('stale');
    expect(medianOf(ticks)!.evidence[1]).toMatchObject({ takenAt: 'invalid' });
  });

  it('keeps a long answer short in the evidence', () => {
    const ticks = [tick('a', '100'), tick('b', 'x'.repeat(5000)), tick('c', '100')];
    expect(medianOf(ticks)!.evidence[1]!.value).toHaveLength(60);
  });

  it('never answers with what one liar says, while the honest have the quorum', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 ** 9 }),
        fc.oneof(fc.string(), fc.nat(10 ** 12).map(String)),
        (cents, lie) => {
          const honest = (cents / 100).toFixed(2);
          const agreed = medianOf([tick('liar', lie), tick('a', honest), tick('b', honest), tick('c', honest)], {
            quorum: 3,
          });
          expect(compare(agreed!.value, honest)).toBe(0);
        },
      ),
    );
  });
});
