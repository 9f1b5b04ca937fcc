import fc from 'fast-check';
import { csvOf } from '../../domain/csv';

const write = (...cells: Array<string | null>) =>
  csvOf(Object.fromEntries(cells.map((_, i) => [`c${i}`, (row: typeof cells) => row[i]!])), [cells]).split('\r\n')[1];

it('quotes what would break a line', () => {
  expect(write('a', null, 'b,c', 'say "x"', '')).toBe('a,,"b,c","say ""x""",');
  expect(csvOf({ a: (row: string) => row }, [])).toBe('a\r\n');
});

it.each(['=1+1', '+1', '-cmd', '@SUM(A1)', '\t=1', '\r=1', ' =1', '＝1', '-1+2', '-'])('makes text of %j', (text) => {
  expect(write(text)!.replace(/^"/, '')).toMatch(/^'/);
});

it('leaves numbers numbers, signs included', () => {
  expect(write('-0.01', '12', '0.000000000000000001')).toBe('-0.01,12,0.000000000000000001');
});

it('starts no cell like a formula, whatever is in it', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const [, ...lines] = csvOf({ a: (row: string) => row }, [text]).split('a\r\n');
      const line = lines.join('a\r\n').replace(/\r\n$/, '').replace(/^"/, '');
      expect(/^[=+@\t\r]/.test(line)).toBe(false);
      expect(line.startsWith('-') && !/^-\d+(\.\d+)?$/.test(line)).toBe(false);
    }),
  );
});
