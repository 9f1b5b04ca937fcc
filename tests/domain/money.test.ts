import fc from 'fast-check';
import {
  add,
  compare,
  divide,
  fit,
  fromUnits,
  isAmount,
  isPositive,
  isZero,
  larger,
  negate,
  smaller,
  subtract,
  times,
  toUnits,
} from '../../domain/money';

const places = fc.constantFrom(0, 2, 6, 8, 18);
const units = fc.bigInt(0n, 10n ** 48n);
/** At most 30 integer places, as on the wire. */
const amount = places.chain((decimals) =>
  fc.bigInt(0n, 10n ** BigInt(30 + decimals) - 1n).map((value) => fromUnits(value, decimals)),
);
const positive = amount.filter(isPositive);
const run = <T>(property: fc.IProperty<T>) => fc.assert(property, { numRuns: 1000 });

describe('base units', () => {
  it('come back from whole units digit by digit', () => {
    run(
      fc.property(fc.bigInt(-(10n ** 48n), 10n ** 48n), (value) => {
        for (const decimals of [0, 2, 6, 8, 18]) expect(toUnits(fromUnits(value, decimals), decimals)).toBe(value);
      }),
    );
  });

  it.each([
    [10n ** 30n, 0, `1${'0'.repeat(30)}`],
    [10n ** 30n, 18, '1000000000000'],
    [10n ** 30n + 1n, 18, '1000000000000.000000000000000001'],
    [10n ** 30n - 1n, 8, `${'9'.repeat(22)}.${'9'.repeat(8)}`],
    [10n ** 48n - 1n, 18, `${'9'.repeat(30)}.${'9'.repeat(18)}`],
    [1n, 18, '0.000000000000000001'],
    [0n, 8, '0'],
    [-1n, 8, '-0.00000001'],
  ])('%s at %i decimals are %s', (value, decimals, text) => {
    expect(fromUnits(value, decimals)).toBe(text);
    expect(toUnits(text, decimals)).toBe(value);
  });

  it('refuse to lose a digit', () => {
    expect(() => toUnits('0.000000001', 8)).toThrow(RangeError);
    expect(() => toUnits('1.5', 0)).toThrow(RangeError);
    expect(() => toUnits(`${'9'.repeat(30)}.${'9'.repeat(19)}`, 18)).toThrow(RangeError);
    expect(toUnits('1.50', 1)).toBe(15n);
  });
});

describe('sums', () => {
  it('are those of whole numbers', () => {
    run(
      fc.property(fc.array(units, { maxLength: 8 }), units, units, (many, a, b) => {
        const text = (value: bigint) => fromUnits(value, 18);
        expect(add(...many.map(text))).toBe(text(many.reduce((sum, one) => sum + one, 0n)));
        expect(subtract(text(a), text(b))).toBe(text(a - b));
        expect(compare(text(a), text(b))).toBe(a < b ? -1 : a > b ? 1 : 0);
        expect([smaller(text(a), text(b)), larger(text(a), text(b))]).toEqual(
          a < b ? [text(a), text(b)] : [text(b), text(a)],
        );
      }),
    );
  });

  it('have no trailing zeros, no exponent and no sign on nothing', () => {
    expect(add('1.10', '0.90')).toBe('2');
    expect(add()).toBe('0');
    expect(add('0.000000000000000001')).toBe('0.000000000000000001');
    expect(add('1e-7')).toBe('0.0000001');
    expect(smaller('5.00', '5')).toBe('5');
    expect(subtract('1', '1')).toBe('0');
    run(fc.property(amount, (value) => expect(isAmount(value)).toBe(true)));
  });

  it('undo one another', () => {
    run(
      fc.property(amount, amount, (a, b) => {
        expect(subtract(add(a, b), b)).toBe(a);
        expect(add(a, negate(a))).toBe('0');
        expect(isZero(subtract(a, a))).toBe(true);
        expect(isPositive(a)).toBe(!isZero(a));
      }),
    );
  });
});

describe('rounding', () => {
  it.each([
    ['1.005', 2, '1.01', '1'],
    ['1.000000001', 8, '1.00000001', '1'],
    ['0.9', 0, '1', '0'],
    ['2', 0, '2', '2'],
    ['0', 2, '0', '0'],
  ])('%s to %i places goes up to %s and down to %s', (value, decimals, up, down) => {
    expect(fit(value, decimals, 'up')).toBe(up);
    expect(fit(value, decimals, 'down')).toBe(down);
  });

  it('leaves the exact value between down and up, at most one step apart', () => {
    run(
      fc.property(amount, places, (value, decimals) => {
        const [down, up] = [fit(value, decimals, 'down'), fit(value, decimals, 'up')];
        expect(compare(down, value)).toBeLessThanOrEqual(0);
        expect(compare(up, value)).toBeGreaterThanOrEqual(0);
        const apart = toUnits(up, decimals) - toUnits(down, decimals);
        expect(apart).toBe(compare(down, value) === 0 ? 0n : 1n);
      }),
    );
  });

  it('of products is that of whole numbers', () => {
    run(
      fc.property(fc.bigInt(0n, 10n ** 30n), fc.bigInt(0n, 10n ** 30n), places, (a, b, decimals) => {
        const [x, y] = [fromUnits(a, 18), fromUnits(b, 18)];
        const step = 10n ** BigInt(36 - decimals);
        const down = (a * b) / step;
        expect(times(x, y, decimals, 'down')).toBe(fromUnits(down, decimals));
        expect(times(x, y, decimals, 'up')).toBe(fromUnits((a * b) % step ? down + 1n : down, decimals));
      }),
    );
  });

  it('of quotients is that of whole numbers', () => {
    run(
      fc.property(fc.bigInt(0n, 10n ** 30n), fc.bigInt(1n, 10n ** 30n), places, (a, b, decimals) => {
        const [x, y] = [fromUnits(a, 18), fromUnits(b, 18)];
        const scaled = a * 10n ** BigInt(decimals);
        const down = scaled / b;
        expect(divide(x, y, decimals, 'down')).toBe(fromUnits(down, decimals));
        expect(divide(x, y, decimals, 'up')).toBe(fromUnits(scaled % b ? down + 1n : down, decimals));
      }),
    );
  });

  it('never multiplies back above what was divided when it goes down, nor below when it goes up', () => {
    run(
      fc.property(positive, positive, places, (a, b, decimals) => {
        expect(compare(times(divide(a, b, decimals, 'down'), b, 40, 'down'), a)).toBeLessThanOrEqual(0);
        expect(compare(times(divide(a, b, decimals, 'up'), b, 40, 'up'), a)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('does not divide by nothing', () => {
    for (const zero of ['0', '0.000', '-0']) expect(() => divide('1', zero, 8, 'up')).toThrow('Division by zero');
  });
});

describe('amounts on the wire', () => {
  it.each(['0', '1', '1.5', '0.00000001', '007', `${'9'.repeat(30)}.${'9'.repeat(30)}`])('may be %s', (text) =>
    expect(isAmount(text)).toBe(true),
  );
  it.each([
    '',
    ' 1',
    '1 ',
    '-1',
    '+1',
    '.5',
    '5.',
    '1e3',
    '0x1',
    '1,5',
    'NaN',
    'Infinity',
    '1\n',
    '١',
    '9'.repeat(31),
    1,
    null,
    undefined,
  ])('may not be %p', (text) => expect(isAmount(text)).toBe(false));
});
