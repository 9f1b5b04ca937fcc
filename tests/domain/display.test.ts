import { shown } from '../../domain/payments/shown';
import { fiatPrice } from '../../domain/pricing/quote';
import { momentOf } from '../../api/http/dates';
import { compare } from '../../domain/money';

/** E: figures that are shown as JSON numbers, and what is read from a request. */

const asText = (value: number): string => {
  const [digits, exponent] = value.toString().split('e');
  if (exponent === undefined) return digits!;
  const [whole, part = ''] = digits!.split('.');
  return `0.${'0'.repeat(-Number(exponent) - 1)}${whole}${part}`;
};

describe('E: display numbers round in the direction that the contract names', () => {
  const amounts = [
    '0.020021962961562295',
    '0.020123456789012345',
    '10.000000000000000001',
    '123456789.123456789012345678',
    '0.000000000000000001',
    '99999999.99999999',
    '0.1',
    '0',
    '1',
  ];
  it.each(amounts)('%s: down is never above it, up never below, and both are as near as a double can be', (amount) => {
    const [down, up] = [shown(amount, 'down'), shown(amount, 'up')];
    expect(compare(asText(down), amount)).toBeLessThanOrEqual(0);
    expect(compare(asText(up), amount)).toBeGreaterThanOrEqual(0);
    expect([down, up]).toContain(shown(amount, 'nearest'));
    expect(up - down).toBeLessThanOrEqual(Math.max(Math.abs(up) * 2 ** -52, Number.MIN_VALUE));
  });

  it('holds for ten thousand amounts, negative ones too', () => {
    let seed = 7;
    const digits = (length: number): string =>
      Array.from({ length }, () => (seed = (seed * 48271) % 2147483647) % 10).join('');
    for (let n = 0; n < 10_000; n += 1) {
      const amount = `${digits(1 + (n % 8)).replace(/^0+(?=.)/, '')}.${digits(18)}`;
      expect(compare(asText(shown(amount, 'down')), amount)).toBeLessThanOrEqual(0);
      expect(compare(asText(shown(amount, 'up')), amount)).toBeGreaterThanOrEqual(0);
      expect(shown(`-${amount}`, 'down')).toBe(-shown(amount, 'up'));
    }
  });
});

describe('E: a fiat price', () => {
  it.each([
    ['50', 'USD', '50'],
    ['50.1', 'USD', '50.1'],
    ['0.30000000000000004', 'USD', '0.3'], // 0.1 + 0.2
    ['19.990000000000002', 'USD', '19.99'],
    ['50.00999', 'USD', '50.01'],
    ['151', 'JPY', '151'],
    ['150.9999999999', 'JPY', '151'],
  ])('of %s %s is %s: what a double adds is not the price', (amount, fiat, price) => {
    expect(compare(fiatPrice(amount, fiat), price)).toBe(0);
  });

  it.each([
    ['0.001', 'USD'],
    ['50.123456789', 'USD'],
    ['50.005', 'USD'],
    ['50.0099', 'USD'],
    ['1.5', 'JPY'],
    ['0.000001', 'USD'],
  ])('of %s %s is refused by name', (amount, fiat) => {
    expect(() => fiatPrice(amount, fiat)).toThrow('amount');
  });
});

describe('E: dates that no calendar has', () => {
  it.each(['2026-02-30', '2026-02-29', '2026-04-31T10:00:00Z', '2026-06-31T00:00:00+02:00', '2026-01-05T24:00:01Z'])(
    'are refused: %s',
    (text) => expect(() => momentOf(text, 'dateFrom')).toThrow('dateFrom'),
  );
  it.each([
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['2026-03-01T00:30:00+02:00', '2026-02-28T22:30:00.000Z'],
    ['2026-12-31T23:59:59.999Z', '2026-12-31T23:59:59.999Z'],
  ])('and others are taken: %s', (text, iso) => expect(momentOf(text, 'dateFrom')?.toISOString()).toBe(iso));
});
